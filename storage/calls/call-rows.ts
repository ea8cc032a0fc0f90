import type { Compilable, Insertable, Kysely, Selectable } from "kysely";
import type { CallMetrics, CallRecord, JsonObject, TranscriptMessage } from "../records.js";
import { jsonObject, readJson, writeJson } from "../statements/json-column.js";
import type { Tables } from "../tables.js";

/** SQLite takes 32,766 values a statement; a message has four. */
const MESSAGES_PER_STATEMENT = 5000;

export function rowOf(
  call: CallRecord,
  runId: string,
  beganUptimeMs: number | null,
): Insertable<Tables["calls"]> {
  return {
    id: call.id,
    orgId: call.orgId,
    agentId: call.agentId,
    sessionId: call.sessionId,
    runId,
    channel: call.channel,
    status: call.status,
    startedAtMs: call.startedAtMs,
    endedAtMs: call.endedAtMs,
    durationSec: call.durationSec,
    ...metricsOf(call.metrics),
    summary: call.summary,
    sentiment: call.sentiment,
    metadata: writeJson(withoutTurns(call.metadata)),
    lastSavedAtMs: call.startedAtMs,
    createdAtMs: call.createdAtMs,
    beganUptimeMs,
    direction: textIn(call.metadata, "direction"),
    fromNumber: textIn(call.metadata, "from"),
    toNumber: textIn(call.metadata, "to"),
  };
}

/** What the lists look for stands in columns, too. */
function textIn(metadata: JsonObject, name: string): string | null {
  const value = metadata[name];
  return typeof value === "string" ? value : null;
}

/** Without transcript and turns, which stand in tables of their own. */
export function recordOf(row: Selectable<Tables["calls"]>): CallRecord {
  return {
    id: row.id,
    orgId: row.orgId,
    agentId: row.agentId,
    sessionId: row.sessionId,
    channel: row.channel,
    status: row.status,
    startedAtMs: row.startedAtMs,
    endedAtMs: row.endedAtMs,
    durationSec: row.durationSec,
    metrics: metricsOf(row),
    summary: row.summary,
    sentiment: row.sentiment,
    transcript: [],
    metadata: readJson("calls.metadata", jsonObject, row.metadata),
    createdAtMs: row.createdAtMs,
  };
}

export function metricsOf(source: CallMetrics): CallMetrics {
  return {
    ttfbMs: source.ttfbMs,
    avgLatencyMs: source.avgLatencyMs,
    totalTokens: source.totalTokens,
    ttsChars: source.ttsChars,
    interruptions: source.interruptions,
    turnCount: source.turnCount,
  };
}

export function withoutTurns(metadata: JsonObject): JsonObject {
  const { turns: _turns, ...rest } = metadata;
  return rest;
}

export function appendMessages(
  db: Kysely<Tables>,
  callId: string,
  messages: readonly TranscriptMessage[],
): Compilable[] {
  const statements: Compilable[] = [];
  for (let start = 0; start < messages.length; start += MESSAGES_PER_STATEMENT) {
    const rows = messages.slice(start, start + MESSAGES_PER_STATEMENT).map((message) => ({
      callId,
      role: message.role,
      text: message.text,
      timestamp: message.timestamp,
    }));
    statements.push(db.insertInto("transcriptMessages").values(rows));
  }
  return statements;
}

export function appendTurn(
  db: Kysely<Tables>,
  callId: string,
  turn: JsonObject | undefined,
): Compilable[] {
  if (turn === undefined) return [];
  return [db.insertInto("callTurns").values({ callId, turn: writeJson(turn) })];
}
