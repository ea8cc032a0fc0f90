import { type Compilable, type Kysely, type Selectable, sql } from "kysely";
import * as v from "valibot";
import { callListJob, callListJobId, callListQueue, placedCallJobId } from "../jobs/job-record.js";
import { failedJobRemoval, type JobsAdded, jobInsert, jobsDueNow } from "../jobs/job-store.js";
import { type AtomicRequests, afterChange } from "../statements/atomic-requests.js";
import { readJson, writeJson } from "../statements/json-column.js";
import type { StatementPort } from "../statements/statement-port.js";
import type { Tables } from "../tables.js";
import type { AuditRecord } from "../tenancy/audit-record.js";
import { auditOf } from "../tenancy/audit-store.js";
import type { EventOutbox } from "../webhooks/event-outbox.js";
import type { NewEvent } from "../webhooks/event-record.js";
import {
  type CallListCounts,
  type CallListOutcome,
  type CallListRecord,
  type CallListRowRecord,
  type CallListRowState,
  type CallListState,
  type NewCallListRow,
  RETRIED_OUTCOMES,
  type RowClaim,
  WEEKDAYS,
} from "./call-list-record.js";
import {
  type IdempotencyKey,
  idempotencyKeyInsert,
  type KeyedAnswer,
} from "./idempotency-store.js";

/** Rows written per statement, so that a long list does not delay the statements of calls. */
const ROWS_PER_STATEMENT = 500;

const Windows = v.array(
  v.object({ days: v.array(v.picklist(WEEKDAYS)), from: v.string(), to: v.string() }),
);
const Retries = v.partial(
  v.object(
    v.entriesFromList(RETRIED_OUTCOMES, v.object({ times: v.number(), afterMinutes: v.number() })),
  ),
);
const Variables = v.record(v.string(), v.string());
/** The part of a call's metadata that says what became of the call's row. */
const StoredEnding = v.object({
  endReason: v.fallback(v.string(), ""),
  voicemail: v.fallback(v.object({ messageLeft: v.boolean() }), { messageLeft: false }),
  /** The id of the call that goes on with the same person or machine on another stream. */
  continuedBy: v.fallback(v.optional(v.string()), undefined),
  answerer: v.fallback(v.optional(v.object({ kind: v.string() })), undefined),
});
/** A call breaks three times at most, and comes back from five transfers. */
const CONTINUATIONS_MAX = 10;
/**
 * A vendor asks what follows a stream that has broken within seconds, and may be told to wait for a server that restarts. A call whose
 * machine verdict was still due may go on for this long after its end.
 */
export const CONTINUED_WITHIN_MS = 30_000;
/** Ends that nothing follows, also before the verdict. */
const FINAL_ENDS: ReadonlySet<string> = new Set(["machine", "notPutThrough"]);
const NOT_HELD = {
  holdCode: null,
  holdReason: null,
  heldSinceMs: null,
  heldUntilMs: 0,
  vendorRefusals: 0,
  nextCallAtMs: null,
} as const;
/** Reasons of a list that are counted: they are few, but some are sentences. */
const OUTCOMES_MAX = 50;

export interface CountedCallList extends CallListRecord {
  readonly counts: CallListCounts;
}

/** Lists in one state, held for one reason. */
export interface CallListStateCount {
  readonly state: CallListState;
  /** A code of an error; null for lists that are not held. */
  readonly holdCode: string | null;
  readonly count: number;
}

export const NO_ROWS: CallListCounts = {
  waiting: 0,
  calling: 0,
  completed: 0,
  failed: 0,
  skipped: 0,
  cancelled: 0,
};

/** Rows that wait and have the same time zones. */
export interface WaitingZones {
  readonly timeZones: string;
  /** The first of them may be called then. */
  readonly nextAtMs: number;
}

/** What is known of a placed call. */
export type PlacedOutcome =
  | { readonly kind: "inProgress" }
  /** The vendor has refused it, or was never asked. */
  | { readonly kind: "notPlaced" }
  | {
      readonly kind: "ended";
      readonly status: "completed" | "failed";
      readonly endReason: string;
      /** The agent left its message on an answering machine. */
      readonly messageLeft: boolean;
      /** It reached its agent, for however long. */
      readonly wasConnected: boolean;
    };

type StoredEnd = Pick<
  Extract<PlacedOutcome, { readonly kind: "ended" }>,
  "endReason" | "messageLeft" | "wasConnected"
> & { readonly continuedBy: string | undefined; readonly mayGoOn: boolean };
const UNKNOWN_END: StoredEnd = {
  endReason: "",
  messageLeft: false,
  wasConnected: false,
  continuedBy: undefined,
  mayGoOn: false,
};

/** What one record says of its call, and the record that continues it. */
interface RecordedOutcome {
  readonly outcome: PlacedOutcome;
  readonly continuedBy?: string | undefined;
}

/** What becomes of a row whose call has this id. */
export interface RowOutcome {
  readonly position: number;
  readonly callId: string;
  readonly state: Exclude<CallListRowState, "calling">;
  readonly reason: string | null;
  readonly nextAtMs: number;
  /** The call was not placed, and does not count. */
  readonly isUncounted?: boolean;
  /** Left out, a call that was placed sets it to 0, and any other leaves it as it is. */
  readonly refusals?: number;
}

/** Why a list places no calls. */
export interface CallListHold {
  /** A code of an error. */
  readonly code: string;
  readonly reason: string;
  /** Only a person can change that. */
  readonly isPaused: boolean;
  readonly sinceMs: number;
  /** No call is placed before. */
  readonly untilMs: number;
  /** Orders in a row that the telephony vendor did not accept. */
  readonly vendorRefusals: number;
}

/** What the organization gets to know of a hold. */
export interface HoldNotice {
  readonly event: NewEvent;
  readonly entry: AuditRecord;
}

/** Which states a list may change from, and what becomes of its rows that wait. */
export interface StateChange {
  readonly from: readonly CallListState[];
  readonly to: CallListState;
  /** Its job runs at once, also to find out that nothing is left to do. */
  readonly isDue?: boolean;
  readonly cancelsRows?: boolean;
  /** A running list changes, too, while it is held: its next order does not wait. */
  readonly endsHold?: boolean;
}

export interface CallListStoreParts {
  readonly db: Kysely<Tables>;
  readonly atomic: AtomicRequests;
  readonly outbox: EventOutbox;
  readonly added: JobsAdded;
  readonly writers: StatementPort["writers"];
}

/** Call lists and their rows. The claim of a row and the placing of its call are one commit: see `rowClaim`. */
export class CallListStore {
  readonly #db: Kysely<Tables>;
  readonly #atomic: AtomicRequests;
  readonly #outbox: EventOutbox;
  readonly #added: JobsAdded;
  readonly #writers: StatementPort["writers"];

  constructor({ db, atomic, outbox, added, writers }: CallListStoreParts) {
    this.#db = db;
    this.#atomic = atomic;
    this.#outbox = outbox;
    this.#added = added;
    this.#writers = writers;
  }

  /**
   * Stores the list with all of its rows, or nothing. Returns false if the organization already has `max` lists.
   * `UniqueViolationError` if another request has the key.
   */
  insertWithin(
    list: CallListRecord,
    rows: readonly NewCallListRow[],
    max: number,
    entry: AuditRecord,
    keyed?: { readonly key: IdempotencyKey; readonly made: KeyedAnswer },
  ): Promise<boolean> {
    const { orgId } = list;
    const row = {
      ...list,
      detectMachine: list.detectMachine ? 1 : 0,
      windows: writeJson(list.windows),
      retries: writeJson(list.retries),
      claimCount: 0,
    };
    const inserts: Compilable[] = [];
    for (let from = 0; from < rows.length; from += ROWS_PER_STATEMENT) {
      const step = rows.slice(from, from + ROWS_PER_STATEMENT);
      inserts.push(afterChange(this.#rowsInsert(list, step, from)));
    }
    const limited = { table: "callLists", row, orgId, max } as const;
    return this.#atomic.insertWithin(this.#db, limited, [
      ...inserts,
      ...auditOf(this.#db, entry),
      ...(keyed === undefined
        ? []
        : [afterChange(idempotencyKeyInsert(this.#db, keyed.key, keyed.made))]),
    ]);
  }

  /** Newest first. */
  async list(orgId: string): Promise<readonly CountedCallList[]> {
    const [lists, counts] = await this.#atomic.run([
      this.#db
        .selectFrom("callLists")
        .selectAll()
        .where("orgId", "=", orgId)
        .orderBy("sequence", "desc"),
      this.#counts().where("callLists.orgId", "=", orgId),
    ]);
    return lists.rows.map((row) => ({ ...listOf(row), counts: countsOf(row.id, counts.rows) }));
  }

  async find(orgId: string, id: string): Promise<CountedCallList | undefined> {
    const [lists, counts] = await this.#atomic.run([
      this.#db.selectFrom("callLists").selectAll().where("orgId", "=", orgId).where("id", "=", id),
      this.#counts().where("callLists.orgId", "=", orgId).where("callLists.id", "=", id),
    ]);
    const [row] = lists.rows;
    return row && { ...listOf(row), counts: countsOf(row.id, counts.rows) };
  }

  /** How many people are in a state for the same reason, the most first. */
  async outcomeCounts(orgId: string, listId: string): Promise<readonly CallListOutcome[]> {
    const rows = await this.#db
      .selectFrom("callListRows")
      .select((its) => ["state", "reason", its.fn.countAll<number>().as("count")])
      .where("orgId", "=", orgId)
      .where("listId", "=", listId)
      .where("reason", "is not", null)
      .groupBy(["state", "reason"])
      .orderBy("count", "desc")
      .orderBy("reason")
      .limit(OUTCOMES_MAX)
      .execute();
    return rows.flatMap(({ state, reason, count }) =>
      reason === null ? [] : { state, reason, count: Number(count) },
    );
  }

  /** As `find`, without counting its rows. */
  async findUncounted(orgId: string, id: string): Promise<CallListRecord | undefined> {
    const row = await this.#db
      .selectFrom("callLists")
      .selectAll()
      .where("orgId", "=", orgId)
      .where("id", "=", id)
      .executeTakeFirst();
    return row && listOf(row);
  }

  /** The list's rows behind `after`, in order, only those in `state` if given. */
  async rows(
    orgId: string,
    listId: string,
    page: {
      readonly state?: CallListRowState | undefined;
      readonly after: number;
      readonly limit: number;
    },
  ): Promise<readonly CallListRowRecord[]> {
    const { state, after, limit } = page;
    const rows = await this.#db
      .selectFrom("callListRows")
      .selectAll()
      .where("orgId", "=", orgId)
      .where("listId", "=", listId)
      .where("position", ">", after)
      .$if(state !== undefined, (its) => its.where("state", "=", state ?? "waiting"))
      .orderBy("position")
      .limit(limit)
      .execute();
    return rows.map(rowOf);
  }

  /** Returns false, with nothing written, if the list is in none of the states. */
  async change(
    { orgId, id }: Pick<CallListRecord, "orgId" | "id">,
    { from, to, isDue = false, cancelsRows = false, endsHold = false }: StateChange,
    entry: AuditRecord,
  ): Promise<boolean> {
    const { atMs } = entry;
    const guard = this.#db
      .updateTable("callLists")
      .set({ ...NOT_HELD, state: to, failuresInRow: 0, updatedAtMs: atMs })
      .where("orgId", "=", orgId)
      .where("id", "=", id)
      .where((its) => {
        const isFrom = its("state", "in", from);
        if (!endsHold) return isFrom;
        const isHeld = its("state", "=", "running").and("holdCode", "is not", null);
        return its.or([isFrom, isHeld]);
      });
    const queue = callListQueue(id);
    const isChanged = await this.#atomic.runIf(guard, [
      ...auditOf(this.#db, entry),
      ...(isDue
        ? [
            // Otherwise a job that was given up would keep the new one from being stored.
            failedJobRemoval(this.#db, callListJobId(id)),
            jobInsert(this.#db, callListJob(orgId, id, atMs)),
            // No other queue's name lies between these two.
            jobsDueNow(this.#db, { from: queue, before: `${queue}\u0001` }, atMs),
          ]
        : []),
      ...(cancelsRows ? [this.#cancelWaiting(id)] : []),
    ]);
    if (isChanged && isDue) this.#added.notify();
    return isChanged;
  }

  /** Removes a list that places no calls, with its rows. Returns false, with nothing written, for any other list. */
  remove(orgId: string, id: string, entry: AuditRecord): Promise<boolean> {
    const calling = this.#db
      .selectFrom("callListRows")
      .select("position")
      .where("listId", "=", id)
      .where("state", "=", "calling");
    const removal = this.#db
      .deleteFrom("callLists")
      .where("orgId", "=", orgId)
      .where("id", "=", id)
      .where("state", "in", ["ready", "completed", "cancelled"])
      .where((its) => its.not(its.exists(calling)));
    return this.#atomic.runIf(removal, auditOf(this.#db, entry));
  }

  /** Rows whose calls have no known end, at most `limit`. */
  async calling(listId: string, limit: number): Promise<readonly CallListRowRecord[]> {
    const rows = await this.#db
      .selectFrom("callListRows")
      .selectAll()
      .where("listId", "=", listId)
      .where("state", "=", "calling")
      .limit(limit)
      .execute();
    return rows.map(rowOf);
  }

  /**
   * What became of these calls. A call whose stream broke may go on under another record: the last one counts, and one that may still
   * begin is waited for.
   */
  async outcomes(
    callIds: readonly string[],
    nowMs: number,
  ): Promise<ReadonlyMap<string, PlacedOutcome>> {
    const outcomes = new Map<string, PlacedOutcome>();
    /** The calls by the records that are to be read. */
    let records = new Map(callIds.map((id) => [id, id]));
    for (let step = 0; records.size > 0 && step <= CONTINUATIONS_MAX; step += 1) {
      const continued = new Map<string, string>();
      for (const [id, { outcome, continuedBy }] of await this.#recorded(
        [...records.keys()],
        nowMs,
      )) {
        const callId = records.get(id) ?? id;
        outcomes.set(callId, laterOutcome(outcomes.get(callId), outcome));
        if (continuedBy !== undefined) continued.set(continuedBy, callId);
      }
      records = continued;
    }
    return outcomes;
  }

  /** What these records say of their calls. */
  async #recorded(
    callIds: readonly string[],
    nowMs: number,
  ): Promise<ReadonlyMap<string, RecordedOutcome>> {
    // A call gets its record in the commit that removes its job, so the jobs have to be read first.
    const [jobs, calls] = await this.#atomic.run([
      this.#db.selectFrom("jobs").select("id").where("id", "in", callIds.map(placedCallJobId)),
      this.#db.selectFrom("calls").select(["id", "status"]).where("id", "in", callIds),
    ]);
    const placing = new Set(jobs.rows.map(({ id }) => id));
    const statusOf = new Map(calls.rows.map(({ id, status }) => [id, status]));
    const ended = callIds.filter((id) => (statusOf.get(id) ?? "active") !== "active");
    const ends = await this.#ends(ended, nowMs);
    return new Map(
      callIds.map((id): [string, RecordedOutcome] => {
        const status = statusOf.get(id);
        if (status === "completed" || status === "failed") {
          const { continuedBy, mayGoOn, ...end } = ends.get(id) ?? UNKNOWN_END;
          if (mayGoOn) return [id, { outcome: { kind: "inProgress" } }];
          return [id, { outcome: { kind: "ended", status, ...end }, continuedBy }];
        }
        const isInProgress = status === "active" || placing.has(placedCallJobId(id));
        return [id, { outcome: { kind: isInProgress ? "inProgress" : "notPlaced" } }];
      }),
    );
  }

  /** An outcome changes nothing if the row has another call by now. */
  async settle(listId: string, outcomes: readonly RowOutcome[]): Promise<void> {
    if (outcomes.length === 0) return;
    await this.#atomic.run(
      outcomes.map(({ position, callId, state, reason, nextAtMs, isUncounted = false, refusals }) =>
        this.#db
          .updateTable("callListRows")
          .set((its) => ({
            state,
            reason,
            nextAtMs,
            refusals: refusals ?? (isUncounted ? its.ref("refusals") : 0),
            ...(isUncounted ? { attempts: its("attempts", "-", 1), callId: null } : {}),
          }))
          .where("listId", "=", listId)
          .where("position", "=", position)
          .where("callId", "=", callId)
          .where("state", "=", "calling"),
      ),
    );
  }

  /** A row that may not be called: `skipped` if it never was. */
  async skip(listId: string, position: number, reason: string): Promise<void> {
    await this.#db
      .updateTable("callListRows")
      .set((its) => ({
        state: its
          .case()
          .when("attempts", "=", 0)
          .then("skipped" as const)
          .else("failed" as const)
          .end(),
        reason,
      }))
      .where("listId", "=", listId)
      .where("position", "=", position)
      .where("state", "=", "waiting")
      .execute();
  }

  /** The row that waits is not called before `nextAtMs`. */
  async postpone(listId: string, position: number, nextAtMs: number): Promise<void> {
    await this.#db
      .updateTable("callListRows")
      .set({ nextAtMs })
      .where("listId", "=", listId)
      .where("position", "=", position)
      .where("state", "=", "waiting")
      .execute();
  }

  /** Calls in a row that the vendor or this server has failed. */
  async countFailures(listId: string, failuresInRow: number): Promise<void> {
    await this.#db
      .updateTable("callLists")
      .set({ failuresInRow })
      .where("id", "=", listId)
      .execute();
  }

  /** The time zones of the rows that wait. */
  async waitingZones(listId: string): Promise<readonly WaitingZones[]> {
    const rows = await this.#db
      .selectFrom("callListRows")
      .select((its) => ["timeZones", its.fn.min("nextAtMs").as("nextAtMs")])
      .where("listId", "=", listId)
      .where("state", "=", "waiting")
      .groupBy("timeZones")
      .execute();
    return rows.map(({ timeZones, nextAtMs }) => ({ timeZones, nextAtMs: Number(nextAtMs) }));
  }

  /** Rows of these zones that may be called now, those that have waited longest first. */
  async due(
    listId: string,
    timeZones: readonly string[],
    nowMs: number,
    limit: number,
  ): Promise<readonly CallListRowRecord[]> {
    if (timeZones.length === 0 || limit <= 0) return [];
    const rows = await this.#db
      .selectFrom("callListRows")
      .selectAll()
      .where("listId", "=", listId)
      .where("state", "=", "waiting")
      .where("timeZones", "in", timeZones)
      .where("nextAtMs", "<=", nowMs)
      .orderBy("nextAtMs")
      .orderBy("position")
      .limit(limit)
      .execute();
    return rows.map(rowOf);
  }

  /** Says why the running list places no call, and changes nothing of any other. The notice is stored in the same commit. */
  async hold(
    listId: string,
    { code, reason, isPaused, sinceMs, untilMs, vendorRefusals }: CallListHold,
    atMs: number,
    notice?: HoldNotice,
  ): Promise<void> {
    const holding = this.#db
      .updateTable("callLists")
      .set({
        holdCode: code,
        holdReason: reason,
        heldSinceMs: sinceMs,
        heldUntilMs: untilMs,
        vendorRefusals,
        nextCallAtMs: null,
        ...(isPaused ? { state: "paused" as const, updatedAtMs: atMs } : {}),
      })
      .where("id", "=", listId)
      .where("state", "=", "running");
    const isHeld = await this.#atomic.runIf(
      holding,
      notice === undefined
        ? []
        : [...auditOf(this.#db, notice.entry), ...this.#outbox.statements(notice.event)],
    );
    if (isHeld && notice !== undefined) this.#added.notify();
  }

  /** The running list has placed a call. */
  async endHold(listId: string): Promise<void> {
    await this.#db
      .updateTable("callLists")
      .set(NOT_HELD)
      .where("id", "=", listId)
      .where("state", "=", "running")
      .execute();
  }

  /** The running list places no call before; null if that is not known any more. */
  async waitUntil(listId: string, nextCallAtMs: number | null): Promise<void> {
    await this.#db
      .updateTable("callLists")
      .set({ nextCallAtMs })
      .where("id", "=", listId)
      .where("state", "=", "running")
      .execute();
  }

  /** How many lists of all organizations are in each state, and for what they are held, for the metrics. */
  async countByState(): Promise<readonly CallListStateCount[]> {
    const rows = await this.#db
      .selectFrom("callLists")
      .select((its) => ["state", "holdCode", its.fn.countAll<number>().as("count")])
      .groupBy(["state", "holdCode"])
      .execute();
    return rows.map(({ state, holdCode, count }) => ({ state, holdCode, count: Number(count) }));
  }

  /** Pauses every list that is running, with this reason. Returns their number. */
  async pauseAll(held: Pick<CallListHold, "code" | "reason">, atMs: number): Promise<number> {
    const { numUpdatedRows } = await this.#db
      .updateTable("callLists")
      .set({
        state: "paused",
        holdCode: held.code,
        holdReason: held.reason,
        heldSinceMs: atMs,
        updatedAtMs: atMs,
      })
      .where("state", "=", "running")
      .executeTakeFirstOrThrow();
    return Number(numUpdatedRows);
  }

  /** Nobody of the list who waits is called. */
  async cancelWaiting(listId: string): Promise<void> {
    await this.#cancelWaiting(listId).execute();
  }

  /** Returns false, with nothing written, unless the list is running and has nobody left to be called. */
  async complete(listId: string, atMs: number): Promise<boolean> {
    const open = this.#db
      .selectFrom("callListRows")
      .select("position")
      .where("listId", "=", listId)
      .where("state", "in", ["waiting", "calling"]);
    const { numUpdatedRows } = await this.#db
      .updateTable("callLists")
      .set({ ...NOT_HELD, state: "completed", updatedAtMs: atMs })
      .where("id", "=", listId)
      .where("state", "=", "running")
      .where((its) => its.not(its.exists(open)))
      .executeTakeFirstOrThrow();
    return Number(numUpdatedRows) === 1;
  }

  async #ends(callIds: readonly string[], nowMs: number): Promise<ReadonlyMap<string, StoredEnd>> {
    if (callIds.length === 0) return new Map();
    const rows = await this.#db
      .selectFrom("calls")
      .select(["id", "status", "durationSec", "endedAtMs", "metadata"])
      .where("id", "in", callIds)
      .execute();
    return new Map(
      rows.map(({ id, status, durationSec, endedAtMs, metadata }) => {
        const stored = readJson("calls.metadata", StoredEnding, metadata);
        const { endReason, voicemail, continuedBy, answerer } = stored;
        // A placed call that never reached its agent has failed, and its record has no duration.
        const wasConnected = status === "completed" || (durationSec ?? 0) > 0;
        const isOpen = answerer !== undefined && answerer.kind !== "person";
        const agoMs = nowMs - (endedAtMs ?? nowMs);
        // An end that seems to be in the future is of a clock that was wrong.
        const isRecent = agoMs >= 0 && agoMs < CONTINUED_WITHIN_MS;
        const isFollowed = continuedBy !== undefined || FINAL_ENDS.has(endReason);
        const mayGoOn = isOpen && isRecent && !isFollowed;
        return [
          id,
          { endReason, messageLeft: voicemail.messageLeft, wasConnected, continuedBy, mayGoOn },
        ];
      }),
    );
  }

  #cancelWaiting(listId: string) {
    return this.#db
      .updateTable("callListRows")
      .set({ state: "cancelled" })
      .where("listId", "=", listId)
      .where("state", "=", "waiting");
  }

  #counts() {
    return this.#db
      .selectFrom("callListRows")
      .innerJoin("callLists", "callLists.id", "callListRows.listId")
      .select((its) => [
        "callListRows.listId",
        "callListRows.state",
        its.fn.countAll<number>().as("count"),
      ])
      .groupBy(["callListRows.listId", "callListRows.state"]);
  }

  /** As one parameter: a statement with a parameter for each value takes far longer to build. */
  #rowsInsert(
    { id, orgId }: Pick<CallListRecord, "id" | "orgId">,
    rows: readonly NewCallListRow[],
    before: number,
  ): Compilable {
    const values = JSON.stringify(
      rows.map(({ number, timeZones, variables }, index) => [
        before + index + 1,
        number,
        timeZones,
        JSON.stringify(variables),
      ]),
    );
    const columns = sql.join(
      [
        "listId",
        "orgId",
        "state",
        "attempts",
        "nextAtMs",
        "refusals",
        "position",
        "number",
        "timeZones",
        "variables",
      ].map((name) => sql.ref(name)),
    );
    const fixed = sql`${id}, ${orgId}, 'waiting', 0, 0, 0`;
    const query =
      this.#writers === "one"
        ? sql`insert into "callListRows" (${columns}) select ${fixed},
            json_extract(value, '$[0]'), json_extract(value, '$[1]'), json_extract(value, '$[2]'),
            json_extract(value, '$[3]') from json_each(${values})`
        : sql`insert into "callListRows" (${columns}) select ${fixed},
            (value->>0)::integer, value->>1, value->>2, value->>3
            from json_array_elements(${values}::json) as value`;
    return { compile: () => query.compile(this.#db) };
  }
}

/**
 * The statements that claim a row for a call, to be committed with the job of the call: the list is still running and has a
 * place, nothing was placed for the row meanwhile, and no other list is calling the person. The first claim of a row places its call, and later claims fail.
 */
export function rowClaim(
  db: Kysely<Tables>,
  { listId, position, attempts }: RowClaim,
  call: { readonly callId: string; readonly atMs: number },
): { readonly guard: Compilable; readonly claim: Compilable } {
  const { callId, atMs } = call;
  // Claims of one list come one after the other, so that each sees the others.
  const guard = db
    .updateTable("callLists")
    .set((its) => ({ claimCount: its("claimCount", "+", 1) }))
    .where("id", "=", listId)
    .where("state", "=", "running");
  const callsMax = db.selectFrom("callLists").select("callsMax").where("id", "=", listId);
  const claim = db
    .updateTable("callListRows")
    .set((its) => ({
      state: "calling" as const,
      attempts: its("attempts", "+", 1),
      callId,
      calledAtMs: atMs,
      reason: null,
    }))
    .where("listId", "=", listId)
    .where("position", "=", position)
    .where("state", "=", "waiting")
    .where("attempts", "=", attempts)
    .where((its) =>
      its(
        its
          .selectFrom("callListRows as others")
          .select((others) => others.fn.countAll<number>().as("count"))
          .where("others.listId", "=", listId)
          .where("others.state", "=", "calling"),
        "<",
        callsMax,
      ),
    )
    .where((its) => {
      const isSame = its
        .selectFrom("callListRows as same")
        .select("same.position")
        .whereRef("same.orgId", "=", "callListRows.orgId")
        .whereRef("same.number", "=", "callListRows.number")
        // With a parameter, the database may not use the partial index.
        .where("same.state", "=", sql.lit("calling"));
      return its.not(its.exists(isSame));
    });
  return { guard, claim };
}

/** A record that has been removed says nothing, and a call that was connected once has reached its agent. */
function laterOutcome(earlier: PlacedOutcome | undefined, later: PlacedOutcome): PlacedOutcome {
  if (earlier === undefined) return later;
  if (later.kind === "notPlaced") return earlier;
  const wasConnected = earlier.kind === "ended" && earlier.wasConnected;
  return later.kind === "ended" && wasConnected ? { ...later, wasConnected } : later;
}

function listOf(row: Selectable<Tables["callLists"]>): CallListRecord {
  const { sequence: _sequence, claimCount: _placed, ...list } = row;
  return {
    ...list,
    detectMachine: row.detectMachine === 1,
    windows: readJson("callLists.windows", Windows, row.windows),
    retries: readJson("callLists.retries", Retries, row.retries),
  };
}

function rowOf(row: Selectable<Tables["callListRows"]>): CallListRowRecord {
  const { orgId: _orgId, ...rest } = row;
  return { ...rest, variables: readJson("callListRows.variables", Variables, row.variables) };
}

function countsOf(
  listId: string,
  rows: readonly {
    readonly listId: string;
    readonly state: CallListRowState;
    readonly count: number;
  }[],
): CallListCounts {
  const counts: Record<CallListRowState, number> = { ...NO_ROWS };
  for (const row of rows) {
    if (row.listId === listId) counts[row.state] = Number(row.count);
  }
  return counts;
}
