import { type Compilable, type ExpressionBuilder, type Kysely, type Selectable, sql } from "kysely";
import type { AtomicRequests } from "../statements/atomic-requests.js";
import { CompiledStatement } from "../statements/compiled-statement.js";
import { jsonObject, readJson, writeJson } from "../statements/json-column.js";
import type { Tables } from "../tables.js";
import {
  type ClaimedJob,
  JOB_KINDS,
  JOB_STATES,
  type JobKind,
  type JobRecord,
  type JobState,
  type NewJob,
} from "./job-record.js";

/** The largest count: reading the metrics must not scan a million rows. */
export const COUNTED_JOBS_MAX = 10_000;
/** Rows removed per statement, so that a large purge does not delay other requests. */
const PURGED_PER_STEP = 500;
/** Leases extended per statement; the length of a statement is limited. */
const RENEWED_PER_STATEMENT = 32;
/** The stored length of a job's error. */
const ERROR_CHARACTERS_MAX = 500;
/**
 * A claim that was lost with its process does not count as an attempt. Only this many are forgiven, so that a job that
 * crashes its process each time is given up eventually.
 */
export const LOST_CLAIMS_FORGIVEN_MAX = 5;

export interface DueQueue {
  readonly queue: string;
  /** The earliest time at which the queue's first job may run. */
  readonly runAfterMs: number;
}

export interface JobClaim {
  readonly queue: string;
  readonly owner: string;
  readonly nowMs: number;
  readonly leaseUntilMs: number;
  readonly limit: number;
}

export interface NextTimes {
  /** The earliest time at which a queued job may run. */
  readonly queuedAtMs: number | undefined;
  /** When the next lease expires. */
  readonly leaseUntilMs: number | undefined;
}

export interface Finished {
  /** Less than the number of jobs if another process has claimed some of them by now. */
  readonly count: number;
  /** Whether the next job in the lane of a finished one is due. */
  readonly isNextDue: boolean;
}

export interface JobCount {
  readonly kind: JobKind;
  readonly state: JobState;
  /** `COUNTED_JOBS_MAX` means that number or more. */
  readonly count: number;
  readonly oldestAtMs: number | null;
}

// Literals, not parameters: otherwise SQLite does not use the partial indexes.
const QUEUED = sql.lit("queued" as const);
const RUNNING = sql.lit("running" as const);
const FAILED = sql.lit("failed" as const);

/** Returns the insert statement, to be committed with the record that the job is about. */
export function jobInsert(db: Kysely<Tables>, job: NewJob): Compilable {
  return db
    .insertInto("jobs")
    .values({ ...job, payload: writeJson(job.payload), state: "queued", attempts: 0, fence: 0 })
    .onConflict((conflict) => conflict.column("id").doNothing());
}

/**
 * Returns the statement that removes a completed job. It affects no row if another process has claimed the job by now.
 */
export function jobDone(db: Kysely<Tables>, job: ClaimedJob) {
  return db
    .deleteFrom("jobs")
    .where("id", "=", job.id)
    .where("state", "=", RUNNING)
    .where("fence", "=", job.fence);
}

/** Matches the jobs that this process still holds. Their number is limited, since each lengthens the statement. */
function stillClaimed(jobs: readonly ClaimedJob[]) {
  return (its: ExpressionBuilder<Tables, "jobs">) =>
    its.and([
      its("state", "=", RUNNING),
      its.or(jobs.map(({ id, fence }) => its.and([its("id", "=", id), its("fence", "=", fence)]))),
    ]);
}

/** Like `jobDone`, but keeps the job as failed, for an operator to see. */
export function jobFailure(db: Kysely<Tables>, job: ClaimedJob, error: string, atMs: number) {
  return db
    .updateTable("jobs")
    .set({
      state: "failed",
      leaseBy: null,
      leaseUntilMs: null,
      lastError: bounded(error),
      failedAtMs: atMs,
    })
    .where("id", "=", job.id)
    .where("state", "=", RUNNING)
    .where("fence", "=", job.fence);
}

/** Returns the statement that removes a queued job that is no longer needed. */
export function jobRemoval(db: Kysely<Tables>, id: string) {
  return db.deleteFrom("jobs").where("id", "=", id).where("state", "=", QUEUED);
}

/** Returns the statement that removes a job that was given up. */
export function failedJobRemoval(db: Kysely<Tables>, id: string) {
  return db.deleteFrom("jobs").where("id", "=", id).where("state", "=", FAILED);
}

/**
 * Returns the statement that touches a queued job, so that no other transaction removes it before the commit. It
 * affects no row if the job is no longer queued.
 */
export function jobHold(db: Kysely<Tables>, id: string): Compilable {
  return db
    .updateTable("jobs")
    .set((its) => ({ fence: its.ref("fence") }))
    .where("id", "=", id)
    .where("state", "=", QUEUED);
}

/** Returns the statement that makes the queued jobs of these queues due now. */
export function jobsDueNow(
  db: Kysely<Tables>,
  queues: { readonly from: string; readonly before: string; readonly except?: string },
  nowMs: number,
) {
  return db
    .updateTable("jobs")
    .set({ runAfterMs: nowMs })
    .where("state", "=", QUEUED)
    .where("queue", ">=", queues.from)
    .where("queue", "<", queues.before)
    .where("queue", "!=", queues.except ?? "")
    .where("runAfterMs", ">", nowMs);
}

/** Notifies the job runner of added jobs, so that it runs them at once. */
export class JobsAdded {
  #notify: () => void = () => {};

  /** Sets the function that is called after this process has added jobs. */
  onAdded(notify: () => void): void {
    this.#notify = notify;
  }

  notify(): void {
    this.#notify();
  }
}

/** Durable jobs: queued, claimed with a lease, and then removed when done or kept when failed. */
export class JobStore {
  /** Notifies the runner of new jobs. */
  readonly added: JobsAdded;
  readonly #db: Kysely<Tables>;
  readonly #atomic: AtomicRequests;
  /** The runner looks all the time. */
  readonly #queues: ReturnType<typeof queuesOf>;
  readonly #claim: ReturnType<typeof claimOf>;
  readonly #nextTimes: readonly [NextTime, NextTime];

  constructor(db: Kysely<Tables>, atomic: AtomicRequests, added: JobsAdded) {
    this.#db = db;
    this.#queues = queuesOf(db);
    this.#claim = claimOf(db);
    this.#nextTimes = [
      nextTimeOf(db, "runAfterMs", QUEUED),
      nextTimeOf(db, "leaseUntilMs", RUNNING),
    ];
    this.#atomic = atomic;
    this.added = added;
  }

  async add(jobs: readonly NewJob[]): Promise<void> {
    await this.#atomic.run(jobs.map((job) => jobInsert(this.#db, job)));
    this.added.notify();
  }

  /**
   * Lists the queues that have queued jobs, by name and starting behind `after`, with the time of each queue's first
   * job.
   */
  async queues(after: string, limit: number): Promise<readonly DueQueue[]> {
    const [{ rows }] = await this.#atomic.run([this.#queues.with({ after, limit })]);
    return rows;
  }

  /** Claims due jobs of a queue, oldest first, and only the first job of each lane. */
  async claim(claim: JobClaim): Promise<ClaimedJob[]> {
    const [{ rows }] = await this.#atomic.run([this.#claim.with(claim)]);
    return rows
      .toSorted((one, other) => one.sequence - other.sequence)
      .map((row) => ({ ...recordOf(row), fence: row.fence }));
  }
  /**
   * Extends the leases of these claims only, so that the leases of claims that the process has lost or given up expire.
   * Returns the ids of the jobs that are still claimed.
   */
  async heartbeat(jobs: readonly ClaimedJob[], leaseUntilMs: number): Promise<ReadonlySet<string>> {
    const statements = [];
    for (let from = 0; from < jobs.length; from += RENEWED_PER_STATEMENT) {
      statements.push(
        this.#db
          .updateTable("jobs")
          .set({ leaseUntilMs })
          .where(stillClaimed(jobs.slice(from, from + RENEWED_PER_STATEMENT)))
          .returning("id"),
      );
    }
    const results = await this.#atomic.run(statements);
    return new Set(results.flatMap(({ rows }) => rows.map(({ id }) => id)));
  }

  /**
   * Requeues the jobs whose leases ended before `leasesBeforeMs`, by default now, and returns their number. The lost
   * claim counts as an attempt only after `LOST_CLAIMS_FORGIVEN_MAX` of them.
   */
  async takeOver(nowMs: number, leasesBeforeMs = nowMs): Promise<number> {
    const { numUpdatedRows } = await this.#db
      .updateTable("jobs")
      .set((its) => ({
        state: "queued",
        leaseBy: null,
        leaseUntilMs: null,
        runAfterMs: nowMs,
        // `fence` counts all claims, `attempts` only those that count as attempts.
        attempts: its
          .case()
          .when(its("fence", "-", its.ref("attempts")), "<", sql.lit(LOST_CLAIMS_FORGIVEN_MAX))
          .then(its("attempts", "-", 1))
          .else(its.ref("attempts"))
          .end(),
      }))
      .where("state", "=", RUNNING)
      .where("leaseUntilMs", "<", leasesBeforeMs)
      .executeTakeFirstOrThrow();
    return Number(numUpdatedRows);
  }

  /** Requeues jobs that were claimed but not started, as if they had never been claimed. */
  async release(jobs: readonly ClaimedJob[]): Promise<void> {
    await this.#db
      .updateTable("jobs")
      .set((its) => ({
        state: "queued",
        leaseBy: null,
        leaseUntilMs: null,
        attempts: its("attempts", "-", 1),
        // Nothing was written under the fence of a claim that was not started, so the next claim may reuse it.
        fence: its("fence", "-", 1),
      }))
      .where(stillClaimed(jobs))
      .execute();
  }

  /** Removes completed jobs, in one commit with the statements in `beside`. */
  async finish(
    jobs: readonly ClaimedJob[],
    nowMs: number,
    beside: readonly Compilable[] = [],
  ): Promise<Finished> {
    const lanes = jobs.map(({ lane }) => lane).filter((lane) => lane !== null);
    const behind = this.#db
      .selectFrom("jobs")
      .select("sequence")
      .where("lane", "in", lanes)
      .where("state", "=", QUEUED)
      .where("runAfterMs", "<=", nowMs)
      .limit(1);
    const [{ changes: count }, ...others] = await this.#atomic.run([
      this.#db.deleteFrom("jobs").where(stillClaimed(jobs)),
      ...beside,
      ...(lanes.length === 0 ? [] : [behind]),
    ]);
    const isNextDue = lanes.length > 0 && (others.at(-1)?.rows.length ?? 0) > 0;
    return { count, isNextDue };
  }

  /** Requeues the job; the jobs behind it in its lane wait as long. `isTry`: whether the attempt counts. */
  async postpone(
    job: ClaimedJob,
    { runAfterMs, error, isTry }: { runAfterMs: number; error: string | null; isTry: boolean },
  ): Promise<void> {
    const again = this.#db
      .updateTable("jobs")
      .set({
        state: "queued",
        leaseBy: null,
        leaseUntilMs: null,
        runAfterMs,
        ...(error === null ? {} : { lastError: bounded(error) }),
        ...(isTry ? {} : { attempts: job.attempts - 1 }),
      })
      .where("id", "=", job.id)
      .where("state", "=", RUNNING)
      .where("fence", "=", job.fence);
    const behind = this.#db
      .updateTable("jobs")
      .set({ runAfterMs })
      .where("lane", "=", job.lane)
      .where("state", "=", QUEUED)
      .where("runAfterMs", "<", runAfterMs);
    await this.#atomic.runIf(again, job.lane === null ? [] : [behind]);
  }

  /** Gives the job up but keeps it, for an operator to see. The next job of its lane may run. */
  async fail(job: ClaimedJob, error: string, atMs: number): Promise<void> {
    const failure = jobFailure(this.#db, job, error, atMs);
    const behind = this.#db
      .updateTable("jobs")
      .set({ runAfterMs: atMs })
      .where("lane", "=", job.lane)
      .where("state", "=", QUEUED);
    await this.#atomic.runIf(failure, job.lane === null ? [] : [behind]);
  }

  async nextTimes(): Promise<NextTimes> {
    const [first, second] = this.#nextTimes;
    const [queued, running] = await this.#atomic.run([first.with({}), second.with({})]);
    const [queuedAtMs, leaseUntilMs] = [queued, running].map(({ rows }) => {
      const atMs = rows[0]?.atMs ?? undefined;
      return atMs === undefined ? undefined : Number(atMs);
    });
    return { queuedAtMs, leaseUntilMs };
  }

  /** Lists the organization's jobs in that state, newest first. */
  async list(
    orgId: string,
    { state, skip, limit }: { state: JobState; skip: number; limit: number },
  ): Promise<JobRecord[]> {
    const rows = await this.#db
      .selectFrom("jobs")
      .selectAll()
      .where("orgId", "=", orgId)
      .where("state", "=", state)
      .orderBy("sequence", "desc")
      .limit(limit)
      .offset(skip)
      .execute();
    return rows.map(recordOf);
  }

  /** Requeues a failed job with all its attempts. Returns false if the organization has no such failed job. */
  async retry(orgId: string, id: string, nowMs: number): Promise<boolean> {
    const { numUpdatedRows } = await this.#db
      .updateTable("jobs")
      .set({ state: "queued", runAfterMs: nowMs, attempts: 0, failedAtMs: null })
      .where("id", "=", id)
      .where("orgId", "=", orgId)
      .where("state", "=", FAILED)
      .executeTakeFirstOrThrow();
    this.added.notify();
    return numUpdatedRows > 0n;
  }

  /** Removes jobs that failed before this time. Returns their number. */
  async purgeFailed(beforeMs: number): Promise<number> {
    let purged = 0;
    for (;;) {
      const old = this.#db
        .selectFrom("jobs")
        .select("sequence")
        .where("state", "=", FAILED)
        .where("failedAtMs", "<", beforeMs)
        .limit(PURGED_PER_STEP);
      const { numDeletedRows } = await this.#db
        .deleteFrom("jobs")
        .where("sequence", "in", old)
        .executeTakeFirstOrThrow();
      purged += Number(numDeletedRows);
      if (numDeletedRows < PURGED_PER_STEP) return purged;
    }
  }

  /** The number of jobs of each kind in each state, for the metrics. */
  async counts(): Promise<readonly JobCount[]> {
    const about = JOB_KINDS.flatMap((kind) => JOB_STATES.map((state) => ({ kind, state })));
    const results = await this.#atomic.run(
      about.map(({ kind, state }) =>
        this.#db
          .selectFrom(
            this.#db
              .selectFrom("jobs")
              .select("createdAtMs")
              .where("kind", "=", kind)
              .where("state", "=", state)
              .orderBy("createdAtMs")
              .limit(COUNTED_JOBS_MAX)
              .as("first"),
          )
          .select((its) => [
            its.fn.countAll<number>().as("count"),
            its.fn.min("createdAtMs").as("oldestAtMs"),
          ]),
      ),
    );
    return about.map((each, index) => {
      const row = results[index]?.rows[0];
      return { ...each, count: Number(row?.count ?? 0), oldestAtMs: row?.oldestAtMs ?? null };
    });
  }
}

/** Steps from one queue to the next in the index, however many jobs each has. */
function queuesOf(db: Kysely<Tables>) {
  const next = (bound: ReturnType<typeof sql>) =>
    sql`select min(jobs.queue) from jobs where jobs.state = 'queued' and jobs.queue > ${bound}`;
  return new CompiledStatement<{ readonly after: string; readonly limit: number }, DueQueue>(
    (value) => {
      const queues = sql<DueQueue>`with recursive steps(queue) as (
        ${next(sql`${value("after")}`)} union all
        select (${next(sql`steps.queue`)}) from steps where steps.queue is not null)
      select queue, (select min(${sql.ref("runAfterMs")}) from jobs
        where jobs.state = 'queued' and jobs.queue = steps.queue) as ${sql.ref("runAfterMs")}
      from steps where queue is not null limit ${value("limit")}`;
      return { compile: () => queues.compile(db) };
    },
  );
}

type NextTime = ReturnType<typeof nextTimeOf>;

function nextTimeOf(
  db: Kysely<Tables>,
  column: "runAfterMs" | "leaseUntilMs",
  state: typeof QUEUED | typeof RUNNING,
) {
  return new CompiledStatement(() =>
    db
      .selectFrom("jobs")
      .select((its) => its.fn.min(column).as("atMs"))
      .where("state", "=", state),
  );
}

function claimOf(db: Kysely<Tables>) {
  return new CompiledStatement<JobClaim, Selectable<Tables["jobs"]>>((value) => {
    const due = db
      .selectFrom("jobs as due")
      .select("due.sequence")
      .where("due.state", "=", QUEUED)
      .where("due.queue", "=", value("queue"))
      .where("due.runAfterMs", "<=", value("nowMs"))
      .where((its) =>
        its.or([
          its("due.lane", "is", null),
          its.not(
            its.exists(
              its
                .selectFrom("jobs as earlier")
                .select("earlier.sequence")
                .whereRef("earlier.lane", "=", "due.lane")
                .whereRef("earlier.sequence", "<", "due.sequence")
                .where("earlier.state", "!=", FAILED),
            ),
          ),
        ]),
      )
      .orderBy("due.runAfterMs")
      .orderBy("due.sequence")
      .limit(value("limit"));
    return (
      db
        .updateTable("jobs")
        .set((its) => ({
          state: "running" as const,
          leaseBy: value("owner"),
          leaseUntilMs: value("leaseUntilMs"),
          fence: its("fence", "+", 1),
          attempts: its("attempts", "+", 1),
        }))
        .where("sequence", "in", due)
        // Another server may have claimed it in between.
        .where("state", "=", QUEUED)
        .returningAll()
    );
  });
}

function bounded(error: string): string {
  return error.slice(0, ERROR_CHARACTERS_MAX);
}

function recordOf(row: Selectable<Tables["jobs"]>): JobRecord {
  return {
    id: row.id,
    orgId: row.orgId,
    kind: row.kind,
    queue: row.queue,
    lane: row.lane,
    payload: readJson("jobs.payload", jsonObject, row.payload),
    state: row.state,
    runAfterMs: row.runAfterMs,
    attempts: row.attempts,
    lastError: row.lastError,
    createdAtMs: row.createdAtMs,
    failedAtMs: row.failedAtMs,
  };
}
