import { type Kysely, sql } from "kysely";
import { closeAbandonedCalls } from "./abandoned-calls.js";
import type { AtomicRequests } from "./atomic-requests.js";
import {
  type CallFilter,
  type CallPage,
  type CallStats,
  callCount,
  callPage,
  callStats,
} from "./call-queries.js";
import {
  appendMessages,
  appendTurn,
  metricsOf,
  recordOf,
  rowOf,
  withoutTurns,
} from "./call-rows.js";
import { type KeptHistory, saveHistory } from "./history-store.js";
import { jsonObject, readJson, writeJson } from "./json-column.js";
import type {
  CallMetrics,
  CallRecord,
  JsonObject,
  Sentiment,
  TranscriptMessage,
  UsageRecord,
} from "./records.js";
import type { Tables } from "./tables.js";
import { addUsage } from "./usage-store.js";

export interface SavedTurn {
  /** Appended to the transcript. */
  readonly messages: readonly TranscriptMessage[];
  readonly metrics: CallMetrics;
  readonly turn: JsonObject | undefined;
  readonly history?: KeptHistory;
  readonly atMs: number;
}

export interface CallEnd {
  readonly status: "completed" | "failed";
  readonly endedAtMs: number;
  readonly durationSec: number;
  readonly metrics: CallMetrics;
  /** Merged into what is stored, nested objects field by field; a null removes its field. */
  readonly metadata: JsonObject;
  /** Appended to the transcript. */
  readonly messages: readonly TranscriptMessage[];
  readonly turn?: JsonObject;
  /** Added to its day. */
  readonly usage: UsageRecord;
  readonly history?: KeptHistory;
}

export interface CallSummary {
  readonly summary?: string;
  readonly sentiment?: Sentiment;
}

export interface CallList {
  readonly items: CallRecord[];
  /** How many records all pages hold together. */
  readonly total: number;
}

export class CallStore {
  readonly #db: Kysely<Tables>;
  readonly #atomic: AtomicRequests;

  constructor(db: Kysely<Tables>, atomic: AtomicRequests) {
    this.#db = db;
    this.#atomic = atomic;
  }

  /** Throws `UniqueViolation` (calls, sessionId) when there is a call of this session. */
  async start(call: CallRecord, runId: string): Promise<void> {
    await this.#atomic.run([
      this.#db.insertInto("calls").values(rowOf(call, runId)),
      ...appendMessages(this.#db, call.id, call.transcript),
    ]);
  }

  /** All of it or nothing. Throws when the call is not active. */
  async saveTurn(callId: string, saved: SavedTurn): Promise<void> {
    const { messages, metrics, turn, history, atMs } = saved;
    const progress = this.#db
      .updateTable("calls")
      .set({ ...metricsOf(metrics), lastSavedAtMs: atMs })
      .where("id", "=", callId)
      .where("status", "=", "active");
    const applied = await this.#atomic.runIf(progress, [
      ...appendMessages(this.#db, callId, messages),
      ...appendTurn(this.#db, callId, turn),
      ...(history === undefined ? [] : [saveHistory(this.#db, history, atMs)]),
    ]);
    if (!applied) throw new Error(`a turn was saved for call ${callId}, which is not active`);
  }

  /** All of it or nothing: false, with no usage added, when the call was not active any more. */
  finish(callId: string, callEnd: CallEnd): Promise<boolean> {
    const { messages, turn, usage, history, endedAtMs } = callEnd;
    const addition = writeJson(withoutTurns(callEnd.metadata));
    const end = this.#db
      .updateTable("calls")
      .set({
        status: callEnd.status,
        endedAtMs,
        durationSec: callEnd.durationSec,
        ...metricsOf(callEnd.metrics),
        metadata: sql<string>`json_patch(${sql.ref("metadata")}, ${addition})`,
        lastSavedAtMs: endedAtMs,
      })
      .where("id", "=", callId)
      .where("status", "=", "active");
    return this.#atomic.runIf(end, [
      ...appendMessages(this.#db, callId, messages),
      ...appendTurn(this.#db, callId, turn),
      addUsage(this.#db, usage),
      ...(history === undefined ? [] : [saveHistory(this.#db, history, endedAtMs)]),
    ]);
  }

  /** Merges into the call's metadata, whether it has ended or not; nothing when there is no such call. */
  async annotate(callId: string, metadata: JsonObject): Promise<void> {
    const addition = writeJson(withoutTurns(metadata));
    await this.#db
      .updateTable("calls")
      .set({ metadata: sql<string>`json_patch(${sql.ref("metadata")}, ${addition})` })
      .where("id", "=", callId)
      .execute();
  }

  /** Sets what is given and leaves the rest. Throws when there is no such call. */
  async saveSummary(callId: string, { summary, sentiment }: CallSummary): Promise<void> {
    if (summary === undefined && sentiment === undefined) return;
    const result = await this.#db
      .updateTable("calls")
      .set({
        ...(summary === undefined ? {} : { summary }),
        ...(sentiment === undefined ? {} : { sentiment }),
      })
      .where("id", "=", callId)
      .executeTakeFirst();
    if (result.numUpdatedRows === 0n) throw new Error(`there is no call ${callId} to summarize`);
  }

  /** With its transcript, and the stages of every turn as `metadata.turns`. */
  async findById(orgId: string, id: string): Promise<CallRecord | undefined> {
    const [calls, messages, turns] = await this.#atomic.run([
      this.#db.selectFrom("calls").selectAll().where("id", "=", id).where("orgId", "=", orgId),
      this.#db
        .selectFrom("transcriptMessages")
        .select(["role", "text", "timestamp"])
        .where("callId", "=", id)
        .orderBy("sequence"),
      this.#db.selectFrom("callTurns").select("turn").where("callId", "=", id).orderBy("sequence"),
    ]);
    const [row] = calls.rows;
    if (row === undefined) return undefined;
    const call = recordOf(row);
    const stages = turns.rows.map(({ turn }) => readJson("callTurns.turn", jsonObject, turn));
    return {
      ...call,
      transcript: messages.rows,
      metadata: { ...call.metadata, turns: stages },
    };
  }

  /** Newest first, without transcripts and turns. */
  async list(orgId: string, page: CallPage): Promise<CallList> {
    const [calls, totals] = await this.#atomic.run([
      callPage(this.#db, orgId, page),
      callCount(this.#db, orgId, page),
    ]);
    return { items: calls.rows.map(recordOf), total: totals.rows[0]?.count ?? 0 };
  }

  async count(orgId: string, filter: CallFilter): Promise<number> {
    const { count } = await callCount(this.#db, orgId, filter).executeTakeFirstOrThrow();
    return count;
  }

  stats(orgId: string): Promise<CallStats> {
    return callStats(this.#db, orgId);
  }

  /** Says that this run of the server is alive. */
  async heartbeat(runId: string, atMs: number): Promise<void> {
    await this.#db
      .insertInto("runs")
      .values({ id: runId, heartbeatAtMs: atMs })
      .onConflict((conflict) => conflict.column("id").doUpdateSet({ heartbeatAtMs: atMs }))
      .execute();
  }

  /**
   * Closes as failed every active call of another run, and says how many: to be called at the start, by the one server
   * of this database.
   */
  closeAbandoned(runId: string, nowMs: number): Promise<number> {
    return closeAbandonedCalls(this.#db, this.#atomic, runId, nowMs);
  }
}
