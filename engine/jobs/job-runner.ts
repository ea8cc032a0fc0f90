import { type ClaimedJob, JOB_KINDS, type JobKind } from "../../storage/jobs/job-record.js";
import type { JobStore } from "../../storage/jobs/job-store.js";
import type { Logger } from "../log.js";
import type { CancelTimer, Clock } from "../time/clock.js";
import { within } from "../time/deadline.js";

/** A process that does not renew its leases for this long loses its jobs to the others. */
const LEASE_MS = 30_000;
const HEARTBEAT_MS = 10_000;
/** Queues that are read at a time. */
const QUEUES_PER_PAGE = 100;
/** From one look to the next while what is due may not run yet. */
const POLL_AGAIN_MS = 1_000;
/** Another server may have died with jobs that this one has not heard of. */
const POLL_MAX_MS = 60_000;
const PURGE_PERIOD_MS = 60 * 60 * 1_000;
const COUNT_PERIOD_MS = 15_000;
/** How long failed jobs are kept for people. */
export const FAILED_JOBS_KEPT_MS = 30 * 24 * 60 * 60 * 1_000;

export type JobOutcome =
  | { readonly kind: "done" }
  /** Once more, after `afterMs` where that is longer than the handler's own delay. */
  | { readonly kind: "retry"; readonly error: string; readonly afterMs?: number }
  /** Given up. */
  | { readonly kind: "failed"; readonly error: string };

export interface JobHandler {
  /** At the same time, of all queues together. */
  readonly runningMax: number;
  readonly triesMax: number;
  /** At the same time, of this queue; 0 while it is paused. */
  runningPerQueue(queue: string): number;
  /** From the try that failed, the first is 1, to the next. */
  delayMs(tries: number): number;
  /** What it throws is a failed try. Stops when the signal aborts, after which it may return anything. */
  run(job: ClaimedJob, signal: AbortSignal): Promise<JobOutcome>;
}

export interface FixedLimits {
  readonly runningMax: number;
  readonly runningPerQueueMax: number;
  /** From each failed try to the next; after the last one there is one more try. */
  readonly delaysMs: readonly number[];
}

/** A handler whose limits and delays never change. */
export abstract class FixedLimitsJob implements JobHandler {
  readonly runningMax: number;
  readonly triesMax: number;
  readonly #limits: FixedLimits;

  constructor(limits: FixedLimits) {
    this.#limits = limits;
    this.runningMax = limits.runningMax;
    this.triesMax = limits.delaysMs.length + 1;
  }

  runningPerQueue(): number {
    return this.#limits.runningPerQueueMax;
  }

  delayMs(tries: number): number {
    return this.#limits.delaysMs[tries - 1] ?? 0;
  }

  abstract run(job: ClaimedJob, signal: AbortSignal): Promise<JobOutcome>;
}

export interface JobMeter {
  jobFailed(kind: JobKind): void;
  jobsCounted(counts: Awaited<ReturnType<JobStore["counts"]>>, nowMs: number): void;
}

export interface JobRunnerOptions {
  readonly store: JobStore;
  /** A kind without a handler stays queued. */
  readonly handlers: Readonly<Partial<Record<JobKind, JobHandler>>>;
  /** Names this run of the process. */
  readonly owner: string;
  /** Whether no other process can have claimed jobs. */
  readonly isAlone: boolean;
  readonly meter: JobMeter;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Runs durable jobs in the process that owns the database: looks when jobs are added, when one is over, and when the next
 * is due. A job may run twice where its process loses its lease, and what the first run finds out then changes nothing.
 */
export class JobRunner {
  readonly #options: JobRunnerOptions;
  readonly #running = new Map<string, { readonly job: ClaimedJob; readonly over: Promise<void> }>();
  readonly #abort = new AbortController();
  /** The queue that was given a place last. */
  #lastQueue = "";
  #isPolling = false;
  #mustPollAgain = false;
  #isClosing = false;
  #isFailing = false;
  #cancelPoll: CancelTimer = () => {};
  #upkeep: readonly CancelTimer[] = [];

  constructor(options: JobRunnerOptions) {
    this.#options = options;
  }

  start(): void {
    const { store, clock, isAlone } = this.#options;
    store.added.onAdded(() => this.#wake());
    this.#upkeep = [
      clock.every(HEARTBEAT_MS, () => this.#beat()),
      clock.every(PURGE_PERIOD_MS, () => this.#purge()),
      clock.every(COUNT_PERIOD_MS, () => this.#count()),
    ];
    // No process holds the leases of an earlier run of the only server.
    const begin = isAlone
      ? store.takeOver(clock.epochMs(), Number.MAX_SAFE_INTEGER)
      : Promise.resolve(0);
    void begin.catch((error: unknown) => this.#onPollFailed(error)).then(() => this.#wake());
    this.#count();
  }

  get runningCount(): number {
    return this.#running.size;
  }

  /** Claims nothing more; what has not ended by `timeoutMs` is stopped and queued again. */
  async close(timeoutMs: number): Promise<void> {
    const { store, clock } = this.#options;
    this.#isClosing = true;
    store.added.onAdded(() => {});
    this.#cancelPoll();
    for (const cancel of this.#upkeep) cancel();
    const over = () => Promise.all([...this.#running.values()].map((each) => each.over));
    await within(clock, timeoutMs, over());
    this.#abort.abort();
    await over();
  }

  #wake(): void {
    if (this.#isClosing) return;
    if (this.#isPolling) {
      this.#mustPollAgain = true;
      return;
    }
    this.#isPolling = true;
    this.#cancelPoll();
    void this.#poll();
  }

  async #poll(): Promise<void> {
    let delayMs = POLL_AGAIN_MS;
    try {
      do {
        this.#mustPollAgain = false;
        delayMs = await this.#claimDue();
      } while (this.#mustPollAgain && !this.#isClosing);
      this.#isFailing = false;
    } catch (error) {
      this.#onPollFailed(error);
    }
    this.#isPolling = false;
    if (this.#isClosing) return;
    this.#cancelPoll = this.#options.clock.after(delayMs, () => this.#wake());
  }

  /** Says how long nothing more is due. */
  async #claimDue(): Promise<number> {
    const { store, clock } = this.#options;
    await store.takeOver(clock.epochMs());
    // What is behind the last one comes first: those before it would get every place of their kind.
    const last = this.#lastQueue;
    await this.#claimFrom(last, undefined);
    if (last !== "") await this.#claimFrom("", last);
    const nextAtMs = (await store.nextAtMs()) ?? Number.POSITIVE_INFINITY;
    return Math.min(POLL_MAX_MS, Math.max(POLL_AGAIN_MS, nextAtMs - clock.epochMs()));
  }

  async #claimFrom(after: string, last: string | undefined): Promise<void> {
    const { store, clock } = this.#options;
    for (let from = after; !this.#isClosing; ) {
      const queues = await store.queues(from, QUEUES_PER_PAGE);
      for (const { queue, runAfterMs } of queues) {
        if (runAfterMs <= clock.epochMs()) await this.#claimOf(queue);
        if (queue === last) return;
      }
      from = queues.at(-1)?.queue ?? "";
      if (queues.length < QUEUES_PER_PAGE) return;
    }
  }

  async #claimOf(queue: string): Promise<void> {
    const { store, handlers, owner, clock } = this.#options;
    const kind = JOB_KINDS.find((each) => queue.startsWith(`${each}:`));
    const handler = kind && handlers[kind];
    if (handler === undefined || this.#isClosing) return;
    const running = [...this.#running.values()];
    const ofKind = running.filter(({ job }) => job.kind === kind).length;
    const ofQueue = running.filter(({ job }) => job.queue === queue).length;
    const limit = Math.min(handler.runningMax - ofKind, handler.runningPerQueue(queue) - ofQueue);
    if (limit <= 0) return;
    const nowMs = clock.epochMs();
    const claim = { queue, owner, nowMs, leaseUntilMs: nowMs + LEASE_MS, limit };
    const jobs = await store.claim(claim);
    if (jobs.length > 0) this.#lastQueue = queue;
    for (const job of jobs) {
      const over = this.#run(job, handler).finally(() => {
        this.#running.delete(job.id);
        this.#wake();
      });
      this.#running.set(job.id, { job, over });
    }
  }

  async #run(job: ClaimedJob, handler: JobHandler): Promise<void> {
    const { log } = this.#options;
    const { id: jobId, kind, orgId } = job;
    let outcome: JobOutcome;
    try {
      outcome = await handler.run(job, this.#abort.signal);
    } catch (error) {
      if (!this.#abort.signal.aborted) log.warn({ jobId, kind, orgId, error }, "a job failed");
      outcome = { kind: "retry", error: "internal error" };
    }
    try {
      await this.#settle(job, handler, outcome);
    } catch (error) {
      log.warn({ jobId, kind, error }, "failed to store the outcome of a job; it runs again");
    }
  }

  async #settle(job: ClaimedJob, handler: JobHandler, outcome: JobOutcome): Promise<void> {
    const { store, meter, clock, log } = this.#options;
    const nowMs = clock.epochMs();
    if (outcome.kind === "done") {
      await store.finish(job);
      return;
    }
    if (this.#abort.signal.aborted) {
      await store.postpone(job, { runAfterMs: nowMs, error: null, isTry: false });
      return;
    }
    const { id: jobId, kind, orgId, attempts } = job;
    const { error } = outcome;
    if (outcome.kind === "retry" && attempts < handler.triesMax) {
      const delayMs = Math.max(handler.delayMs(attempts), outcome.afterMs ?? 0);
      await store.postpone(job, { runAfterMs: nowMs + delayMs, error, isTry: true });
      return;
    }
    meter.jobFailed(kind);
    log.warn({ jobId, kind, orgId, attempts, reason: error }, "a job was given up");
    await store.fail(job, error, nowMs);
  }

  #beat(): void {
    if (this.#running.size === 0) return;
    const { store, owner, clock } = this.#options;
    this.#watch(store.heartbeat(owner, clock.epochMs() + LEASE_MS));
  }

  #purge(): void {
    const { store, clock } = this.#options;
    this.#watch(store.purgeFailed(clock.epochMs() - FAILED_JOBS_KEPT_MS));
  }

  #count(): void {
    const { store, meter, clock } = this.#options;
    this.#watch(store.counts().then((counts) => meter.jobsCounted(counts, clock.epochMs())));
  }

  #watch(work: Promise<unknown>): void {
    work.catch((error: unknown) => this.#onPollFailed(error));
  }

  /** Once for each trouble: a database that is away is away for all. */
  #onPollFailed(error: unknown): void {
    if (!this.#isFailing) this.#options.log.warn({ error }, "failed to read or write jobs");
    this.#isFailing = true;
  }
}
