import type { Database } from "../../storage/database.js";
import { AudioPool } from "../audio/audio-pool.js";
import type { Logger } from "../log.js";
import { diskFreeBytes } from "../metrics/disk-room.js";
import { EventLoopDelay } from "../metrics/event-loop-delay.js";
import { Metrics } from "../metrics/metrics.js";
import type { Ending } from "../session/ending.js";
import { PlayoutDelays } from "../session/playout-delay.js";
import { SpeechCache } from "../session/speech-cache.js";
import type { Agents } from "../tenancy/agents.js";
import type { CancelTimer, Clock } from "../time/clock.js";
import { within } from "../time/deadline.js";
import { Admission, type AdmissionLimits } from "./admission.js";
import type { AgentVendorsOptions } from "./agent-vendors.js";
import { CallJournal } from "./call-journal.js";
import { CallOpener } from "./call-opener.js";
import { CallSlots } from "./call-slots.js";
import { CallSummaries } from "./call-summaries.js";
import { LiveCalls } from "./live-calls.js";
import { Recordings } from "./recordings.js";

const HEARTBEAT_MS = 5_000;
const SLOT_SWEEP_MS = 30_000;
const HISTORY_PURGE_MS = 60 * 60 * 1_000;
/** After calls were told to end: what their last writes and summaries may take. */
const LAST_WORK_MAX_MS = 5_000;

const SERVER_STOPPING: Ending = {
  reason: "serverStopping",
  status: "completed",
  message: "the server is restarting",
};

export interface CallCenterOptions extends AdmissionLimits {
  readonly database: Database;
  readonly dataDir: string;
  readonly agents: Agents;
  readonly vendors: AgentVendorsOptions;
  readonly speechCacheBytes: number;
  /** Names this run of the server in the call records that it opens. */
  readonly runId: string;
  readonly clock: Clock;
  readonly newId: () => string;
  readonly log: Logger;
}

/** Everything that calls share, whichever way they came in, and its upkeep. */
export class CallCenter {
  readonly liveCalls = new LiveCalls(() => this.#eventLoopDelay.watch());
  readonly slots = new CallSlots();
  readonly metrics: Metrics;
  readonly journal: CallJournal;
  readonly opener: CallOpener;
  readonly recordings: Recordings;
  readonly #options: CallCenterOptions;
  readonly #admission: Admission;
  readonly #eventLoopDelay = new EventLoopDelay();
  #audioPool: AudioPool | undefined;
  #isWarm = false;
  readonly #summaries: CallSummaries;
  readonly #upkeep: readonly CancelTimer[];

  constructor(options: CallCenterOptions) {
    const { database, clock, log } = options;
    this.#options = options;
    const { liveCalls } = this;
    const cache = new SpeechCache(options.speechCacheBytes);
    const playoutDelays = new PlayoutDelays();
    this.#summaries = new CallSummaries(database.calls, clock, log);
    this.metrics = new Metrics({
      callsActive: () => liveCalls.count,
      storageRequestsWaiting: () => database.queueLength,
      speechCacheBytes: () => cache.sizeBytes,
      summariesWaiting: () => this.#summaries.waitingCount,
      isReady: () => this.isReady,
      diskFreeBytes: () => diskFreeBytes(options.dataDir),
      eventLoopDelay: this.#eventLoopDelay,
    });
    this.#admission = new Admission(options, this.#gauges(), clock);
    const { calls, recordings: store } = database;
    const shared = { metrics: this.metrics, summaries: this.#summaries, cache, playoutDelays };
    this.journal = new CallJournal({ ...options, ...shared, calls });
    this.recordings = new Recordings({ ...options, store, audioPool: () => this.audioPool() });
    this.opener = new CallOpener({
      ...options,
      ...shared,
      journal: this.journal,
      recordings: this.recordings,
      slots: this.slots,
      liveCalls,
      admission: this.#admission,
    });
    this.#upkeep = this.#startUpkeep();
  }

  get isStopping(): boolean {
    return this.opener.stopping;
  }

  /** Whether a new call would be taken, as far as this box is concerned. */
  get isReady(): boolean {
    return this.#isWarm && !this.isStopping && this.#admission.refusal === undefined;
  }

  /** Settles when nothing is left to be started that a first call would wait for. */
  get warm(): Promise<void> {
    return this.audioPool().ready;
  }

  /** The thread that converts speech for telephones and recordings. */
  audioPool(): AudioPool {
    this.#audioPool ??= this.#startAudioPool();
    return this.#audioPool;
  }

  #startAudioPool(): AudioPool {
    const { clock, log } = this.#options;
    const pool = new AudioPool({
      clock,
      onFault: (fault) => log.error({ ...fault }, "a thread of the audio pool failed; calls go on"),
    });
    void pool.ready.then(() => {
      this.#isWarm = true;
    });
    return pool;
  }

  /**
   * Closes calls that were still open when an earlier run of the server died as failed, and removes what is too old. The audio
   * pool starts meanwhile, so that no caller waits for its thread.
   */
  async recover(): Promise<void> {
    const { database, clock, runId, log } = this.#options;
    this.audioPool();
    const nowMs = clock.epochMs();
    await database.calls.heartbeat(runId, nowMs);
    const count = await database.calls.closeAbandoned(runId, nowMs);
    if (count > 0) log.warn({ count }, "calls of an earlier run were closed as failed");
    await this.opener.purgeHistory();
    await this.recordings.start();
  }

  /** Takes no new calls, lets those in progress finish until the deadline, then ends them with a reason. */
  async drain(timeoutMs: number): Promise<void> {
    const { clock, log } = this.#options;
    this.opener.stop();
    log.info({ calls: this.liveCalls.count }, "stopping: no new calls");
    await within(clock, timeoutMs, this.liveCalls.empty());
    this.endAll();
    await within(clock, LAST_WORK_MAX_MS, this.liveCalls.empty());
  }

  endAll(): void {
    this.liveCalls.endAll(SERVER_STOPPING);
  }

  /** After `drain`: the ends of the last calls and their summaries are written, and the threads end. */
  async close(): Promise<void> {
    const { clock } = this.#options;
    for (const cancel of this.#upkeep) cancel();
    this.#admission.close();
    this.#eventLoopDelay.close();
    await within(clock, LAST_WORK_MAX_MS, this.journal.stored());
    await this.#summaries.close(LAST_WORK_MAX_MS);
    await within(clock, LAST_WORK_MAX_MS, this.recordings.close());
    await this.#audioPool?.close();
  }

  #gauges() {
    return {
      callCount: () => this.liveCalls.count,
      takeEventLoopDelayMs: () => this.#eventLoopDelay.take(this.liveCalls.count > 0),
      audioPoolWaitMs: () => {
        const stats = this.#audioPool?.stats;
        return stats?.waitLastMs ?? 0;
      },
    };
  }

  #startUpkeep(): readonly CancelTimer[] {
    const { database, clock, runId, log } = this.#options;
    const watch = (work: Promise<unknown>) => {
      work.catch((error: unknown) => log.warn({ error }, "upkeep of the database failed"));
    };
    return [
      clock.every(HEARTBEAT_MS, () => watch(database.calls.heartbeat(runId, clock.epochMs()))),
      clock.every(HISTORY_PURGE_MS, () => watch(this.opener.purgeHistory())),
      clock.every(SLOT_SWEEP_MS, () => {
        const count = this.slots.reconcile((callId) => this.liveCalls.has(callId));
        if (count > 0) log.error({ count }, "slots of dead calls were given back");
      }),
    ];
  }
}
