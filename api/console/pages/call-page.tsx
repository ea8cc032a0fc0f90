import { useCallback, useMemo, useRef, useState } from "react";
import { Link, useSearchParams } from "wouter";
import type { Answered } from "../model/contract-paths.js";
import { isKnown } from "../model/known.js";
import { useAgents, useCall } from "../model/queries.js";
import { percentile, recordsOf, type SaidTurn, saidTurns } from "../model/turns.js";
import { agentNameOf, type ListedAgent } from "../parts/calls/call-rows.js";
import { EndCall } from "../parts/calls/end-call.js";
import { LiveWords } from "../parts/calls/live-words.js";
import { Recording, type Seek } from "../parts/calls/recording.js";
import { Transcript } from "../parts/calls/transcript.js";
import { type Figure, Figures } from "../parts/figures.js";
import { Moment } from "../parts/moment.js";
import { PageHead } from "../parts/page-head.js";
import { Loaded, Outline } from "../parts/states.js";
import { answersOf } from "../words/answer-words.js";
import { endingWords, numberFacts, otherEndWords } from "../words/call-words.js";
import { lengthWords, waitWords } from "../words/durations.js";

type Call = Answered<"getCall">;

export function CallPage({ id }: { id: string }) {
  const [isTold, setTold] = useState(false);
  const call = useCall(id, isTold);
  const agents = useAgents();
  // A head that is named for the agent later pushes away what stands below it.
  const data = isKnown(agents) ? call.data : undefined;
  return (
    <Loaded
      query={{ data, error: call.error, refetch: call.refetch }}
      outline={<Outline lines={5} height={72} />}
      head={<PageHead title="Call" />}
      elsewhere={
        <Link className="button" href="/calls">
          All calls
        </Link>
      }
    >
      {(whole) => <WholeCall call={whole} agents={agents.data} onTold={setTold} />}
    </Loaded>
  );
}

interface WholeCallProps {
  readonly call: Call;
  /** Undefined where they cannot be known. */
  readonly agents: readonly ListedAgent[] | undefined;
  /** Whether the server tells what happens in the call. */
  readonly onTold: (isTold: boolean) => void;
}

function WholeCall({ call, agents, onTold }: WholeCallProps) {
  const [search, setSearch] = useSearchParams();
  const [nowSec, setNowSec] = useState<number>();
  const seek = useRef<Seek>(undefined);
  const startedAtMs = Date.parse(call.startedAt);
  const turns = useMemo(
    () => saidTurns(call.transcript, recordsOf(call.metadata), startedAtMs),
    [call, startedAtMs],
  );
  const askedSec = Number(search.get("t") ?? Number.NaN);
  const goTo = useCallback(
    (atSec: number) => {
      setSearch({ t: atSec.toFixed(1) }, { replace: true });
      setNowSec(atSec);
      seek.current?.(atSec);
    },
    [setSearch],
  );
  const agentName = agentNameOf(call.agentId, agents);
  return (
    <>
      <PageHead
        title={`${agentName} with ${otherEndWords(call)}`}
        about={<Moment at={call.startedAt} />}
      >
        {call.status === "active" ? <EndCall callId={call._id} /> : null}
        <a className="button" href="#raw">
          Raw JSON
        </a>
      </PageHead>
      <CallFigures call={call} turns={turns} />
      <EndingNote call={call} />
      <div className="in-step">
        {call.status === "active" ? null : (
          <Recording
            callId={call._id}
            isKept={call.metadata?.["recording"] !== undefined}
            turns={turns}
            seek={seek}
            beginSec={Number.isFinite(askedSec) ? askedSec : 0}
            onTime={setNowSec}
          />
        )}
        {call.status === "active" && turns.length === 0 ? null : (
          <Transcript
            turns={turns}
            nowSec={nowSec ?? (Number.isFinite(askedSec) ? askedSec : undefined)}
            onMoment={goTo}
          />
        )}
      </div>
      <LiveWords callId={call._id} isActive={call.status === "active"} onTold={onTold} />
      <Raw call={call} />
    </>
  );
}

function CallFigures({ call, turns }: { call: Call; turns: readonly SaidTurn[] }) {
  const waits = turns.flatMap(({ wait }) => (wait === undefined ? [] : [wait.totalMs]));
  const p50Ms = percentile(waits, 0.5);
  const p95Ms = percentile(waits, 0.95);
  const figures: readonly Figure[] = [
    [call.status === "active" ? "State" : "Ended how", endingWords(call)],
    ...numberFacts(call),
    ["Length", call.durationSec === undefined ? "–" : lengthWords(call.durationSec)],
    ["Waited, half of the replies", p50Ms === undefined ? "–" : waitWords(p50Ms)],
    ["95 % within", p95Ms === undefined ? "–" : waitWords(p95Ms)],
    ["Turns", String(call.metrics.turnCount)],
    ["Interruptions", String(call.metrics.interruptions)],
    ["Tokens", call.metrics.totalTokens.toLocaleString()],
    ...(call.sentiment === undefined ? [] : [["Mood", call.sentiment] as const]),
  ];
  return (
    <div className="card stack">
      <Figures figures={figures} />
      {call.summary === undefined ? null : <p>{call.summary}</p>}
    </div>
  );
}

/** Why a call failed, and how long nothing was understood of it. */
function EndingNote({ call }: { call: Call }) {
  const deafMs = Number(call.metadata?.["deafMs"] ?? 0);
  return (
    <>
      {call.status === "failed" ? (
        <div className="note fault">
          <p>This call failed: {endingWords(call)}.</p>
          {failedAnswers(call).map((text) => (
            <p key={text}>In its last turn {text}.</p>
          ))}
        </div>
      ) : null}
      {deafMs > 0 ? (
        <p className="note warn">
          For {waitWords(deafMs)} of this call the recognizer understood nothing.
        </p>
      ) : null}
    </>
  );
}

/** Who was asked in vain in the last turn, which a call that failed may not have got through. */
function failedAnswers({ metadata }: Call): readonly string[] {
  const answers = answersOf(recordsOf(metadata).at(-1));
  return answers.flatMap(({ text, isStandIn }) => (isStandIn ? [text] : []));
}

function Raw({ call }: { call: Call }) {
  return (
    <details id="raw" className="card">
      <summary>Raw JSON, as the API has it</summary>
      <pre tabIndex={0}>{JSON.stringify(call, null, 2)}</pre>
    </details>
  );
}
