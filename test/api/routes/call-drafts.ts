import type { CallRecord } from "../../../storage/records.js";

/** A call in progress with only the fields that a test needs. */
export function callRecord(
  parts: Pick<CallRecord, "id" | "orgId" | "agentId" | "startedAtMs">,
): CallRecord {
  return {
    ...parts,
    sessionId: parts.id,
    channel: "web",
    status: "active",
    endedAtMs: null,
    durationSec: null,
    metrics: {
      ttfbMs: 0,
      avgLatencyMs: 0,
      totalTokens: 0,
      ttsChars: 0,
      interruptions: 0,
      turnCount: 0,
    },
    summary: null,
    sentiment: null,
    analysis: null,
    transcript: [],
    metadata: {},
    createdAtMs: parts.startedAtMs,
  };
}
