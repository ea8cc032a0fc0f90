import { type Compilable, type Kysely, type RawBuilder, sql } from "kysely";
import type { NewJob } from "../jobs/job-record.js";
import { placedCallJobId } from "../jobs/job-record.js";
import { type JobsAdded, jobHold, jobInsert, jobRemoval } from "../jobs/job-store.js";
import type {
  CallMetrics,
  CallRecord,
  JsonObject,
  Sentiment,
  TranscriptMessage,
  UsageRecord,
} from "../records.js";
import { type AtomicRequests, afterChange } from "../statements/atomic-requests.js";
import { jsonObject, readJson, writeJson } from "../statements/json-column.js";
import type { RecordChanges } from "../statements/record-changes.js";
import type { Tables } from "../tables.js";
import type { AuditRecord } from "../tenancy/audit-record.js";
import { auditOf } from "../tenancy/audit-store.js";
import type { EventOutbox } from "../webhooks/event-outbox.js";
import type { NewEvent } from "../webhooks/event-record.js";
import {
  closeAbandonedCalls,
  closeCallsOfLostNode,
  closeCallsOfRun,
  closeLostCalls,
  closePlacedCall,
} from "./abandoned-calls.js";
import type { RowClaim } from "./call-list-record.js";
import { rowClaim } from "./call-list-store.js";
import {
  type CallFilter,
  type CallList,
  type CallPage,
  type CallStats,
  callCount,
  callStats,
  listCalls,
  turnsSince,
} from "./call-queries.js";
import {
  appendMessages,
  appendTurn,
  metricsOf,
  recordOf,
  rowOf,
  withoutTurns,
} from "./call-rows.js";
import { type HistoryChange, replacementOf } from "./history-store.js";
import {
  type IdempotencyKey,
  idempotencyKeyInsert,
  idempotencyKeyRemoval,
  type KeyedAnswer,
} from "./idempotency-store.js";
import { addUsage } from "./usage-store.js";

function mergedMetadata(metadata: JsonObject): RawBuilder<string> {
  const addition = writeJson(withoutTurns(metadata));
  return sql<string>`json_patch(${sql.ref("metadata")}, ${addition})`;
}

/** Writers of one call's metadata are few: its process, and the requests of its vendor. */
const CONDITIONAL_WRITES_MAX = 8;

export interface SavedTurn {
  /** Appended to the transcript. */
  readonly messages: readonly TranscriptMessage[];
  readonly metrics: CallMetrics;
  readonly turn: JsonObject | undefined;
  readonly atMs: number;
  /** Merged into the stored metadata, nested objects field by field; a null removes its field. */
  readonly metadata?: JsonObject;
  /** An event stored with the turn if an endpoint is subscribed to it. */
  readonly events?: readonly NewEvent[];
}

export interface CallEnd {
  readonly status: "completed" | "failed";
  readonly endedAtMs: number;
  readonly durationSec: number;
  readonly metrics: CallMetrics;
  /** Merged into the stored metadata, nested objects field by field; a null removes its field. */
  readonly metadata: JsonObject;
  /** What the end adds to `metadata` depending on those that are stored, in the same commit. */
  readonly metadataFrom?: (stored: JsonObject) => JsonObject;
  /** Appended to the transcript. */
  readonly messages: readonly TranscriptMessage[];
  readonly turn?: JsonObject;
  /** Added to the usage of the call's day. */
  readonly usage: UsageRecord;
  /** Jobs about the call, stored together with its end. */
  readonly jobs?: readonly NewJob[];
  /** Events stored with the call's end if an endpoint is subscribed to them. */
  readonly events?: readonly NewEvent[];
}

/** A turn of a past call. */
export interface PastTurn {
  readonly callId: string;
  /** When its call began. */
  readonly startedAtMs: number;
  /** As stored with the call. */
  readonly turn: JsonObject;
}

export interface CallSummary {
  readonly summary?: string;
  readonly sentiment?: Sentiment;
}

export class CallStore {
  readonly #db: Kysely<Tables>;
  readonly #atomic: AtomicRequests;
  readonly #usageChanges: RecordChanges;
  readonly #outbox: EventOutbox;
  readonly #jobsAdded: JobsAdded;

  constructor(
    db: Kysely<Tables>,
    atomic: AtomicRequests,
    usageChanges: RecordChanges,
    outbox: EventOutbox,
    jobsAdded: JobsAdded,
  ) {
    this.#db = db;
    this.#atomic = atomic;
    this.#usageChanges = usageChanges;
    this.#outbox = outbox;
    this.#jobsAdded = jobsAdded;
  }

  /**
   * `uptimeMs` is the current time of the run's monotonic clock, as in `heartbeat`. Throws `UniqueViolationError`
   * (calls, sessionId) if this session already has a call.
   */
  async start(
    call: CallRecord,
    runId: string,
    uptimeMs: number | null = null,
    events: readonly NewEvent[] = [],
  ): Promise<void> {
    const begin = this.#db.insertInto("calls").values(rowOf(call, runId, uptimeMs));
    // The statement has a guard, so it never runs alone: the outcome of a single statement would be unknown after a
    // lost connection.
    const messages = appendMessages(this.#db, call.id, call.transcript);
    // A placed call has its own id as its session. Its job is removed before its events are stored, which follow the
    // ringing event.
    const placed = call.sessionId === call.id ? [this.#clearPlaced(call.id)] : [];
    await this.#withEvents(begin, [...placed, ...messages], events);
  }

  /**
   * Called when a vendor is asked to place this call. The job records the call's end even if this process dies. Returns
   * false, with nothing written, if the call is for a row of a list for which no call may be placed any more.
   */
  async place(job: NewJob, callId: string, row?: RowClaim): Promise<boolean> {
    const insert = jobInsert(this.#db, job);
    if (row === undefined) {
      await this.#atomic.run([insert]);
      return true;
    }
    // Lists of one organization claim one after the other: the same person may wait in two of them.
    const turn = this.#atomic.turnOf(this.#db, job.orgId);
    const { guard, claim } = rowClaim(this.#db, row, { callId, atMs: job.createdAtMs });
    const changes = await this.#atomic.changesIf(guard, [...turn, claim, afterChange(insert)]);
    return changes?.[turn.length] === 1;
  }

  /** As `place`, with the key of the request. `UniqueViolationError`, with nothing written, if another request has the key. */
  async placeOnce(job: NewJob, key: IdempotencyKey, made: KeyedAnswer): Promise<void> {
    await this.#atomic.run([idempotencyKeyInsert(this.#db, key, made), jobInsert(this.#db, job)]);
  }

  /** The vendor did not place the call with this id. The key of its request may be used again. */
  async failPlaced(callId: string, key?: IdempotencyKey): Promise<void> {
    const freed = key === undefined ? [] : [idempotencyKeyRemoval(this.#db, key, callId)];
    await this.#atomic.run([this.#clearPlaced(callId), ...freed]);
  }

  #clearPlaced(callId: string) {
    return jobRemoval(this.#db, placedCallJobId(callId));
  }

  /** A placed call is ringing; does nothing if it already has its record. */
  async ring(event: NewEvent & { readonly callId: string }): Promise<void> {
    const waits = jobHold(this.#db, placedCallJobId(event.callId));
    await this.#withEvents(waits, [], [event]);
  }

  /** Records a placed call whose process has died as failed. Returns false if the call already has a record. */
  async closePlaced(call: CallRecord, runId: string): Promise<boolean> {
    const isClosed = await closePlacedCall(this.#closing, call, runId);
    if (isClosed) this.#jobsAdded.notify();
    return isClosed;
  }

  /**
   * Stores the event of a call that was refused before it had a record. Does nothing if the call has a record, whose
   * end has its own event.
   */
  async refuse(event: NewEvent): Promise<void> {
    const record = this.#db
      .selectFrom("calls")
      .select("id")
      .where("id", "=", event.callId ?? "");
    if ((await record.executeTakeFirst()) !== undefined) return;
    await this.#atomic.run(this.#outbox.statements(event));
    this.#jobsAdded.notify();
  }

  /** Like `changesIf`; the result contains the changes of the queries only, not those of events and jobs. */
  async #withEvents(
    guard: Compilable,
    queries: readonly Compilable[],
    events: readonly NewEvent[],
    jobs: readonly NewJob[] = [],
  ): Promise<readonly number[] | undefined> {
    const outbox = events.flatMap((event) => this.#outbox.statements(event));
    const work = jobs.map((job) => jobInsert(this.#db, job));
    const changes = await this.#atomic.changesIf(guard, [...queries, ...outbox, ...work]);
    if (changes?.slice(queries.length).some((count) => count > 0)) this.#jobsAdded.notify();
    return changes?.slice(0, queries.length);
  }

  /**
   * Saves the turn completely or not at all. Throws if the call is not active. The turn's change of its conversation
   * may be included, which saves a transaction. Returns false if the turn is saved, but another call has saved the
   * conversation meanwhile.
   */
  async saveTurn(callId: string, saved: SavedTurn, history?: HistoryChange): Promise<boolean> {
    const { messages, metrics, turn, atMs, metadata, events = [] } = saved;
    const progress = this.#db
      .updateTable("calls")
      .set({
        ...metricsOf(metrics),
        lastSavedAtMs: atMs,
        ...(metadata !== undefined && { metadata: mergedMetadata(metadata) }),
      })
      .where("id", "=", callId)
      .where("status", "=", "active");
    const queries = [
      ...appendMessages(this.#db, callId, messages),
      ...appendTurn(this.#db, callId, turn),
      ...(history === undefined ? [] : [replacementOf(this.#db, history)]),
    ];
    const changes = await this.#withEvents(progress, queries, events);
    if (changes === undefined) {
      throw new Error(`a turn was saved for call ${callId}, which is not active`);
    }
    return history === undefined || changes.at(-1) === 1;
  }

  /**
   * Saves the end completely or not at all. Returns false, with no usage added, if the call was no longer active. Throws if other
   * writers of metadata that the end depends on were faster each time.
   */
  finish(callId: string, callEnd: CallEnd): Promise<boolean> {
    const { metadataFrom } = callEnd;
    const finished =
      metadataFrom === undefined
        ? this.#finish(callId, callEnd)
        : this.#finishFrom(callId, callEnd, metadataFrom);
    return this.#usageChanges.after(finished);
  }

  async #finishFrom(
    callId: string,
    callEnd: CallEnd,
    metadataFrom: NonNullable<CallEnd["metadataFrom"]>,
  ): Promise<boolean> {
    for (let attempt = 0; attempt < CONDITIONAL_WRITES_MAX; attempt += 1) {
      const row = await this.#db
        .selectFrom("calls")
        .select(["metadata", "status"])
        .where("id", "=", callId)
        .executeTakeFirst();
      if (row?.status !== "active") return false;
      const more = metadataFrom(readJson("calls.metadata", jsonObject, row.metadata));
      const metadata = { ...callEnd.metadata, ...more };
      if (await this.#finish(callId, { ...callEnd, metadata }, row.metadata)) return true;
    }
    throw new Error(`the metadata of call ${callId} changed each time that it was to end`);
  }

  /** `stored`: the end depends on these metadata, and is saved only while the call has them. */
  async #finish(callId: string, callEnd: CallEnd, stored?: string): Promise<boolean> {
    const { messages, turn, usage, endedAtMs, events = [], jobs = [] } = callEnd;
    const addition = mergedMetadata(callEnd.metadata);
    const active = this.#db
      .updateTable("calls")
      .set({
        status: callEnd.status,
        endedAtMs,
        durationSec: callEnd.durationSec,
        ...metricsOf(callEnd.metrics),
        metadata: addition,
        lastSavedAtMs: endedAtMs,
      })
      .where("id", "=", callId)
      .where("status", "=", "active");
    const end = stored === undefined ? active : active.where("metadata", "=", stored);
    const queries = [
      ...appendMessages(this.#db, callId, messages),
      ...appendTurn(this.#db, callId, turn),
      addUsage(this.#db, usage),
    ];
    return (await this.#withEvents(end, queries, events, jobs)) !== undefined;
  }

  /**
   * Merges into the call's metadata, whether it has ended or not; does nothing if there is no such call. `entry` is the
   * action that the metadata are about.
   */
  async annotate(callId: string, metadata: JsonObject, entry?: AuditRecord): Promise<void> {
    const addition = mergedMetadata(metadata);
    const merge = this.#db
      .updateTable("calls")
      .set({ metadata: addition })
      .where("id", "=", callId);
    if (entry === undefined) await merge.execute();
    else await this.#atomic.run([merge, ...auditOf(this.#db, entry)]);
  }

  /**
   * As `annotate`, but only while the stored metadata meets the condition, whoever else writes meanwhile, and with the event in
   * the same commit. Returns whether it was met; throws if other writers were faster each time.
   */
  async annotateIf(
    callId: string,
    isMet: (metadata: JsonObject) => boolean,
    metadata: JsonObject,
    event?: NewEvent,
  ): Promise<boolean> {
    const addition = mergedMetadata(metadata);
    for (let attempt = 0; attempt < CONDITIONAL_WRITES_MAX; attempt += 1) {
      const row = await this.#db
        .selectFrom("calls")
        .select("metadata")
        .where("id", "=", callId)
        .executeTakeFirst();
      if (row === undefined) return false;
      if (!isMet(readJson("calls.metadata", jsonObject, row.metadata))) return false;
      const annotation = this.#db
        .updateTable("calls")
        .set({ metadata: addition })
        .where("id", "=", callId)
        .where("metadata", "=", row.metadata);
      const events = event === undefined ? [] : [event];
      if ((await this.#withEvents(annotation, [], events)) !== undefined) return true;
    }
    throw new Error(`the metadata of call ${callId} changed each time that it was to be annotated`);
  }

  /** Sets the given fields and leaves the rest. Throws if there is no such call. */
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

  /** Includes the transcript, and the stages of every turn as `metadata.turns`. */
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

  /** Does not include the transcript and the turns. */
  findBySession(orgId: string, sessionId: string): Promise<CallRecord | undefined> {
    return this.findLastOf(orgId, [sessionId]);
  }

  /** Returns the latest call of these sessions, without its transcript and its turns. */
  async findLastOf(orgId: string, sessionIds: readonly string[]): Promise<CallRecord | undefined> {
    const rows = await this.#db
      .selectFrom("calls")
      .selectAll()
      .where("sessionId", "in", sessionIds)
      .where("orgId", "=", orgId)
      .execute();
    // Sorted here: SQLite might scan all calls from the end if the query asked for the last one.
    const [last] = rows.toSorted((one, other) => other.sequence - one.sequence);
    return last && recordOf(last);
  }

  /** Returns the newest first, without transcripts and turns. */
  list(orgId: string, page: CallPage): Promise<CallList> {
    return listCalls(this.#db, this.#atomic, orgId, page);
  }

  /**
   * Returns the stages of the turns of at most `page.calls` calls since then: the newest ones after `page.skipCalls`. A
   * call without turns has an empty list, so an empty result means that there are no more calls.
   */
  async turnsSince(
    orgId: string,
    page: { readonly sinceMs: number; readonly skipCalls: number; readonly calls: number },
  ): Promise<readonly PastTurn[]> {
    const rows = await turnsSince(this.#db, orgId, page).execute();
    return rows.map(({ callId, startedAtMs, turn }) => ({
      callId,
      startedAtMs,
      turn: turn === null ? {} : readJson("callTurns.turn", jsonObject, turn),
    }));
  }

  async count(orgId: string, filter: CallFilter): Promise<number> {
    const { count } = await callCount(this.#db, orgId, filter).executeTakeFirstOrThrow();
    return count;
  }

  stats(orgId: string): Promise<CallStats> {
    return callStats(this.#db, orgId);
  }

  /** Stores that this run of the server is alive. */
  async heartbeat(runId: string, atMs: number, uptimeMs: number | null = null): Promise<void> {
    const beat = { heartbeatAtMs: atMs, uptimeMs };
    await this.#db
      .insertInto("runs")
      .values({ id: runId, ...beat })
      .onConflict((conflict) => conflict.column("id").doUpdateSet(beat))
      .execute();
  }

  /** The other known runs, each with its last heartbeat. */
  async otherRuns(runId: string): Promise<ReadonlyMap<string, number>> {
    const rows = await this.#db.selectFrom("runs").selectAll().where("id", "!=", runId).execute();
    return new Map(rows.map(({ id, heartbeatAtMs }) => [id, heartbeatAtMs]));
  }

  /**
   * Marks every active call of another run as failed, and returns their number: for the start of the only server
   * of this database.
   */
  closeAbandoned(runId: string, nowMs: number): Promise<number> {
    return this.#closed(closeAbandonedCalls(this.#closing, runId, nowMs));
  }

  /** Marks every active call of a run that has died while its server is alive as failed, and returns their number. */
  closeRun(runId: string, nowMs: number): Promise<number> {
    return this.#closed(closeCallsOfRun(this.#closing, runId, nowMs));
  }

  /** Like `closeRun`, for a run of another server of this database. */
  closeRunOfLostNode(runId: string, nowMs: number): Promise<number> {
    return this.#closed(closeCallsOfLostNode(this.#closing, runId, nowMs));
  }

  /** The ids of the calls of this run that are stored as active. */
  async listActive(runId: string): Promise<string[]> {
    const rows = await this.#db
      .selectFrom("calls")
      .select("id")
      // A literal, not a parameter: otherwise SQLite does not use the index of calls in progress.
      .where("status", "=", sql.lit("active" as const))
      .where("runId", "=", runId)
      .execute();
    return rows.map(({ id }) => id);
  }

  /**
   * Marks those of this run's calls that are still active as failed, and returns their number: their end is
   * unknown.
   */
  closeLost(callIds: readonly string[], nowMs: number): Promise<number> {
    return this.#closed(closeLostCalls(this.#closing, callIds, nowMs));
  }

  get #closing() {
    return { db: this.#db, atomic: this.#atomic, outbox: this.#outbox };
  }

  /** Endpoints may be subscribed to the ends of these calls, and jobs have to close the placed calls of their run. */
  async #closed(closing: Promise<number>): Promise<number> {
    const count = await closing;
    this.#jobsAdded.notify();
    return count;
  }
}
