import type { Compilable, Insertable, Kysely, Selectable } from "kysely";
import * as v from "valibot";
import type {
  CallAnalysis,
  CallMetrics,
  CallRecord,
  JsonObject,
  TranscriptMessage,
} from "../records.js";
import { jsonObject, readJson, writeJson } from "../statements/json-column.js";
import type { Tables } from "../tables.js";

/** SQLite accepts 32,766 values per statement; a message has four. */
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
    ...(call.analysis === null ? {} : analysisColumns(call.analysis)),
    metadata: writeJson(withoutTurns(call.metadata)),
    lastSavedAtMs: call.startedAtMs,
    createdAtMs: call.createdAtMs,
    beganUptimeMs,
    direction: textIn(call.metadata, "direction"),
    fromNumber: textIn(call.metadata, "from"),
    toNumber: textIn(call.metadata, "to"),
  };
}

/** Fields that lists search for have columns, too. */
function textIn(metadata: JsonObject, name: string): string | null {
  const value = metadata[name];
  return typeof value === "string" ? value : null;
}

const callAnalysis = v.object({
  status: v.picklist(["completed", "failed"]),
  data: v.nullable(jsonObject),
  success: v.nullable(v.boolean()),
  reason: v.nullable(v.string()),
  error: v.nullable(v.picklist(["llmFailed", "invalidAnswer", "noLlm", "analysisRemoved"])),
  model: v.nullable(v.string()),
  promptTokens: v.number(),
  completionTokens: v.number(),
  durationMs: v.number(),
  analyzedAtMs: v.number(),
});

/** The maximum number of fields and characters of an analysis that lists can search. */
const LISTED_FIELDS_MAX = 64;
const LISTED_VALUE_CHARACTERS_MAX = 200;

/** The columns of an analysis. */
export function analysisColumns(analysis: CallAnalysis) {
  const { status, success, data } = analysis;
  const plain = Object.entries(data ?? {}).flatMap(([name, value]) => {
    const isPlain = ["string", "number", "boolean"].includes(typeof value);
    return isPlain ? [analysisFieldLine(name, String(value))] : [];
  });
  return {
    analysis: writeJson(analysis),
    analysisStatus: status,
    analysisSuccess: success === null ? null : Number(success),
    analysisFields: `\n${plain.slice(0, LISTED_FIELDS_MAX).join("\n")}\n`,
  };
}

/** JSON contains no line break, so no line can match inside the text of another. */
export function analysisFieldLine(name: string, value: string): string {
  return JSON.stringify([name, value.slice(0, LISTED_VALUE_CHARACTERS_MAX)]);
}

/** Returns the call without transcript and turns, which are in other tables. */
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
    analysis: row.analysis === null ? null : readJson("calls.analysis", callAnalysis, row.analysis),
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
