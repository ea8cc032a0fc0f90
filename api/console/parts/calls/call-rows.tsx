import { memo } from "react";
import { Link } from "wouter";
import type { Answered } from "../../model/contract-paths.js";
import { callerWords, directionWords, endingWords } from "../../words/call-words.js";
import { lengthWords, waitWords } from "../../words/durations.js";
import { Moment } from "../moment.js";

export type ListedCall = Answered<"listCalls">["items"][number];
export type ListedAgent = Pick<Answered<"getAgent">, "_id" | "name">;

type EndingOf = (call: ListedCall) => string;

interface CallRowProps {
  readonly call: ListedCall;
  readonly agentName: string;
  readonly endingOf?: EndingOf | undefined;
  /** How far down the row stands in a long list. */
  readonly offsetPx?: number;
}

/** Made anew only when its call changes: a list that is scrolled passes the same rows again and again. */
export const CallRow = memo(function CallRow(props: CallRowProps) {
  const { call, agentName, endingOf = endingWords, offsetPx } = props;
  const { metrics, status, durationSec } = call;
  const place = offsetPx === undefined ? {} : { transform: `translateY(${offsetPx}px)` };
  return (
    <Link className="call" href={`/calls/${call._id}`} style={place} data-row>
      <span className="when">
        <Moment at={call.startedAt} />
      </span>
      <span className="agent">{agentName}</span>
      <span className="caller" title={directionWords(call)}>
        {call.metadata?.["direction"] === "outbound" ? "→ " : ""}
        {callerWords(call)}
      </span>
      <span className="number length">
        {durationSec === undefined ? "" : lengthWords(durationSec)}
      </span>
      <span className="number turns">{metrics.turnCount}</span>
      <span className="number wait" title="The mean wait for a reply">
        {metrics.avgLatencyMs === 0 ? "" : waitWords(metrics.avgLatencyMs)}
      </span>
      <span className="ending">
        <span className={`state ${STATES[status]}`}>{endingOf(call)}</span>
      </span>
    </Link>
  );
});

const STATES = { active: "live", completed: "", failed: "fault" } as const;

export function CallHead() {
  return (
    <div className="head" aria-hidden>
      <span>When</span>
      <span>Agent</span>
      <span>Caller</span>
      <span className="number">Length</span>
      <span className="number">Turns</span>
      <span className="number" title="The mean wait for a reply. A call’s page has p50 and p95.">
        Mean latency
      </span>
      <span>Outcome</span>
    </div>
  );
}

interface CallRowsProps {
  readonly calls: readonly ListedCall[];
  /** Undefined where they are not known, or not yet. */
  readonly agents: readonly ListedAgent[] | undefined;
  /** What stands in the last column, in place of how the call ended. */
  readonly endingOf?: EndingOf;
}

/** A few calls; long lists are for the page of calls. */
export function CallRows({ calls, agents, endingOf }: CallRowsProps) {
  return (
    <div className="calls">
      <CallHead />
      {calls.map((call) => (
        <CallRow
          key={call._id}
          call={call}
          endingOf={endingOf}
          agentName={agentNameOf(call.agentId, agents)}
        />
      ))}
    </div>
  );
}

/** `agents` are undefined where they are not known, or not yet. */
export function agentNameOf(id: string, agents: readonly ListedAgent[] | undefined): string {
  if (agents === undefined) return "an agent";
  return agents.find(({ _id }) => _id === id)?.name ?? "an agent that was deleted";
}
