import { useCallback, useMemo, useRef, useState } from "react";
import { Link, useSearchParams } from "wouter";
import type { Answered } from "../model/contract-paths.js";
import { useAgents, useCall } from "../model/queries.js";
import { percentile, recordsOf, type SaidTurn, saidTurns } from "../model/turns.js";
import { agentNameOf } from "../parts/call-rows.js";
import { EndCall } from "../parts/end-call.js";
import { type Figure, Figures } from "../parts/figures.js";
import { LiveWords } from "../parts/live-words.js";
import { Moment } from "../parts/moment.js";
import { PageHead } from "../parts/page-head.js";
import { Recording, type Seek } from "../parts/recording.js";
import { Loaded, Outline } from "../parts/states.js";
import { Transcript } from "../parts/transcript.js";
import { endingWords, otherEndWords } from "../words/call-words.js";
import { lengthWords, waitWords } from "../words/durations.js";

type Call = Answered<"getCall">;

export function CallPage({ id }: { id: string }) {
  const call = useCall(id);
  return (
    <Loaded
      query={call}
      outline={<Outline lines={5} height={72} />}
      head={<PageHead title="Call" />}
      elsewhere={
        <Link className="button" href="/calls">
          All calls
        </Link>
      }
    >
      {(data) => <WholeCall call={data} />}
    </Loaded>
  );
}

function WholeCall({ call }: { call: Call }) {
  const agents = useAgents();
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
  const agentName = agentNameOf(call.agentId, agents.data ?? []);
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
      {call.status === "active" ? null : (
        <Recording
          callId={call._id}
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
      <LiveWords
        callId={call._id}
        isActive={call.status === "active"}
        hasTurns={turns.length > 0}
      />
      <Raw call={call} />
    </>
  );
}

function CallFigures({ call, turns }: { call: Call; turns: readonly SaidTurn[] }) {
  const waits = turns.flatMap(({ wait }) => (wait === undefined ? [] : [wait.totalMs]));
  const p50Ms = percentile(waits, 0.5);
  const p95Ms = percentile(waits, 0.95);
  const figures: readonly Figure[] = [
    ["Ended how", endingWords(call)],
    ["Length", call.durationSec === undefined ? "in progress" : lengthWords(call.durationSec)],
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
        <p className="note fault">This call failed: {endingWords(call)}.</p>
      ) : null}
      {deafMs > 0 ? (
        <p className="note warn">
          For {waitWords(deafMs)} of this call the recognizer understood nothing.
        </p>
      ) : null}
    </>
  );
}

function Raw({ call }: { call: Call }) {
  return (
    <details id="raw" className="card">
      <summary>Raw JSON, as the API has it</summary>
      <pre tabIndex={0}>{JSON.stringify(call, null, 2)}</pre>
    </details>
  );
}
