import { type ClaimedJob, JOB_KINDS, type JobKind } from "../../storage/jobs/job-record.js";
import type { DueQueue, Finished, JobStore } from "../../storage/jobs/job-store.js";
import type { Logger } from "../log.js";
import type { CancelTimer, Clock } from "../time/clock.js";
import { within } from "../time/deadline.js";

/** A process that does not renew its leases for this long loses its jobs to the others. */
const LEASE_MS = 30_000;
const HEARTBEAT_MS = 10_000;
/** Queues that are read at a time. */
const QUEUES_PER_PAGE = 100;
/** After jobs of a kind that claims ahead, those that are added within this time are claimed together. */
const COALESCE_MS = 1_000;
/** Jobs that are done are stored together, so many at most, and after this time at the latest. */
const JOBS_PER_COMMIT_MAX = 32;
const FINISHED_MAX_MS = 50;
/** Claimed beyond those that run, of a kind. */
const CLAIMED_AHEAD_MAX = 512;
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
  /** It has more to do, after `afterMs`, which is no failure. */
  | { readonly kind: "again"; readonly afterMs: number }
  /** Given up. */
  | { readonly kind: "failed"; readonly error: string };

export interface JobHandler {
  /** At the same time, of all queues together. */
  readonly runningMax: number;
  readonly triesMax: number;
  /** At the same time, of this queue; 0 while it is paused. */
  runningPerQueue(queue: string): number;
  /** So many more jobs of a queue are claimed at once, and begin as others end. Left out: none, and none waits for others. */
  readonly claimedAheadPerQueue?: number;
  /** Is given what was claimed at once, before the first of it runs. */
  prepare?(jobs: readonly ClaimedJob[]): void;
  /** Stores that these jobs are done. Left out: they are removed. */
  finish?(jobs: readonly ClaimedJob[], nowMs: number): Promise<Finished>;
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

/** A job that this process has claimed and whose outcome is not stored. */
interface Claim {
  readonly job: ClaimedJob;
  readonly handler: JobHandler;
  /** Whether more of its queue may have been due than was claimed with it. */
  readonly isQueueFull: boolean;
  state: "waiting" | "running" | "finished";
  /** Until then no other process has it, by the clock that never steps. */
  leaseEndsAtMs: number;
}

/**
 * Runs durable jobs in the process that owns the database: looks when jobs are added, when one is over, and when the next
 * is due. A job may run twice where its process loses its lease, and what the first run finds out then changes nothing.
 */
export class JobRunner {
  readonly #options: JobRunnerOptions;
  readonly #claims = new Map<string, Claim>();
  readonly #abort = new AbortController();
  /** The queue that was given a place last. */
  #lastQueue = "";
  #isPolling = false;
  /** Another poll follows the one that runs: at once, or as if it had been asked for later. */
  #pollAgain: "no" | "soon" | "now" = "no";
  /** When jobs of a kind that claims ahead were claimed last, by the clock that never steps. */
  #claimedAtMs = Number.NEGATIVE_INFINITY;
  /** No lease of another process is over before. */
  #leaseUntilMs = Number.NEGATIVE_INFINITY;
  #isStoring = false;
  #isCounting = false;
  #isClosing = false;
  #isFailing = false;
  #nextPollAtMs = Number.POSITIVE_INFINITY;
  #cancelPoll: CancelTimer = () => {};
  #cancelStoring: CancelTimer | undefined;
  #onIdle: () => void = () => {};
  #upkeep: readonly CancelTimer[] = [];

  constructor(options: JobRunnerOptions) {
    this.#options = options;
  }

  start(): void {
    const { store, clock, isAlone } = this.#options;
    store.added.onAdded(() => this.#wakeSoon());
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

  /** Jobs that are claimed and whose outcome is not stored yet. */
  get runningCount(): number {
    return this.#claims.size;
  }

  /** Claims nothing more; what has not ended by `timeoutMs` is stopped and queued again. */
  async close(timeoutMs: number): Promise<void> {
    const { store, clock } = this.#options;
    this.#isClosing = true;
    store.added.onAdded(() => {});
    this.#cancelPoll();
    for (const cancel of this.#upkeep) cancel();
    for (const queue of new Set([...this.#claims.values()].map(({ job }) => job.queue))) {
      this.#release(this.#ofQueue(queue, "waiting"));
    }
    const idle = new Promise<void>((resolve) => {
      this.#onIdle = resolve;
    });
    this.#storeFinished();
    this.#noteIdle();
    await within(clock, timeoutMs, idle);
    this.#abort.abort();
    await idle;
  }

  /** Polls at once, or, where jobs were claimed just now, together with what comes next. */
  #wakeSoon(): void {
    if (this.#isClosing) return;
    if (this.#isPolling) {
      if (this.#pollAgain === "no") this.#pollAgain = "soon";
      return;
    }
    const { clock } = this.#options;
    const delayMs = this.#claimedAtMs + COALESCE_MS - clock.monotonicMs();
    if (delayMs <= 0) this.#wake();
    else this.#pollAfter(delayMs);
  }

  #wake(): void {
    if (this.#isClosing) return;
    if (this.#isPolling) {
      this.#pollAgain = "now";
      return;
    }
    this.#isPolling = true;
    this.#cancelPoll();
    this.#nextPollAtMs = Number.POSITIVE_INFINITY;
    void this.#poll();
  }

  #pollAfter(delayMs: number): void {
    const { clock } = this.#options;
    const atMs = clock.monotonicMs() + delayMs;
    if (atMs >= this.#nextPollAtMs) return;
    this.#cancelPoll();
    this.#nextPollAtMs = atMs;
    this.#cancelPoll = clock.after(delayMs, () => this.#wake());
  }

  async #poll(): Promise<void> {
    let delayMs = POLL_AGAIN_MS;
    try {
      do {
        this.#pollAgain = "no";
        delayMs = await this.#claimDue();
      } while (this.#isWantedNow() && !this.#isClosing);
      this.#isFailing = false;
    } catch (error) {
      this.#onPollFailed(error);
    }
    this.#isPolling = false;
    this.#noteIdle();
    if (this.#isClosing) return;
    this.#pollAfter(delayMs);
    if (this.#pollAgain !== "no") this.#wakeSoon();
  }

  #isWantedNow(): boolean {
    return this.#pollAgain === "now";
  }

  /** Says how long nothing more is due. */
  async #claimDue(): Promise<number> {
    const { store, clock } = this.#options;
    if (clock.epochMs() >= this.#leaseUntilMs) await store.takeOver(clock.epochMs());
    await this.#claimOfAll();
    const nowMs = clock.epochMs();
    const next = await store.nextTimes();
    // A lease that begins later ends later.
    this.#leaseUntilMs = next.leaseUntilMs ?? nowMs + LEASE_MS;
    const nextAtMs = Math.min(next.queuedAtMs ?? Number.POSITIVE_INFINITY, this.#leaseUntilMs);
    return Math.min(POLL_MAX_MS, Math.max(POLL_AGAIN_MS, nextAtMs - clock.epochMs()));
  }

  /** What is behind the last one comes first: those before it would get every place of their kind. */
  async #claimOfAll(): Promise<void> {
    const last = this.#lastQueue;
    const queues = await this.#options.store.queues("", QUEUES_PER_PAGE);
    if (queues.length < QUEUES_PER_PAGE) {
      const behind = queues.filter(({ queue }) => queue > last);
      const before = queues.filter(({ queue }) => queue <= last);
      await this.#claimDueOf([...behind, ...before]);
      return;
    }
    await this.#claimFrom(last);
    await this.#claimFrom("", last);
  }

  async #claimFrom(after: string, last?: string): Promise<void> {
    for (let from = after; !this.#isClosing; ) {
      const queues = await this.#options.store.queues(from, QUEUES_PER_PAGE);
      const end = queues.findIndex(({ queue }) => queue === last);
      await this.#claimDueOf(end < 0 ? queues : queues.slice(0, end + 1));
      from = queues.at(-1)?.queue ?? "";
      if (end >= 0 || queues.length < QUEUES_PER_PAGE) return;
    }
  }

  async #claimDueOf(queues: readonly DueQueue[]): Promise<void> {
    for (const { queue, runAfterMs } of queues) {
      if (runAfterMs <= this.#options.clock.epochMs()) await this.#claimOf(queue);
    }
  }

  async #claimOf(queue: string): Promise<void> {
    const { store, handlers, owner, clock } = this.#options;
    const kind = JOB_KINDS.find((each) => queue.startsWith(`${each}:`));
    const handler = kind && handlers[kind];
    if (handler === undefined || this.#isClosing) return;
    const ofKind = [...this.#claims.values()].filter(({ job }) => job.kind === kind);
    const runningOfKind = ofKind.filter(({ state }) => state === "running").length;
    const places = Math.min(handler.runningMax - runningOfKind, this.#placesOf(queue, handler));
    const aheadMax = CLAIMED_AHEAD_MAX + handler.runningMax - ofKind.length;
    if (places <= 0 || aheadMax <= 0) return;
    // A queue that fails, or wants less, has few places, and nothing of it is claimed ahead.
    const isHealthy = handler.runningPerQueue(queue) > 1;
    const ahead = isHealthy ? Math.min(handler.claimedAheadPerQueue ?? 0, aheadMax) : 0;
    const limit = places + ahead;
    const nowMs = clock.epochMs();
    const leaseEndsAtMs = clock.monotonicMs() + LEASE_MS;
    const jobs = await store.claim({
      queue,
      owner,
      nowMs,
      leaseUntilMs: nowMs + LEASE_MS,
      limit,
    });
    if (jobs.length === 0) return;
    if (this.#isClosing) return this.#giveBack(jobs);
    this.#lastQueue = queue;
    if (handler.claimedAheadPerQueue !== undefined) this.#claimedAtMs = clock.monotonicMs();
    handler.prepare?.(jobs);
    const isQueueFull = jobs.length === limit;
    for (const job of jobs) {
      this.#claims.set(job.id, { job, handler, isQueueFull, state: "waiting", leaseEndsAtMs });
    }
    this.#begin(queue, handler);
  }

  #ofQueue(queue: string, state: Claim["state"]): readonly Claim[] {
    return [...this.#claims.values()].filter(
      (claim) => claim.job.queue === queue && claim.state === state,
    );
  }

  #placesOf(queue: string, handler: JobHandler): number {
    return handler.runningPerQueue(queue) - this.#ofQueue(queue, "running").length;
  }

  /** Runs what waits of the queue, as far as there are places, and gives back what nothing would begin later. */
  #begin(queue: string, handler: JobHandler): void {
    const nowMs = this.#options.clock.monotonicMs();
    // Another process may run what this one has no lease of any more.
    const lost = this.#ofQueue(queue, "waiting").filter((claim) => claim.leaseEndsAtMs <= nowMs);
    this.#release(lost);
    const waiting = this.#ofQueue(queue, "waiting");
    for (const claim of waiting.slice(0, Math.max(0, this.#placesOf(queue, handler)))) {
      claim.state = "running";
      void this.#run(claim);
    }
    // Only the end of a job of the queue begins the next one.
    const isStuck = this.#ofQueue(queue, "running").length === 0;
    const stuck = isStuck ? this.#ofQueue(queue, "waiting") : [];
    this.#release(stuck);
    if (lost.length + stuck.length > 0) this.#wake();
  }

  async #run(claim: Claim): Promise<void> {
    const { log } = this.#options;
    const { job, handler } = claim;
    const { id: jobId, kind, orgId, queue } = job;
    let outcome: JobOutcome;
    try {
      outcome =
        job.attempts > handler.triesMax
          ? { kind: "failed", error: "the process ended during its last tries" }
          : await handler.run(job, this.#abort.signal);
    } catch (error) {
      if (!this.#abort.signal.aborted) log.warn({ jobId, kind, orgId, error }, "a job failed");
      outcome = { kind: "retry", error: "internal error" };
    }
    if (outcome.kind === "done") {
      claim.state = "finished";
      const hasPlace = claim.isQueueFull && this.#ofQueue(queue, "waiting").length === 0;
      this.#begin(queue, handler);
      if (hasPlace) this.#storeFinished();
      else this.#storeFinishedSoon();
      return;
    }
    // The rest of the queue waits in the database, as long as that has to.
    this.#release(this.#ofQueue(queue, "waiting"));
    try {
      await this.#settle(job, handler, outcome);
    } catch (error) {
      log.warn({ jobId, kind, error }, "failed to store the outcome of a job; it runs again");
    }
    this.#forget([claim]);
    // A claim that was under way may have brought more of the queue.
    this.#begin(queue, handler);
    this.#storeFinishedSoon();
    this.#noteIdle();
    this.#wake();
  }

  /** Gives back what was claimed and has not begun; what cannot be given back is queued again once its lease is over. */
  #release(claims: readonly Claim[]): void {
    this.#forget(claims);
    this.#giveBack(claims.map(({ job }) => job));
  }

  #giveBack(jobs: readonly ClaimedJob[]): void {
    for (let from = 0; from < jobs.length; from += JOBS_PER_COMMIT_MAX) {
      this.#watch(this.#options.store.release(jobs.slice(from, from + JOBS_PER_COMMIT_MAX)));
    }
  }

  /** A job that was lost and claimed again has another claim by now. */
  #forget(claims: readonly Claim[]): void {
    for (const claim of claims) {
      if (this.#claims.get(claim.job.id) === claim) this.#claims.delete(claim.job.id);
    }
  }

  async #settle(
    job: ClaimedJob,
    handler: JobHandler,
    outcome: Exclude<JobOutcome, { readonly kind: "done" }>,
  ): Promise<void> {
    const { store, meter, clock, log } = this.#options;
    const nowMs = clock.epochMs();
    if (this.#abort.signal.aborted) {
      await store.postpone(job, { runAfterMs: nowMs, error: null, isTry: false });
      return;
    }
    if (outcome.kind === "again") {
      const runAfterMs = nowMs + outcome.afterMs;
      await store.postpone(job, { runAfterMs, error: null, isTry: false });
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

  /** Stores what is done when nothing more is about to be, when it is enough for one commit, or after a short time. */
  #storeFinishedSoon(): void {
    const count = this.#finished().length;
    if (count === 0) return;
    if (this.#isClosing || count === this.#claims.size || count >= JOBS_PER_COMMIT_MAX) {
      this.#storeFinished();
      return;
    }
    this.#cancelStoring ??= this.#options.clock.after(FINISHED_MAX_MS, () => this.#storeFinished());
  }

  #storeFinished(): void {
    this.#cancelStoring?.();
    this.#cancelStoring = undefined;
    if (!this.#isStoring) void this.#storeNext();
  }

  /** One commit for jobs of one handler, until all that are done are stored. */
  async #storeNext(): Promise<void> {
    const { store, clock } = this.#options;
    this.#isStoring = true;
    let isNextDue = false;
    try {
      for (;;) {
        const finished = this.#finished();
        const [first] = finished;
        if (first === undefined) break;
        const { handler } = first;
        const claims = finished
          .filter((claim) => claim.handler === handler)
          .slice(0, JOBS_PER_COMMIT_MAX);
        const jobs = claims.map(({ job }) => job);
        const nowMs = clock.epochMs();
        const stored = await (handler.finish?.(jobs, nowMs) ?? store.finish(jobs, nowMs));
        this.#forget(claims);
        isNextDue ||= stored.isNextDue || claims.some(({ isQueueFull }) => isQueueFull);
      }
    } catch (error) {
      // They are kept and stored with the next ones: what is done is not done again because the database was away.
      this.#onPollFailed(error);
      // The server stops: the next one runs them again.
      if (this.#isClosing) this.#forget(this.#finished());
      else this.#cancelStoring ??= clock.after(POLL_AGAIN_MS, () => this.#storeFinished());
    }
    this.#isStoring = false;
    this.#noteIdle();
    if (isNextDue) this.#wake();
  }

  #finished(): readonly Claim[] {
    return [...this.#claims.values()].filter(({ state }) => state === "finished");
  }

  #noteIdle(): void {
    if (this.#claims.size === 0 && !this.#isStoring && !this.#isPolling) this.#onIdle();
  }

  #beat(): void {
    if (this.#claims.size === 0) return;
    const { store, clock } = this.#options;
    const claims = [...this.#claims.values()];
    const leaseEndsAtMs = clock.monotonicMs() + LEASE_MS;
    const renewed = store.heartbeat(
      claims.map(({ job }) => job),
      clock.epochMs() + LEASE_MS,
    );
    this.#watch(
      renewed.then((ids) => {
        for (const claim of claims) {
          if (ids.has(claim.job.id)) claim.leaseEndsAtMs = leaseEndsAtMs;
        }
      }),
    );
  }

  #purge(): void {
    const { store, clock } = this.#options;
    this.#watch(store.purgeFailed(clock.epochMs() - FAILED_JOBS_KEPT_MS));
  }

  /** A store that is slower than the period gets no second count. */
  #count(): void {
    if (this.#isCounting) return;
    this.#isCounting = true;
    const { store, meter, clock } = this.#options;
    const counted = store.counts().then((counts) => meter.jobsCounted(counts, clock.epochMs()));
    const over = () => {
      this.#isCounting = false;
    };
    this.#watch(counted.finally(over));
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
