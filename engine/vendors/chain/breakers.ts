import type { Category } from "../../../storage/records.js";
import type { Clock } from "../../time/clock.js";
import type { VendorError, VendorFault } from "../contracts.js";

/** Consecutive failures that open a breaker. */
const FAILURES_IN_ROW_MAX = 3;
/** Alternatively half of the newest answers, once there are enough to form a rate. */
const RECENT_MAX = 20;
const RECENT_MIN = 10;
const FAILURE_RATE_MAX = 0.5;

/** How long an open breaker blocks calls; twice as long after each failed probe. */
const PAUSE_MS = 5_000;
/** The maximum pause of an open or half-open breaker. */
export const PAUSE_MAX_MS = 60_000;
/** If the probing call has reported nothing by then, another call may probe. */
const TRIAL_MAX_MS = 15_000;

export type BreakerPhase = "closed" | "open" | "halfOpen";

/** The state of one credential's breaker; every function below is pure. */
export interface BreakerState {
  readonly phase: BreakerPhase;
  readonly failuresInRow: number;
  /** The newest answers, oldest first: whether each has failed. */
  readonly recent: readonly boolean[];
  /**
   * How long an open breaker waits, and until when. A half-open one waits that long for its probe, a closed one
   * never.
   */
  readonly pauseMs: number;
  readonly untilMs: number;
  /** The number of phase changes, including announced ones: the higher number is newer. */
  readonly changeCount: number;
  /** A call of another process probes the half-open breaker. */
  readonly isProbedByAnotherNode: boolean;
}

/** A breaker in another process's announcement. Clocks differ, so it has the remaining pause. */
export interface BreakerReport {
  readonly phase: BreakerPhase;
  readonly changeCount: number;
  readonly pauseMs: number;
  readonly leftMs: number;
}

export const CLOSED_BREAKER: BreakerState = {
  phase: "closed",
  failuresInRow: 0,
  recent: [],
  pauseMs: PAUSE_MS,
  untilMs: 0,
  changeCount: 0,
  isProbedByAnotherNode: false,
};

/** With equal counters the worst phase wins, which is the last in this list. */
const WORSE: readonly BreakerPhase[] = ["closed", "halfOpen", "open"];

/** Faults that reject the credential itself: another call with it fails as well. */
const LASTING_FAULTS: ReadonlySet<VendorFault> = new Set(["unauthorized", "quotaExceeded"]);
/** Faults of one request or one caller, which show nothing about the vendor. */
export const NOT_THE_VENDORS: ReadonlySet<VendorFault> = new Set([
  "refused",
  "notFound",
  "aborted",
]);

/** Whether a call skips this vendor. */
export function isSkipped({ untilMs }: BreakerState, nowMs: number): boolean {
  return nowMs < untilMs;
}

/** A call wants to use the vendor. The first call after the pause is the probe, and the others wait for its result. */
export function withProbe(state: BreakerState, nowMs: number): BreakerState {
  if (state.phase === "closed" || nowMs < state.untilMs) return state;
  const changeCount = state.changeCount + 1;
  const untilMs = nowMs + TRIAL_MAX_MS;
  return { ...state, phase: "halfOpen", untilMs, changeCount, isProbedByAnotherNode: false };
}

export function answered(state: BreakerState): BreakerState {
  if (state.phase === "halfOpen") return { ...CLOSED_BREAKER, changeCount: state.changeCount + 1 };
  // A single success among many failures changes nothing: the pause is short.
  if (state.phase === "open") return state;
  if (state.recent.length === 0 && state.failuresInRow === 0) return state;
  return { ...state, failuresInRow: 0, recent: withAnswer(state.recent, false) };
}

/** `retryAfterMs`: the pause that the vendor itself has requested. */
export function failed(
  state: BreakerState,
  fault: VendorFault,
  retryAfterMs: number | undefined,
  nowMs: number,
): BreakerState {
  if (NOT_THE_VENDORS.has(fault)) return state;
  if (state.phase === "halfOpen") {
    return open(state, Math.min(state.pauseMs * 2, PAUSE_MAX_MS), retryAfterMs, nowMs);
  }
  // A request from before the opening, or one without an alternative, gives no new information.
  if (state.phase === "open") return state;
  const failuresInRow = state.failuresInRow + 1;
  const recent = withAnswer(state.recent, true);
  const worse = { ...state, failuresInRow, recent };
  const isWorse =
    LASTING_FAULTS.has(fault) || failuresInRow >= FAILURES_IN_ROW_MAX || isBad(recent);
  return isWorse || retryAfterMs !== undefined ? open(worse, PAUSE_MS, retryAfterMs, nowMs) : worse;
}

/** The probing call has ended without an answer: the next call probes. */
export function abandoned(state: BreakerState, nowMs: number): BreakerState {
  if (state.phase !== "halfOpen" || state.isProbedByAnotherNode) return state;
  return { ...state, phase: "open", untilMs: nowMs, changeCount: state.changeCount + 1 };
}

export function reportOf(state: BreakerState, nowMs: number): BreakerReport {
  const { phase, changeCount, pauseMs, untilMs } = state;
  return { phase, changeCount, pauseMs, leftMs: Math.max(0, untilMs - nowMs) };
}

/**
 * Reports may arrive in any order and repeatedly: the final state is the same. Returns the same object if nothing
 * changes.
 */
export function applyReport(
  state: BreakerState,
  report: BreakerReport,
  nowMs: number,
): BreakerState {
  if (!changesState(state, report)) return state;
  const { phase, changeCount, pauseMs, leftMs } = report;
  if (phase === "closed") return { ...CLOSED_BREAKER, changeCount };
  const untilMs = nowMs + leftMs;
  const isProbedByAnotherNode = phase === "halfOpen";
  return { ...CLOSED_BREAKER, phase, changeCount, pauseMs, untilMs, isProbedByAnotherNode };
}

function changesState(state: BreakerState, report: BreakerReport): boolean {
  // A process that has started since counts from zero: the vendor has failed it all the same.
  if (state.phase === "closed" && report.phase === "open") return true;
  const more = report.changeCount - state.changeCount;
  return more > 0 || (more === 0 && WORSE.indexOf(report.phase) > WORSE.indexOf(state.phase));
}

function open(
  state: BreakerState,
  pauseMs: number,
  retryAfterMs: number | undefined,
  nowMs: number,
): BreakerState {
  const waitMs = Math.min(Math.max(pauseMs, retryAfterMs ?? pauseMs), PAUSE_MAX_MS);
  const changeCount = state.changeCount + 1;
  return { ...state, phase: "open", recent: [], pauseMs, untilMs: nowMs + waitMs, changeCount };
}

function isBad(recent: readonly boolean[]): boolean {
  const failures = recent.filter((hasFailed) => hasFailed).length;
  return recent.length >= RECENT_MIN && failures >= recent.length * FAILURE_RATE_MAX;
}

function withAnswer(recent: readonly boolean[], hasFailed: boolean): readonly boolean[] {
  return [...(recent.length < RECENT_MAX ? recent : recent.slice(1)), hasFailed];
}

/**
 * A credential, identified by the id of its provider, which is not secret. Another version of it may work although
 * this one does not.
 */
export interface Credential {
  readonly id: string;
  /** The time of its last change in epoch milliseconds, the same in every process. */
  readonly version: number;
  readonly category: Category;
  readonly vendor: string;
  /** The organization that uses a provider of the platform; omitted if an organization owns the provider. */
  readonly orgId?: string | undefined;
}

/** Identifies a breaker, whatever the credential's version. */
export function breakerKey({ id, orgId }: Pick<Credential, "id" | "orgId">): string {
  return orgId === undefined ? id : `${id} ${orgId}`;
}

/** What a process announces when it opens, closes or probes a breaker. */
export interface BreakerEvent extends Credential, BreakerReport {
  /** The vendor's newest failure, and how long ago it was. */
  readonly lastFault: { readonly fault: VendorFault; readonly agoMs: number } | undefined;
}

/** The connection to other processes and servers that use the same credentials. */
export interface BreakerExchange {
  publish(news: BreakerEvent): void;
  /** Sets the receiver of events from other processes; called once. */
  onEvent(receive: (news: BreakerEvent) => void): void;
}

/** The announced state, corrected by its age. */
export function afterWaiting(news: BreakerEvent, waitedMs: number): BreakerEvent {
  const { leftMs, lastFault } = news;
  return {
    ...news,
    leftMs: Math.max(0, leftMs - waitedMs),
    lastFault: lastFault && { ...lastFault, agoMs: lastFault.agoMs + waitedMs },
  };
}

/** More credentials than any installation uses; of the closed ones the oldest is dropped first. */
const BREAKERS_MAX = 10_000;

/** Failures of one organization may be caused by its own prompts or models, so this many must agree on an outage. */
const OUTAGE_ORGANIZATIONS_MIN = 2;
/** And they must be at least this share of the organizations with a result within this time. */
const OUTAGE_SHARE = 0.5;
const OUTAGE_WINDOW_MS = 60_000;

/**
 * The reported state of a credential: its newest answers as this process knows them, the rest as all processes
 * know it.
 */
export interface BreakerHealth {
  readonly phase: BreakerPhase;
  /** How many of the newest answers, at most 20, were failures; those that opened the breaker do not count. */
  readonly recentFailures: number;
  /** The vendor's own newest failure, however old. */
  readonly lastFault: { readonly fault: VendorFault; readonly atMs: number } | undefined;
}

const UNUSED: BreakerHealth = { phase: "closed", recentFailures: 0, lastFault: undefined };

type BreakerClock = Pick<Clock, "monotonicMs" | "epochMs">;

/** The shared knowledge about one credential: from this process, and from other processes that have announced it. */
export class Breaker {
  readonly credential: Credential;
  readonly #clock: BreakerClock;
  readonly #onChange: (breaker: Breaker) => void;
  readonly #isOutage: () => boolean;
  #state: BreakerState = CLOSED_BREAKER;
  #usedAtMs = Number.NEGATIVE_INFINITY;
  #lastFault: BreakerHealth["lastFault"];

  /**
   * `onChange`: calls of this process have opened, closed or probed it. `isOutage`: other organizations have found
   * that the vendor fails for all of them.
   */
  constructor(
    credential: Credential,
    clock: BreakerClock,
    onChange: (breaker: Breaker) => void,
    isOutage = () => false,
  ) {
    this.credential = credential;
    this.#clock = clock;
    this.#onChange = onChange;
    this.#isOutage = isOutage;
  }

  /** An open breaker whose pause is over waits for a call to probe it. */
  get phase(): BreakerPhase {
    return this.#state.phase;
  }

  get health(): BreakerHealth {
    const recentFailures = this.#state.recent.filter((hasFailed) => hasFailed).length;
    return { phase: this.phase, recentFailures, lastFault: this.#lastFault };
  }

  get isSkipped(): boolean {
    return this.isWaiting || this.#isOutage();
  }

  /** Failures of its own calls keep the next ones away. */
  get isWaiting(): boolean {
    return isSkipped(this.#state, this.#clock.monotonicMs());
  }

  /** Whether the vendor has answered or failed a call of this process recently. */
  get isInUse(): boolean {
    return this.#clock.monotonicMs() - this.#usedAtMs <= OUTAGE_WINDOW_MS;
  }

  /** The state as it is announced to other processes. */
  get lastEvent(): BreakerEvent {
    const { fault, atMs = 0 } = this.#lastFault ?? {};
    return {
      ...this.credential,
      ...reportOf(this.#state, this.#clock.monotonicMs()),
      lastFault: fault && { fault, agoMs: Math.max(0, this.#clock.epochMs() - atMs) },
    };
  }

  onRequest(): void {
    this.#become(withProbe(this.#state, this.#clock.monotonicMs()));
  }

  answered(): void {
    this.#usedAtMs = this.#clock.monotonicMs();
    this.#become(answered(this.#state));
  }

  failed({ fault, retryAfterMs }: Pick<VendorError, "fault" | "retryAfterMs">): void {
    if (!NOT_THE_VENDORS.has(fault)) {
      this.#usedAtMs = this.#clock.monotonicMs();
      this.#lastFault = { fault, atMs: this.#clock.epochMs() };
    }
    this.#become(failed(this.#state, fault, retryAfterMs, this.#clock.monotonicMs()));
  }

  abandoned(): void {
    this.#become(abandoned(this.#state, this.#clock.monotonicMs()));
  }

  /** Another process has announced it, so it is not announced again. */
  applyReport({ lastFault, ...report }: BreakerEvent): void {
    const state = applyReport(this.#state, report, this.#clock.monotonicMs());
    if (state === this.#state) return;
    this.#state = state;
    if (lastFault === undefined) return;
    const { fault, agoMs } = lastFault;
    this.#lastFault = { fault, atMs: this.#clock.epochMs() - agoMs };
  }

  #become(state: BreakerState): void {
    const { changeCount } = this.#state;
    this.#state = state;
    if (state.changeCount !== changeCount) this.#onChange(this);
  }
}

/**
 * The breakers of all credentials that calls have used, shared with other processes if there is an exchange. A
 * credential of the platform has one breaker for each organization that uses it, so that none can close the vendor
 * to the others; an outage that several organizations find at the same time applies to all.
 */
export class Breakers {
  readonly #clock: BreakerClock;
  readonly #exchange: BreakerExchange | undefined;
  readonly #byKey = new Map<string, Breaker>();
  /** The breakers of a platform credential, by its id. */
  readonly #byShared = new Map<string, Set<Breaker>>();

  constructor(clock: BreakerClock, exchange?: BreakerExchange) {
    this.#clock = clock;
    this.#exchange = exchange;
    exchange?.onEvent((news) => this.applyReport(news));
  }

  of(credential: Credential): Breaker {
    const { id, version, category, vendor, orgId } = credential;
    const key = breakerKey(credential);
    const known = this.#byKey.get(key);
    if (known?.credential.version === version) return known;
    if (known !== undefined) this.#forget(key, known);
    else if (this.#byKey.size >= BREAKERS_MAX) this.#forgetOne();
    const isShared = orgId !== undefined;
    const named = { id, version, category, vendor, ...(isShared ? { orgId } : {}) };
    const tell = (changed: Breaker): void => this.#publish(changed);
    const isOutage = isShared ? () => this.#isOutage(id, version) : undefined;
    const breaker = new Breaker(named, this.#clock, tell, isOutage);
    this.#byKey.set(key, breaker);
    if (isShared) this.#byShared.set(id, (this.#byShared.get(id) ?? new Set()).add(breaker));
    return breaker;
  }

  /**
   * Announcements from before a credential was changed have no effect, and neither has the closing of an unused one.
   */
  applyReport(news: BreakerEvent): void {
    const known = this.#byKey.get(breakerKey(news))?.credential.version;
    if (known === undefined ? news.phase === "closed" : known > news.version) return;
    this.of(news).applyReport(news);
  }

  /** Closed and without a fault for a credential that no call has used since it was changed. */
  healthOf(credential: Pick<Credential, "id" | "version" | "orgId">): BreakerHealth {
    const breaker = this.#byKey.get(breakerKey(credential));
    return breaker?.credential.version === credential.version ? breaker.health : UNUSED;
  }

  /**
   * Breakers that are not closed, by category and vendor; one for a platform credential if half of its users have
   * failures.
   */
  failing(): readonly Pick<Credential, "category" | "vendor">[] {
    const own = this.#notClosed().filter(({ credential }) => credential.orgId === undefined);
    const shared = [...this.#byShared.values()].flatMap((users) => {
      const { counted, troubled } = share([...users], ({ phase }) => phase !== "closed");
      const [one] = troubled;
      return one !== undefined && troubled.length >= counted * OUTAGE_SHARE ? [one] : [];
    });
    return [...own, ...shared].map(({ credential }) => credential);
  }

  /** Events of breakers that are not closed, for a process that has just started; the newest is last. */
  events(): readonly BreakerEvent[] {
    return this.#notClosed().map(({ lastEvent: news }) => news);
  }

  #isOutage(id: string, version: number): boolean {
    const users = [...(this.#byShared.get(id) ?? [])].filter(
      ({ credential }) => credential.version === version,
    );
    const { counted, troubled } = share(users, ({ isWaiting }) => isWaiting);
    return troubled.length >= OUTAGE_ORGANIZATIONS_MIN && troubled.length >= counted * OUTAGE_SHARE;
  }

  #notClosed(): readonly Breaker[] {
    return [...this.#byKey.values()].filter(({ phase }) => phase !== "closed");
  }

  #forgetOne(): void {
    const [oldest] = this.#byKey;
    const closed = [...this.#byKey].find(([, { phase }]) => phase === "closed") ?? oldest;
    if (closed !== undefined) this.#forget(...closed);
  }

  #forget(key: string, breaker: Breaker): void {
    this.#byKey.delete(key);
    const { id } = breaker.credential;
    const users = this.#byShared.get(id);
    users?.delete(breaker);
    if (users?.size === 0) this.#byShared.delete(id);
  }

  /** A call that started before its credential was changed shows nothing about the current one. */
  #publish(breaker: Breaker): void {
    if (this.#byKey.get(breakerKey(breaker.credential)) === breaker) {
      this.#exchange?.publish(breaker.lastEvent);
    }
  }
}

/** How many organizations have a recent result from the vendor, and how many of those are failures. */
function share(
  users: readonly Breaker[],
  isTroubled: (breaker: Breaker) => boolean,
): { readonly counted: number; readonly troubled: readonly Breaker[] } {
  const troubled = users.filter(isTroubled);
  const counted = users.filter((user) => user.isInUse || isTroubled(user)).length;
  return { counted, troubled };
}
