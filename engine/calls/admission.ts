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

/** What whoever let the caller in has laid down for this one call. */
export interface CallTerms {
  /** Agent and plan may allow less; undefined: they alone say. */
  readonly callMaxSec: number | undefined;
  /** What the agent's texts have in place of `{{name}}`. */
  readonly variables: Variables;
  readonly overrides?: CallOverrides | undefined;
  /**
   * They are for one conversation, in which one call is open at a time: a call that goes on with it takes the place of the one
   * before, and `callMaxSec` counts from the beginning of the first.
   */
  readonly isOneConversation?: boolean;
}

/** The agent as the call has it: it may be shorter than the agent allows, never longer. */
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

/** The slots as those use them who open calls, whether this process counts them or the owner of the server does. */
export interface Slots {
  /** False when the organization already has `callsMax` calls, without `replaces`, whose slot this call is to have. */
  acquire(
    orgId: string,
    callId: string,
    callsMax: number,
    replaces?: string,
  ): MaybePromise<boolean>;
  release(callId: string): void;
  /** The calls that the organization has on this server. */
  countOf(orgId: string): MaybePromise<number>;
  /** The calls of this process. */
  readonly count: number;
  /** The organizations that have calls in this process. */
  readonly orgIds: readonly string[];
  /** The organization's calls in this process. */
  callsOf(orgId: string): readonly string[];
  /** Gives back the slots of calls of this process that are not alive any more, and says how many there were. */
  reconcile(isAlive: (callId: string) => boolean): number;
}

/**
 * The calls that each organization has in progress. A slot belongs to its call and is given back once, by the call's
 * own end; a second release does nothing. Where a server has several workers, its owner counts for all of them.
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

  /** Gives back the slots of calls that are not alive any more, and says how many there were: each one is a bug. */
  reconcile(isAlive: (callId: string) => boolean): number {
    const dead = [...this.#orgByCall.keys()].filter((callId) => !isAlive(callId));
    for (const callId of dead) this.release(callId);
    return dead.length;
  }
}

/** Organizations that had calls within a second or so; a number each. */
const KEPT_MAX = 2_000;

export interface MinutesStores {
  readonly usage: Pick<Database["usage"], "minutesBetween">;
  readonly usageChanges: Database["usageChanges"];
}

/** How much of its plan an organization has used; calls in progress count when they have ended. */
export class MonthlyMinutes {
  readonly #usage: MinutesStores["usage"];
  readonly #clock: Clock;
  readonly #used: ReadCache<number>;

  constructor({ usage, usageChanges: changes }: MinutesStores, clock: Clock) {
    this.#usage = usage;
    this.#clock = clock;
    this.#used = new ReadCache({ changes, clock, entriesMax: KEPT_MAX });
  }

  /** Throws a CallRefusedError when the plan's are used up. */
  async demand({ organization, plan }: Tenant): Promise<void> {
    const { maxMonthlyMinutes } = plan.limits;
    if ((await this.used(organization.id)) < maxMonthlyMinutes) return;
    const message = `the plan's ${maxMonthlyMinutes} minutes of this month are used up`;
    throw new CallRefusedError("limitReached", message, { code: "minutes_limit_reached" });
  }

  /** Since the month began (UTC); without what ended at another process within the last second. */
  async used(orgId: string): Promise<number> {
    const { fromDate, toDate } = utcMonth(this.#clock.epochMs());
    const read = () => this.#usage.minutesBetween(orgId, fromDate, toDate);
    return (await this.#used.get(`${orgId} ${toDate}`, read)) ?? 0;
  }
}

export interface PlanPlaceDeps {
  readonly slots: Pick<Slots, "acquire">;
  /** False where no process has the call, or the one that should have it does not answer. */
  readonly endCall: (callId: string, ending: Ending) => MaybePromise<boolean>;
}

export interface WantedPlace {
  readonly orgId: string;
  readonly callId: string;
  readonly callsMax: number;
  /** A call of the same conversation makes room in any case. */
  readonly isOneConversation?: boolean;
}

const RECONNECTED: Ending = {
  ...CALLER_LEFT,
  message: "the caller reconnected on another connection",
};

/**
 * Takes a call's place among those that its plan allows; false where there is none. Where the plan is full, a call of the same
 * conversation that lives makes room: a client whose network has changed is back before its old connection is known to be gone.
 * It is ended first, since nobody finds a call that has no slot.
 */
export async function takePlace(
  { slots, endCall }: PlanPlaceDeps,
  { orgId, callId, callsMax, isOneConversation = false }: WantedPlace,
  { replaces, beside }: Pick<Conversation, "replaces" | "beside">,
): Promise<boolean> {
  if (isOneConversation && beside !== undefined && (await endCall(beside, RECONNECTED))) {
    return slots.acquire(orgId, callId, callsMax, beside);
  }
  if (await slots.acquire(orgId, callId, callsMax, replaces)) return true;
  if (beside === undefined || !(await endCall(beside, RECONNECTED))) return false;
  return slots.acquire(orgId, callId, callsMax, beside);
}

export interface AdmissionLimits {
  /** Calls at the same time on this server, of all organizations; `npm run bench:capacity` finds it. 0 = no such limit. */
  readonly callsMax: number;
  /** How late the event loop may be (p99 of a second) before callers in progress would hear it. 0 = not looked at. */
  readonly eventLoopDelayMaxMs: number;
}

export interface AdmissionGauges {
  /** On this server. */
  callCount(): number;
  /** Whether another worker of this server takes calls, so that none has to be refused by this one. */
  othersAccept(): boolean;
  /** An operator wants no new calls on this server. */
  isDrained(): boolean;
  /** p99 of the lateness of the event loop since the last look. */
  takeEventLoopDelayMs(): number;
  /** How long audio waits for the audio pool. */
  audioPoolWaitMs(): number;
}

const SAMPLE_INTERVAL_MS = 1_000;
/** One bad second may be a collection of garbage; two in a row are load. */
const BAD_SAMPLES_TO_CLOSE = 2;
const GOOD_SAMPLES_TO_OPEN = 3;
/** Audio that waits longer than two frames is heard as a gap. */
const AUDIO_POOL_WAIT_MAX_MS = 40;

/**
 * Refuses new calls before those in progress suffer. Lateness is the honest sign of a full cluster: its processors show half
 * of their time idle when callers begin to hear it.
 */
export class Admission {
  readonly #limits: AdmissionLimits;
  readonly #gauges: AdmissionGauges;
  readonly #stop: CancelTimer;
  #badSamples = 0;
  #goodSamples = 0;
  #isClosed = false;

  constructor(limits: AdmissionLimits, gauges: AdmissionGauges, clock: Clock) {
    this.#limits = limits;
    this.#gauges = gauges;
    this.#stop = clock.every(SAMPLE_INTERVAL_MS, () => this.#sample());
  }

  /** Why a new call is not taken now; undefined when it is. */
  get refusal(): string | undefined {
    const { callsMax } = this.#limits;
    if (this.#gauges.isDrained()) return "the server takes no new calls";
    if (callsMax > 0 && this.#gauges.callCount() >= callsMax) {
      return "the server has reached its call limit";
    }
    const isRefusing = this.#isClosed && !this.#gauges.othersAccept();
    return isRefusing ? "the server is too busy for another call" : undefined;
  }

  /** Whether calls in progress would suffer from another one. */
  get isOverloaded(): boolean {
    return this.#isClosed;
  }

  close(): void {
    this.#stop();
  }

  #sample(): void {
    const { eventLoopDelayMaxMs } = this.#limits;
    // Also where it is not judged: the metrics show it.
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
