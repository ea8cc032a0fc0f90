import { type Compilable, type Kysely, type Selectable, sql } from "kysely";
import { analysisJob, analysisRunJob, type ClaimedJob, type NewJob } from "../jobs/job-record.js";
import { type JobsAdded, jobDone, jobFailure, jobInsert } from "../jobs/job-store.js";
import type { CallAnalysis } from "../records.js";
import type { AtomicRequests } from "../statements/atomic-requests.js";
import { writeJson } from "../statements/json-column.js";
import type { Tables } from "../tables.js";
import type { EventOutbox } from "../webhooks/event-outbox.js";
import type { NewEvent } from "../webhooks/event-record.js";
import { analysisColumns } from "./call-rows.js";

/** The number of a run's calls whose jobs are stored in one step. */
const CALLS_PER_STEP = 200;

export interface NewAnalysisRun {
  readonly id: string;
  readonly orgId: string;
  readonly agentId: string;
  /** The range of the calls' start times. */
  readonly fromMs: number;
  readonly toMs: number;
  /** The maximum number of calls, newest first. */
  readonly callsMax: number;
  readonly createdAtMs: number;
}

export interface AnalysisRun extends NewAnalysisRun {
  /** False while more calls may follow. */
  readonly isListed: boolean;
  readonly calls: number;
  readonly completed: number;
  readonly failed: number;
  /** Calls that were too short, or in which the caller said nothing. */
  readonly skipped: number;
}

/** The outcome of an analysis, stored with the end of its job. */
export interface AnalysisOutcome {
  readonly callId: string;
  /** Undefined if the call was skipped. */
  readonly analysis: CallAnalysis | undefined;
  readonly event: NewEvent | undefined;
  /** Undefined if the analysis is not part of a run. */
  readonly runId: string | undefined;
}

/** Stores the job only if the agent's calls are analyzed. */
export function jobInsertWhereAnalyzed(
  db: Kysely<Tables>,
  { id, orgId, kind, queue, payload, runAfterMs, createdAtMs }: NewJob,
  agentId: string,
): Compilable {
  const names = ["id", "orgId", "kind", "queue", "payload", "state", "runAfterMs"];
  const columns = sql.join(
    [...names, "attempts", "fence", "createdAtMs"].map((each) => sql.ref(each)),
  );
  const insert = sql`insert into jobs (${columns})
    select ${id}, ${orgId}, ${kind}, ${queue}, ${writeJson(payload)}, 'queued', ${runAfterMs}, 0, 0, ${createdAtMs}
    from agents where ${sql.ref("id")} = ${agentId} and ${sql.ref("orgId")} = ${orgId}
      and ${sql.ref("analysis")} is not null
    on conflict (id) do nothing`;
  return { compile: () => insert.compile(db) };
}

/** Analyses of calls, and the runs that analyze past calls. */
export class AnalysisStore {
  readonly #db: Kysely<Tables>;
  readonly #atomic: AtomicRequests;
  readonly #outbox: EventOutbox;
  readonly #added: JobsAdded;

  constructor(db: Kysely<Tables>, atomic: AtomicRequests, outbox: EventOutbox, added: JobsAdded) {
    this.#db = db;
    this.#atomic = atomic;
    this.#outbox = outbox;
    this.#added = added;
  }

  /** Ends the job and stores its result, both or nothing: false if another process has the job by now. */
  async finish(job: ClaimedJob, outcome: AnalysisOutcome): Promise<boolean> {
    return this.#end(jobDone(this.#db, job), outcome);
  }

  /** Like `finish`, but keeps the job, which has failed permanently. */
  async fail(
    job: ClaimedJob,
    outcome: AnalysisOutcome,
    error: string,
    atMs: number,
  ): Promise<boolean> {
    return this.#end(jobFailure(this.#db, job, error, atMs), outcome);
  }

  async #end(
    guard: Compilable,
    { callId, analysis, event, runId }: AnalysisOutcome,
  ): Promise<boolean> {
    const isStored = await this.#atomic.runIf(guard, [
      ...(analysis === undefined
        ? []
        : [this.#db.updateTable("calls").set(analysisColumns(analysis)).where("id", "=", callId)]),
      ...(event === undefined ? [] : this.#outbox.statements(event)),
      ...(runId === undefined ? [] : [this.#counted(runId, analysis)]),
    ]);
    if (isStored && event !== undefined) this.#added.notify();
    return isStored;
  }

  /** A job that failed and was then retried by a user is counted once. */
  #counted(runId: string, analysis: CallAnalysis | undefined) {
    const counter = analysis?.status ?? "skipped";
    return this.#db
      .updateTable("analysisRuns")
      .set((its) => ({ [counter]: its(counter, "+", 1) }))
      .where("id", "=", runId)
      .where(sql<boolean>`completed + failed + skipped < calls`);
  }

  /** Stores the run with the job that lists its calls. Returns false if the agent already has a run in progress. */
  async addRun(run: NewAnalysisRun): Promise<boolean> {
    const values = [run.id, run.orgId, run.agentId, run.fromMs, run.toMs, run.callsMax];
    const names = ["id", "orgId", "agentId", "fromMs", "toMs", "callsMax", "createdAtMs"];
    const columns = sql.join(
      [...names, "isListed", "calls", "completed", "failed", "skipped"].map((each) =>
        sql.ref(each),
      ),
    );
    const insert = sql`insert into ${sql.table("analysisRuns")} (${columns})
      select ${sql.join(values)}, ${run.createdAtMs}, 0, 0, 0, 0, 0 where not exists (
        select 1 from ${sql.table("analysisRuns")}
        where ${sql.ref("orgId")} = ${run.orgId} and ${sql.ref("agentId")} = ${run.agentId}
          and (${sql.ref("isListed")} = 0 or completed + failed + skipped < calls))`;
    const isAdded = await this.#atomic.runIf({ compile: () => insert.compile(this.#db) }, [
      jobInsert(this.#db, analysisRunJob(run.orgId, run.id, run.createdAtMs)),
    ]);
    if (isAdded) this.#added.notify();
    return isAdded;
  }

  /** Returns the newest first. */
  async listRuns(orgId: string, agentId: string, limit: number): Promise<AnalysisRun[]> {
    const rows = await this.#db
      .selectFrom("analysisRuns")
      .selectAll()
      .where("orgId", "=", orgId)
      .where("agentId", "=", agentId)
      .orderBy("sequence", "desc")
      .limit(limit)
      .execute();
    return rows.map(runOf);
  }

  /** Stores the jobs of the next calls of a run; false if there are no more, or no such run. */
  async listCalls(orgId: string, runId: string, nowMs: number): Promise<boolean> {
    const run = await this.#db
      .selectFrom("analysisRuns")
      .selectAll()
      .where("id", "=", runId)
      .where("orgId", "=", orgId)
      .executeTakeFirst();
    if (run === undefined || run.isListed === 1) return false;
    const limit = Math.min(CALLS_PER_STEP, run.callsMax - run.calls);
    const calls = await this.#callsAfter(run, limit);
    const last = calls.at(-1);
    const isListed = last === undefined || calls.length < CALLS_PER_STEP;
    const progress = this.#db
      .updateTable("analysisRuns")
      .set({
        isListed: Number(isListed),
        calls: run.calls + calls.length,
        ...(last && { lastStartedAtMs: last.startedAtMs, lastSequence: last.sequence }),
      })
      .where("id", "=", runId)
      // Another process may have listed these calls already.
      .where("calls", "=", run.calls)
      .where("isListed", "=", 0);
    const isStored = await this.#atomic.runIf(
      progress,
      calls.map(({ id }) => jobInsert(this.#db, analysisJob(orgId, id, nowMs, runId))),
    );
    if (isStored) this.#added.notify();
    return isStored && !isListed;
  }

  #callsAfter(run: Selectable<Tables["analysisRuns"]>, limit: number) {
    const { orgId, agentId, fromMs, toMs, lastStartedAtMs, lastSequence } = run;
    return this.#db
      .selectFrom("calls")
      .select(["id", "startedAtMs", "sequence"])
      .where("orgId", "=", orgId)
      .where("agentId", "=", agentId)
      .where("startedAtMs", ">=", fromMs)
      .where("startedAtMs", "<=", lastStartedAtMs ?? toMs)
      .where("status", "!=", "active")
      .$if(lastStartedAtMs !== null, (its) =>
        its.where((call) =>
          call.or([
            call("startedAtMs", "<", lastStartedAtMs ?? toMs),
            call("sequence", "<", lastSequence ?? 0),
          ]),
        ),
      )
      .orderBy("startedAtMs", "desc")
      .orderBy("sequence", "desc")
      .limit(limit)
      .execute();
  }
}

function runOf(row: Selectable<Tables["analysisRuns"]>): AnalysisRun {
  const { id, orgId, agentId, fromMs, toMs, callsMax, createdAtMs } = row;
  const { calls, completed, failed, skipped } = row;
  const isListed = row.isListed === 1;
  const run = { id, orgId, agentId, fromMs, toMs, callsMax, createdAtMs };
  return { ...run, isListed, calls, completed, failed, skipped };
}
