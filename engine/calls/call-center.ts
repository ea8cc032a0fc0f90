import type { Database } from "../../storage/database.js";
import { AudioPool } from "../audio/audio-pool.js";
import type { Ending } from "../conversation/call-end.js";
import { PreparedPhrases } from "../conversation/prepared-phrases.js";
import { SpeechCache, VoicePaces } from "../conversation/speech-cache.js";
import { PlayoutDelays } from "../conversation/synthesis.js";
import type { Logger } from "../log.js";
import { EventLoopDelay } from "../metrics/event-loop-delay.js";
import { diskFreeBytes, Metrics } from "../metrics/metrics.js";
import type { Agents } from "../tenancy/agents/agents.js";
import type { DialTargets } from "../tenancy/agents/dial-targets.js";
import type { CancelTimer, Clock } from "../time/clock.js";
import { within } from "../time/deadline.js";
import { Admission, type AdmissionLimits, CallSlots, type Slots } from "./admission.js";
import type { AgentVendorsOptions } from "./agent-vendors.js";
import { BackgroundLlm } from "./background-llm.js";
import { CallFeed } from "./call-feed.js";
import { CallJournal } from "./call-journal.js";
import { CallOpener, type OpenerDeps } from "./call-opener.js";
import type { Cluster } from "./cluster-calls.js";
import { EventFilters } from "./event-filters.js";
import { LiveCalls } from "./live-calls.js";
import { OrphanedCalls } from "./orphaned-calls.js";
import { PreemptiveBudget } from "./preemptive-budget.js";
import { type RecordingKeeping, Recordings } from "./recording/recordings.js";
import { StoreHealth } from "./store-health.js";

const HEARTBEAT_MS = 5_000;
/** Another process suspends an organization by a write to the store; calls in progress notice within this time. */
const SUSPENSION_CHECK_MS = 2_000;
const SLOT_SWEEP_MS = 30_000;
const HISTORY_PURGE_MS = 60 * 60 * 1_000;
/** The time for last writes and summaries after calls were told to end. */
const LAST_WORK_MAX_MS = 5_000;

const SERVER_STOPPING: Ending = {
  reason: "serverStopping",
  status: "completed",
  message: "the server is restarting",
};

const SUSPENDED: Ending = {
  reason: "suspended",
  status: "completed",
  message: "the organization is suspended",
};

export interface CallCenterOptions extends AdmissionLimits, RecordingKeeping {
  /** Omitted if this process is the whole server. */
  readonly cluster?: Cluster | undefined;
  readonly database: Database;
  readonly agents: Agents;
  readonly vendors: AgentVendorsOptions;
  /** As in `OpenerDeps`. */
  readonly vectorSearch?: OpenerDeps["vectorSearch"];
  /** As in `OpenerDeps`. */
  readonly dialTargets: Pick<DialTargets, "mayReach"> | undefined;
  /** As in `OpenerDeps`. */
  readonly isSandboxed?: boolean;
  readonly speechCacheBytes: number;
  readonly preemptiveWasteTokensPerHour: number;
  /** Why this server accepts no calls, if its encryption key is not the database's. */
  readonly keyRefusal?: string | undefined;
  /** Identifies this run of the server in the call records that it opens. */
  readonly runId: string;
  readonly clock: Clock;
  readonly newId: () => string;
  readonly log: Logger;
}

/** The shared parts of all calls, whatever their channel, and their upkeep. */
export class CallCenter {
  readonly liveCalls = new LiveCalls(() => this.#eventLoopDelay.watch());
  readonly slots: Slots;
  readonly metrics: Metrics;
  readonly journal: CallJournal;
  readonly feed: CallFeed;
  readonly opener: CallOpener;
  readonly recordings: Recordings;
  readonly #options: CallCenterOptions;
  readonly #admission: Admission;
  readonly #eventLoopDelay = new EventLoopDelay();
  #audioPool: AudioPool | undefined;
  #isWarm = false;
  readonly #storeWatch: StoreHealth;
  readonly #orphanedCalls: OrphanedCalls;
  readonly #upkeep: readonly CancelTimer[];

  constructor(options: CallCenterOptions) {
    const { database, clock, log } = options;
    this.#options = options;
    this.slots = options.cluster?.slots ?? new CallSlots();
    this.feed = new CallFeed(clock, options.cluster?.events);
    const { liveCalls } = this;
    const cache = new SpeechCache(options.speechCacheBytes);
    const preemptiveBudget = new PreemptiveBudget(options.preemptiveWasteTokensPerHour, clock);
    this.metrics = new Metrics({
      callsActive: () => liveCalls.count,
      storageRequestsWaiting: () => database.queueLength,
      speechCacheBytes: () => cache.sizeBytes,
      isReady: () => this.isReady,
      diskFreeBytes: () => diskFreeBytes(options.dataDir),
      failingVendors: () => options.vendors.chains.breakers.failing(),
      eventLoopDelay: this.#eventLoopDelay,
    });
    this.#admission = new Admission(options, this.#gauges(), clock);
    const { calls, history, recordings: store } = database;
    const shared = {
      metrics: this.metrics,
      backgroundLlm: new BackgroundLlm(clock, log),
      cache,
      playoutDelays: new PlayoutDelays(),
      voicePaces: new VoicePaces(),
      phrases: new PreparedPhrases(clock),
      preemptiveBudget,
      feed: this.feed,
      eventFilters: new EventFilters(database, clock),
    };
    this.journal = new CallJournal({ ...options, ...shared, calls, history });
    this.recordings = new Recordings({ ...options, store, audioPool: () => this.audioPool() });
    this.#storeWatch = new StoreHealth({
      store: database,
      keptCount: () => this.journal.keptCount,
      tryToWrite: () => this.#beat(),
      ...options,
    });
    this.#orphanedCalls = new OrphanedCalls({
      ...options,
      calls,
      isKnown: (id) => this.#isKnown(id),
    });
    this.opener = new CallOpener({
      ...options,
      ...shared,
      vendors: {
        ...options.vendors,
        chains: { ...options.vendors.chains, audioPool: () => this.audioPool() },
      },
      journal: this.journal,
      recordings: this.recordings,
      slots: this.slots,
      liveCalls,
      admission: this.#admission,
      storeWatch: this.#storeWatch,
      hasOtherNodes: async (callId) => (await options.cluster?.hasCall(callId)) ?? false,
      endCall: (callId, ending) => this.#endCall(callId, ending),
    });
    this.#upkeep = this.#startUpkeep();
  }

  get isStopping(): boolean {
    return this.opener.stopping;
  }

  /** Whether this server would accept a new call. */
  get isReady(): boolean {
    if (this.isStopping || this.#options.keyRefusal !== undefined) return false;
    const isFull = this.#admission.refusal !== undefined;
    return (this.isServing && !isFull) || this.#options.cluster?.othersAccept === true;
  }

  /** Whether this process would accept a new call, apart from lateness and a full server. */
  get isServing(): boolean {
    const isWanted = !this.isStopping && this.#options.cluster?.isDrained !== true;
    const refusal = this.#options.keyRefusal ?? this.storeRefusal;
    return this.#isWarm && isWanted && refusal === undefined;
  }

  /** Whether another call would degrade those of this process. */
  get isOverloaded(): boolean {
    return this.#admission.isOverloaded;
  }

  /** Why nothing can be stored now, in words for a caller; undefined if everything can. */
  get storeRefusal(): string | undefined {
    return this.#storeWatch.refusal;
  }

  /** Resolves when everything that a first call would wait for has started. */
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
      onFault: (fault) => log.error({ ...fault }, "an audio thread failed; calls continue"),
    });
    void pool.ready.then(() => {
      this.#isWarm = true;
    });
    return pool;
  }

  /**
   * Marks calls that a dead earlier run left open as failed, and removes what is too old. The audio pool starts
   * meanwhile, so that no caller waits for its thread.
   */
  async recover(): Promise<void> {
    const { database, clock, runId, log } = this.#options;
    await this.join();
    // With several servers, calls in progress of other runs may be another server's.
    if (database.writers === "one") {
      const count = await database.calls.closeAbandoned(runId, clock.epochMs());
      if (count > 0) log.warn({ count }, "calls of an earlier run were closed as failed");
    }
    await this.opener.purgeHistory();
    await this.recordings.start();
  }

  /** Replaces `recover` for a process that starts next to others of its server: open calls are theirs. */
  async join(): Promise<void> {
    this.audioPool();
    await this.#beat();
  }

  /** Accepts no new calls, lets those in progress finish until the deadline, then ends them with a reason. */
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

  /** After `drain`: stores the ends of the last calls, and ends the threads. */
  async close(): Promise<void> {
    const { clock } = this.#options;
    for (const cancel of this.#upkeep) cancel();
    this.#admission.close();
    this.#eventLoopDelay.close();
    await within(clock, LAST_WORK_MAX_MS, this.journal.stored());
    this.journal.close();
    this.#storeWatch.close();
    await within(clock, LAST_WORK_MAX_MS, this.recordings.close());
    this.#audioPool?.close();
  }

  /** Stores the heartbeat of this run. */
  #beat(): Promise<void> {
    const { database, clock, runId } = this.#options;
    return database.calls.heartbeat(runId, clock.epochMs(), clock.monotonicMs());
  }

  async #endCall(callId: string, ending: Ending): Promise<boolean> {
    const call = this.liveCalls.find(callId);
    call?.end(ending);
    return call !== undefined || ((await this.#options.cluster?.endCall(callId, ending)) ?? false);
  }

  #isKnown(callId: string): boolean {
    return this.liveCalls.has(callId) || this.journal.isStoring(callId);
  }

  #gauges() {
    return {
      callCount: () => this.#options.cluster?.callCount ?? this.liveCalls.count,
      othersAccept: () => this.#options.cluster?.othersAccept ?? false,
      isDrained: () => this.#options.cluster?.isDrained ?? false,
      takeEventLoopDelayMs: () => this.#eventLoopDelay.take(this.liveCalls.count > 0),
      audioPoolWaitMs: () => {
        const stats = this.#audioPool?.stats;
        return stats?.waitLastMs ?? 0;
      },
    };
  }

  async #endSuspended(): Promise<void> {
    const { slots, liveCalls } = this;
    const orgIds = await this.#options.database.organizations.listPending(slots.orgIds);
    for (const callId of orgIds.flatMap((orgId) => slots.callsOf(orgId))) {
      liveCalls.find(callId)?.end(SUSPENDED);
    }
  }

  #startUpkeep(): readonly CancelTimer[] {
    const { clock, log } = this.#options;
    const watch = (work: Promise<unknown>) => {
      work.catch((error: unknown) => log.warn({ error }, "database maintenance failed"));
    };
    return [
      clock.every(HEARTBEAT_MS, () => watch(this.#beat())),
      clock.every(SUSPENSION_CHECK_MS, () => watch(this.#endSuspended())),
      clock.every(HISTORY_PURGE_MS, () => watch(this.opener.purgeHistory())),
      clock.every(SLOT_SWEEP_MS, () => {
        const count = this.slots.reconcile((callId) => this.liveCalls.has(callId));
        if (count > 0) log.error({ count }, "freed the slots of dead calls");
        watch(this.#orphanedCalls.sweep());
      }),
    ];
  }
}
