import type { Database } from "../../storage/database.js";
import type { AgentRecord } from "../../storage/records.js";
import { CALLER_LEFT, type Ending } from "../conversation/call-end.js";
import { OrganizationCounts } from "../organization-counts.js";
import type { CallOverrides, Variables } from "../telephony/call-values.js";
import { ReadCache } from "../tenancy/read-cache.js";
import type { Tenant } from "../tenancy/tenant.js";
import type { CancelTimer, Clock } from "../time/clock.js";
import type { MaybePromise } from "../time/maybe-promise.js";
import { utcMonth } from "../time/utc-date.js";
import { CallRefusedError } from "./call-refused-error.js";
import { type CallFacts, withOverrides, withVariables } from "./call-variables.js";
import type { Conversation } from "./conversations.js";

/** Terms for this one call, set by the credentials or settings that admitted the caller. */
export interface CallTerms {
  /** Agent and plan may allow less; undefined: no additional limit. */
  readonly callMaxSec: number | undefined;
  /** The values for `{{name}}` in the agent's texts. */
  readonly variables: Variables;
  readonly overrides?: CallOverrides | undefined;
  /**
   * The terms apply to one conversation with one open call at a time: a call that continues it takes the place of
   * the one before, and `callMaxSec` counts from the beginning of the first.
   */
  readonly isOneConversation?: boolean;
}

/** The agent with the call's terms: the call may be shorter than the agent allows, never longer. */
export function withTerms(
  agent: AgentRecord,
  terms: CallTerms | undefined,
  facts: CallFacts,
): AgentRecord {
  const { callMaxSec = Number.POSITIVE_INFINITY, variables = {}, overrides } = terms ?? {};
  const maxCallDurationSec = Math.min(agent.thresholds.maxCallDurationSec, callMaxSec);
  const filled = withVariables(withOverrides(agent, overrides), variables, facts);
  return { ...filled, thresholds: { ...agent.thresholds, maxCallDurationSec } };
}

/** The call slots for code that opens calls, whether this process counts them or the primary does. */
export interface Slots {
  /**
   * False if the organization already has `callsMax` calls, not counting `replaces`, whose slot this call takes
   * over.
   */
  acquire(
    orgId: string,
    callId: string,
    callsMax: number,
    replaces?: string,
  ): MaybePromise<boolean>;
  release(callId: string): void;
  /** The organization's number of calls on this server. */
  countOf(orgId: string): MaybePromise<number>;
  /** The calls of this process. */
  readonly count: number;
  /** The organizations that have calls in this process. */
  readonly orgIds: readonly string[];
  /** The organization's calls in this process. */
  callsOf(orgId: string): readonly string[];
  /** Frees the slots of calls of this process that are no longer alive, and returns their number. */
  reconcile(isAlive: (callId: string) => boolean): number;
}

/**
 * The calls that each organization has in progress. A slot belongs to its call and is freed once, at the end of
 * the call; a second release does nothing. On a server with several workers, the primary counts for all of them.
 */
export class CallSlots implements Slots {
  readonly #orgByCall = new Map<string, string>();
  readonly #counts = new OrganizationCounts();

  get count(): number {
    return this.#orgByCall.size;
  }

  countOf(orgId: string): number {
    return this.#counts.of(orgId);
  }

  /** The organizations that have calls in progress. */
  get orgIds(): readonly string[] {
    return this.#counts.orgIds;
  }

  callsOf(orgId: string): readonly string[] {
    return [...this.#orgByCall].filter(([, owner]) => owner === orgId).map(([callId]) => callId);
  }

  /** As in `Slots`. */
  acquire(orgId: string, callId: string, callsMax: number, replaces?: string): boolean {
    if (replaces !== undefined && this.#orgByCall.get(replaces) === orgId) this.release(replaces);
    if (this.#counts.of(orgId) >= callsMax || this.#orgByCall.has(callId)) return false;
    this.#orgByCall.set(callId, orgId);
    this.#counts.add(orgId);
    return true;
  }

  release(callId: string): void {
    const orgId = this.#orgByCall.get(callId);
    if (orgId === undefined) return;
    this.#orgByCall.delete(callId);
    this.#counts.remove(orgId);
  }

  /** Frees the slots of calls that are no longer alive, and returns their number: each one is a bug. */
  reconcile(isAlive: (callId: string) => boolean): number {
    const dead = [...this.#orgByCall.keys()].filter((callId) => !isAlive(callId));
    for (const callId of dead) this.release(callId);
    return dead.length;
  }
}

/** Organizations that had calls within about a second; each entry is one number. */
const KEPT_MAX = 2_000;

export interface MinutesStores {
  readonly usage: Pick<Database["usage"], "minutesBetween">;
  readonly usageChanges: Database["usageChanges"];
}

/** How much of its plan an organization has used; calls in progress count after their end. */
export class MonthlyMinutes {
  readonly #usage: MinutesStores["usage"];
  readonly #clock: Clock;
  readonly #used: ReadCache<number>;

  constructor({ usage, usageChanges: changes }: MinutesStores, clock: Clock) {
    this.#usage = usage;
    this.#clock = clock;
    this.#used = new ReadCache({ changes, clock, entriesMax: KEPT_MAX });
  }

  /** Throws a CallRefusedError if the plan's minutes are used up. */
  async demand({ organization, plan }: Tenant): Promise<void> {
    const { maxMonthlyMinutes } = plan.limits;
    if ((await this.used(organization.id)) < maxMonthlyMinutes) return;
    const message = `the plan's ${maxMonthlyMinutes} minutes of this month are used up`;
    throw new CallRefusedError("limitReached", message, { code: "minutes_limit_reached" });
  }

  /** Minutes since the start of the month (UTC); without calls that ended in another process within the last second. */
  async used(orgId: string): Promise<number> {
    const { fromDate, toDate } = utcMonth(this.#clock.epochMs());
    const read = () => this.#usage.minutesBetween(orgId, fromDate, toDate);
    return (await this.#used.get(`${orgId} ${toDate}`, read)) ?? 0;
  }
}

export interface PlanPlaceDeps {
  readonly slots: Pick<Slots, "acquire">;
  /** False if no process has the call, or the process that should have it does not answer. */
  readonly endCall: (callId: string, ending: Ending) => MaybePromise<boolean>;
}

export interface WantedPlace {
  readonly orgId: string;
  readonly callId: string;
  readonly callsMax: number;
  /** A call of the same conversation is ended to make room in any case. */
  readonly isOneConversation?: boolean;
}

const RECONNECTED: Ending = {
  ...CALLER_LEFT,
  message: "the caller reconnected on another connection",
};

/**
 * Takes a slot within the plan's limit; false if there is none. If the plan is full, a live call of the same
 * conversation makes room: a client whose network has changed returns before its old connection times out. That
 * call is ended first, since a call without a slot cannot be found.
 */
export async function takePlace(
  { slots, endCall }: PlanPlaceDeps,
  { orgId, callId, callsMax, isOneConversation = false }: WantedPlace,
  { replaces, beside, perhapsAlive }: Pick<Conversation, "replaces" | "beside" | "perhapsAlive">,
): Promise<boolean> {
  // A process that answers late has the call nevertheless. The caller does not wait for one that may be dead.
  if (isOneConversation && perhapsAlive !== undefined) void endCall(perhapsAlive, RECONNECTED);
  if (isOneConversation && beside !== undefined && (await endCall(beside, RECONNECTED))) {
    return slots.acquire(orgId, callId, callsMax, beside);
  }
  if (await slots.acquire(orgId, callId, callsMax, replaces)) return true;
  if (beside === undefined || !(await endCall(beside, RECONNECTED))) return false;
  return slots.acquire(orgId, callId, callsMax, beside);
}

export interface AdmissionLimits {
  /**
   * The maximum number of concurrent calls on this server, over all organizations; `npm run bench:capacity`
   * measures it. 0 = unlimited.
   */
  readonly callsMax: number;
  /** The event loop's lateness (p99 of a second) that callers would hear. 0 = not checked. */
  readonly eventLoopDelayMaxMs: number;
}

export interface AdmissionGauges {
  /** On this server. */
  callCount(): number;
  /** Whether another worker of this server accepts calls, so that this one need not refuse any. */
  othersAccept(): boolean;
  /** An operator has stopped new calls on this server. */
  isDrained(): boolean;
  /** The p99 of the event loop's lateness since the last call. */
  takeEventLoopDelayMs(): number;
  /** How long audio waits for the audio pool. */
  audioPoolWaitMs(): number;
}

const SAMPLE_INTERVAL_MS = 1_000;
/** One bad second may be a garbage collection; two in a row are load. */
const BAD_SAMPLES_TO_CLOSE = 2;
const GOOD_SAMPLES_TO_OPEN = 3;
/** A server that takes no new calls still takes this many returning callers in ten seconds, and this many beyond its limit of calls. */
const RETURNING_MAX = 10;
const RETURNING_PERIOD_MS = 10_000;
/** Audio that waits longer than two frames is heard as a gap. */
const AUDIO_POOL_WAIT_MAX_MS = 40;

/**
 * Refuses new calls before those in progress suffer. The event loop's lateness is the reliable sign of a full
 * server: processors are half idle when callers begin to hear it.
 */
export class Admission {
  readonly #limits: AdmissionLimits;
  readonly #gauges: AdmissionGauges;
  readonly #clock: Clock;
  readonly #stop: CancelTimer;
  /** When callers returned whom a full server took, the earliest first. */
  #returnedAtMs: readonly number[] = [];
  #badSamples = 0;
  #goodSamples = 0;
  #isClosed = false;

  constructor(limits: AdmissionLimits, gauges: AdmissionGauges, clock: Clock) {
    this.#limits = limits;
    this.#gauges = gauges;
    this.#clock = clock;
    this.#stop = clock.every(SAMPLE_INTERVAL_MS, () => this.#sample());
  }

  /** Why new calls are refused at the moment; undefined if they are accepted. */
  get refusal(): string | undefined {
    const { callsMax } = this.#limits;
    if (this.#gauges.isDrained()) return "the server takes no new calls";
    if (callsMax > 0 && this.#gauges.callCount() >= callsMax) {
      return "the server has reached its call limit";
    }
    const isRefusing = this.#isClosed && !this.#gauges.othersAccept();
    return isRefusing ? "the server is too busy for another call" : undefined;
  }

  /** As `refusal`, for a caller who returns from a call that this installation had: it is not a new one. */
  get refusalOfReturning(): string | undefined {
    const { refusal } = this;
    const { callsMax } = this.#limits;
    const isRoom = callsMax === 0 || this.#gauges.callCount() < callsMax + RETURNING_MAX;
    return isRoom && this.#returned().length < RETURNING_MAX ? undefined : refusal;
  }

  /** Such a caller has a place, which counts if a new one would have been refused. */
  noteReturning(): void {
    if (this.refusal === undefined) return;
    this.#returnedAtMs = [...this.#returned(), this.#clock.monotonicMs()];
  }

  #returned(): readonly number[] {
    const sinceMs = this.#clock.monotonicMs() - RETURNING_PERIOD_MS;
    return this.#returnedAtMs.filter((atMs) => atMs > sinceMs);
  }

  /** Whether another call would degrade those in progress. */
  get isOverloaded(): boolean {
    return this.#isClosed;
  }

  close(): void {
    this.#stop();
  }

  #sample(): void {
    const { eventLoopDelayMaxMs } = this.#limits;
    // Read even without a limit: the metrics report it.
    const eventLoopDelayMs = this.#gauges.takeEventLoopDelayMs();
    if (eventLoopDelayMaxMs === 0) return;
    const isBad =
      eventLoopDelayMs > eventLoopDelayMaxMs ||
      this.#gauges.audioPoolWaitMs() > AUDIO_POOL_WAIT_MAX_MS;
    this.#badSamples = isBad ? this.#badSamples + 1 : 0;
    this.#goodSamples = isBad ? 0 : this.#goodSamples + 1;
    if (this.#badSamples >= BAD_SAMPLES_TO_CLOSE) this.#isClosed = true;
    if (this.#goodSamples >= GOOD_SAMPLES_TO_OPEN) this.#isClosed = false;
  }
}
