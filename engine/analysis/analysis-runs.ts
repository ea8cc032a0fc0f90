import * as v from "valibot";
import type { AnalysisRun } from "../../storage/calls/call-analyses.js";
import type { Database } from "../../storage/database.js";
import type { ClaimedJob } from "../../storage/jobs/job-record.js";
import { type FixedLimits, FixedLimitsJob, type JobOutcome } from "../jobs/job-runner.js";
import { RequestError } from "../request-error.js";
import type { Clock } from "../time/clock.js";

/** Maximum number of an agent's runs in the list. */
const RUNS_LISTED_MAX = 20;

const LIMITS: FixedLimits = {
  runningMax: 1,
  runningPerQueueMax: 1,
  delaysMs: [1_000, 10_000, 60_000],
};

const Payload = v.object({ runId: v.string() });

export interface RunRequest {
  readonly fromMs: number;
  readonly toMs: number;
  readonly callsMax: number;
}

export interface AnalysisRunsOptions {
  readonly database: Pick<Database, "agents" | "analyses">;
  readonly clock: Clock;
  readonly newId: () => string;
}

/** Analyses of past calls. */
export class AnalysisRuns {
  readonly #options: AnalysisRunsOptions;

  constructor(options: AnalysisRunsOptions) {
    this.#options = options;
  }

  /** RequestError `not_found`; `conflict`: the agent has no analysis, or one of its runs is in progress. */
  async start(
    orgId: string,
    agentId: string,
    { fromMs, toMs, callsMax }: RunRequest,
  ): Promise<AnalysisRun> {
    const { database, clock, newId } = this.#options;
    const { analysis } = await this.#agent(orgId, agentId);
    if (analysis === null) throw new RequestError("conflict", "the agent has no analysis");
    const createdAtMs = clock.epochMs();
    const run = { id: newId(), orgId, agentId, fromMs, toMs, callsMax, createdAtMs };
    if (!(await database.analyses.addRun(run))) {
      throw new RequestError("conflict", "another run of the agent's analysis is in progress");
    }
    return { ...run, isListed: false, calls: 0, completed: 0, failed: 0, skipped: 0 };
  }

  /** Newest first. RequestError `not_found`. */
  async list(orgId: string, agentId: string): Promise<readonly AnalysisRun[]> {
    await this.#agent(orgId, agentId);
    return this.#options.database.analyses.listRuns(orgId, agentId, RUNS_LISTED_MAX);
  }

  async #agent(orgId: string, agentId: string) {
    const agent = await this.#options.database.agents.findById(orgId, agentId);
    if (agent === undefined) throw new RequestError("not_found", "there is no such agent");
    return agent;
  }
}

/** Creates the jobs that analyze the calls of a run, page by page. */
export class AnalysisRunJob extends FixedLimitsJob {
  readonly #options: Pick<AnalysisRunsOptions, "database" | "clock">;

  constructor(options: Pick<AnalysisRunsOptions, "database" | "clock">) {
    super(LIMITS);
    this.#options = options;
  }

  override async run({ orgId, payload }: ClaimedJob, signal: AbortSignal): Promise<JobOutcome> {
    const { database, clock } = this.#options;
    const { runId } = v.parse(Payload, payload);
    while (!signal.aborted) {
      if (!(await database.analyses.listCalls(orgId, runId, clock.epochMs()))) {
        return { kind: "done" };
      }
    }
    return { kind: "retry", error: "the server stops" };
  }
}
