import { Counter, Gauge, Registry } from "prom-client";
import { CALL_LIST_STATES } from "../../storage/calls/call-list-record.js";
import type { CallListStateCount } from "../../storage/calls/call-list-store.js";
import type { JobKind } from "../../storage/jobs/job-record.js";
import type { JobCount } from "../../storage/jobs/job-store.js";
import { REQUEST_ERROR_CODES } from "../../storage/parley-error.js";
import type { Metric } from "./cluster-metrics.js";

/** The metrics of the process that runs durable jobs. */
export class JobMetrics {
  readonly #registry = new Registry();
  readonly #jobs = new Gauge({
    name: "parley_jobs",
    help: "Durable jobs of this database; 10000 means 10000 or more",
    labelNames: ["kind", "state"],
    registers: [this.#registry],
  });
  readonly #age = new Gauge({
    name: "parley_job_age_seconds",
    help: "Age of the oldest job that is queued or running",
    labelNames: ["kind"],
    registers: [this.#registry],
  });
  readonly #failures = new Counter({
    name: "parley_job_failures_total",
    help: "Jobs that failed for good",
    labelNames: ["kind"],
    registers: [this.#registry],
  });

  readonly #callLists = new Gauge({
    name: "parley_call_lists",
    help: "Call lists of this database, by state and by the error code that holds them or none",
    labelNames: ["state", "hold"],
    registers: [this.#registry],
  });

  jobFailed(kind: JobKind): void {
    this.#failures.inc({ kind });
  }

  jobsCounted(counts: readonly JobCount[], nowMs: number): void {
    const oldestByKind = new Map<JobKind, number>();
    for (const { kind, state, count, oldestAtMs } of counts) {
      this.#jobs.set({ kind, state }, count);
      if (state === "failed") continue;
      const ageSec = oldestAtMs === null ? 0 : Math.max(0, nowMs - oldestAtMs) / 1_000;
      oldestByKind.set(kind, Math.max(ageSec, oldestByKind.get(kind) ?? 0));
    }
    for (const [kind, ageSec] of oldestByKind) this.#age.set({ kind }, ageSec);
  }

  callListsCounted(counts: readonly CallListStateCount[]): void {
    this.#callLists.reset();
    for (const state of CALL_LIST_STATES) this.#callLists.set({ state, hold: "none" }, 0);
    for (const { state, holdCode, count } of counts) {
      this.#callLists.inc({ state, hold: holdLabel(holdCode) }, count);
    }
  }

  page(): Promise<readonly Metric[]> {
    return this.#registry.getMetricsAsJSON();
  }
}

/** The codes are a closed list; another version may have stored one that this version does not know. */
function holdLabel(holdCode: string | null): string {
  if (holdCode === null) return "none";
  return Object.hasOwn(REQUEST_ERROR_CODES, holdCode) ? holdCode : "other";
}
