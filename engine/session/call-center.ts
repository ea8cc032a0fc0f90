import type { Database } from "../../storage/database.js";
import { AudioPool } from "../audio/audio-pool.js";
import { CallJournal } from "../calls/call-journal.js";
import { CallSummaries } from "../calls/call-summaries.js";
import { OutboundCalls } from "../calls/outbound-calls.js";
import {
  missingSettings,
  type OutboundSettings,
  OutboundTelephony,
} from "../calls/outbound-telephony.js";
import { Recordings } from "../calls/recordings.js";
import type { Logger } from "../log.js";
import { EventLoopDelay } from "../metrics/event-loop-delay.js";
import { Metrics } from "../metrics/metrics.js";
import type { CredentialCipher } from "../security/credential-cipher.js";
import { OutboundTokens } from "../security/outbound-token.js";
import { PhoneLegs } from "../telephony/phone-legs.js";
import { phoneLegApis } from "../telephony/phone-vendors.js";
import type { TelephonySettings } from "../telephony/telephony-settings.js";
import { type TwilioCalls, twilioCalls } from "../telephony/twilio/twilio-calls.js";
import type { Agents } from "../tenancy/agents.js";
import type { PhoneNumbers } from "../tenancy/phone-numbers.js";
import type { CancelTimer, Clock } from "../time/clock.js";
import { within } from "../time/deadline.js";
import { Connections } from "../vendors/transport/connections.js";
import { Admission } from "./admission.js";
import { type PlatformUrls, VendorLines } from "./agent-vendors.js";
import { CallSlots } from "./call-slots.js";
import type { Ending } from "./ending.js";
import { LiveCalls } from "./live-calls.js";
import { SessionOpener } from "./session-opener.js";
import { SpeechCache } from "./speech-cache.js";

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

export interface CallCenterOptions
  extends OutboundSettings,
    Pick<TelephonySettings, "telnyx" | "plivo"> {
  readonly database: Database;
  readonly dataDir: string;
  readonly agents: Agents;
  /** Undefined: agents call from any number, where the vendors are simulated. */
  readonly phoneNumbers: PhoneNumbers | undefined;
  readonly cipher: CredentialCipher;
  readonly platformUrls: PlatformUrls;
  readonly allowPrivateProviders: boolean;
  readonly speechCacheBytes: number;
  readonly callsMax: number;
  readonly eventLoopDelayMaxMs: number;
  /** Names this run of the server in the call records that it opens. */
  readonly runId: string;
  /** What the vendor is given for placed calls is signed with a key derived from it. */
  readonly jwtSecret: string;
  readonly clock: Clock;
  readonly newId: () => string;
  readonly log: Logger;
}

/** Everything that calls share, from the slots to the vendors' connections, and its upkeep. */
export class CallCenter {
  readonly liveCalls = new LiveCalls();
  readonly slots = new CallSlots();
  readonly metrics: Metrics;
  readonly opener: SessionOpener;
  readonly recordings: Recordings;
  readonly vendors: VendorLines;
  readonly outbound: OutboundCalls;
  readonly legs: PhoneLegs;
  readonly #options: CallCenterOptions;
  readonly #connections: Connections;
  readonly #journal: CallJournal;
  readonly #admission: Admission;
  readonly #eventLoopDelay = new EventLoopDelay();
  #audioPool: AudioPool | undefined;
  readonly #summaries: CallSummaries;
  readonly #upkeep: readonly CancelTimer[];

  constructor(options: CallCenterOptions) {
    const { database, agents, cipher, platformUrls, clock, newId, log, runId } = options;
    this.#options = options;
    const allowPrivateAddresses = options.allowPrivateProviders;
    const connections = new Connections({ clock, allowPrivateAddresses });
    const vendors = new VendorLines(cipher, platformUrls, { clock, connections });
    const cache = new SpeechCache(options.speechCacheBytes);
    const summaries = new CallSummaries(database.calls, clock, log);
    const { liveCalls, slots } = this;
    const metrics = new Metrics({
      callsActive: () => liveCalls.count,
      storageRequestsWaiting: () => database.queueLength,
      speechCacheBytes: () => cache.sizeBytes,
      summariesWaiting: () => summaries.waitingCount,
    });
    const gauges = {
      callCount: () => liveCalls.count,
      takeEventLoopDelayMs: () => this.#eventLoopDelay.take(),
      audioPoolWaitMs: () => this.#audioPoolWaitMs(),
    };
    const admission = new Admission(options, gauges, clock);
    const { calls } = database;
    const journal = new CallJournal({ calls, summaries, metrics, clock, log, runId });
    this.recordings = new Recordings({
      ...options,
      store: database.recordings,
      audioPool: () => this.audioPool(),
    });
    const shared = {
      database,
      agents,
      vendors,
      journal,
      recordings: this.recordings,
      slots,
      liveCalls,
      cache,
      metrics,
      admission,
    };
    this.opener = new SessionOpener({ ...shared, clock, newId, log });
    this.metrics = metrics;
    this.#admission = admission;
    this.vendors = vendors;
    this.#connections = connections;
    this.#journal = journal;
    this.#summaries = summaries;
    const context = { clock, connections };
    const twilio = twilioCalls(options, context);
    this.legs = new PhoneLegs(phoneLegApis(options, context), log);
    this.outbound = this.#newOutbound(twilio);
    this.#upkeep = this.#startUpkeep();
  }

  get isStopping(): boolean {
    return this.opener.stopping;
  }

  /** Whether a new call would be taken, as far as this box is concerned. */
  get isReady(): boolean {
    return !this.isStopping && this.#admission.refusal === undefined;
  }

  /** The threads for telephone audio; a server without telephone calls never starts them. */
  audioPool(): AudioPool {
    const { clock, log } = this.#options;
    this.#audioPool ??= new AudioPool({
      clock,
      onFault: (fault) => log.error({ ...fault }, "a thread of the audio pool failed; calls go on"),
    });
    return this.#audioPool;
  }

  /** Calls that were still open when an earlier run of the server died are closed as failed, and what is too old is removed. */
  async recover(): Promise<void> {
    const { database, clock, runId, log } = this.#options;
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

  /** After `drain`: the ends of the last calls, their summaries, then the vendors' connections. */
  async close(): Promise<void> {
    for (const cancel of this.#upkeep) cancel();
    this.#admission.close();
    this.#eventLoopDelay.close();
    await within(this.#options.clock, LAST_WORK_MAX_MS, this.#journal.stored());
    await this.#summaries.close(LAST_WORK_MAX_MS);
    await within(this.#options.clock, LAST_WORK_MAX_MS, this.recordings.close());
    await within(this.#options.clock, LAST_WORK_MAX_MS, this.legs.settled());
    await this.#connections.close();
    await this.#audioPool?.close();
  }

  #newOutbound(twilio: TwilioCalls | undefined): OutboundCalls {
    const { publicBaseUrl, jwtSecret: secret, clock } = this.#options;
    const { opener, slots, liveCalls } = this;
    const isConfigured = twilio !== undefined && publicBaseUrl !== undefined;
    return new OutboundCalls({
      ...this.#options,
      telephony: isConfigured ? new OutboundTelephony(twilio, publicBaseUrl) : undefined,
      missing: missingSettings(this.#options),
      tokens: new OutboundTokens({ secret, clock }),
      opener,
      slots,
      liveCalls,
      journal: this.#journal,
    });
  }

  #audioPoolWaitMs(): number {
    const stats = this.#audioPool?.stats;
    return stats === undefined ? 0 : Math.max(stats.inboundWaitP95Ms, stats.speechWaitLastMs);
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
