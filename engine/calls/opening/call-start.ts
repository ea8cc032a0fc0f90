import type { CallChannel, CallRecord, HistoryMessage } from "../../../storage/records.js";
import { NO_METRICS } from "../../conversation/effects.js";
import type { CallInfo } from "../../telephony/call-info.js";

export interface CallStart {
  readonly callId: string;
  readonly orgId: string;
  readonly agentId: string;
  readonly sessionId: string;
  /** Stands in where another call has begun as that session; left out, this one is refused then. */
  readonly spareSessionId?: string | undefined;
  readonly historyKey: string;
  /** What was kept under it when the call began. */
  readonly earlier?: readonly HistoryMessage[];
  readonly channel: CallChannel;
  /** Who calls whom, of a telephone call; left out where that is not known. */
  readonly callInfo?: CallInfo | undefined;
  /** The key that the call came with; left out where it came without one. */
  readonly apiKeyId?: string | undefined;
}

/** The record of a call that has only begun. */
export function newCall(start: CallStart, atMs: number): CallRecord {
  const { callId, orgId, agentId, sessionId, channel, apiKeyId, callInfo } = start;
  return {
    id: callId,
    orgId,
    agentId,
    sessionId,
    channel,
    status: "active",
    startedAtMs: atMs,
    endedAtMs: null,
    durationSec: null,
    metrics: NO_METRICS,
    summary: null,
    sentiment: null,
    transcript: [],
    metadata: {
      ...(channel === "web" ? { direction: "web" } : callInfo),
      ...(apiKeyId !== undefined && { apiKeyId }),
    },
    createdAtMs: atMs,
  };
}
