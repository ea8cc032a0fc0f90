import type { Clock } from "../../time/clock.js";
import type { VendorError, VendorFault } from "../contracts.js";
import {
  type BreakerExchange,
  type BreakerNews,
  breakerKey,
  type Credential,
} from "./breaker-news.js";
import {
  abandoned,
  answered,
  asked,
  type BreakerPhase,
  type BreakerState,
  CLOSED_BREAKER,
  failed,
  heard,
  isSkipped,
  NOT_THE_VENDORS,
  toldOf,
} from "./breaker-state.js";

/** More credentials than any installation has in use; of the closed ones the one made first is forgotten first. */
const BREAKERS_MAX = 10_000;

/** Failures of one organization may be its own doing, with its prompts or its models: so many have to agree on an outage. */
const OUTAGE_ORGANIZATIONS_MIN = 2;
/** And they have to be half of those that were answered, or not, within this time. */
const OUTAGE_SHARE = 0.5;
const OUTAGE_WINDOW_MS = 60_000;

/** What can be told of a credential: of its newest answers what this process knows, of the rest what all know. */
export interface BreakerHealth {
  readonly phase: BreakerPhase;
  /** How many of the newest answers, 20 at most, were failures; none of those that have opened it. */
  readonly recentFailures: number;
  /** The newest failure that was the vendor's own, however long ago. */
  readonly lastFault: { readonly fault: VendorFault; readonly atMs: number } | undefined;
}

const UNUSED: BreakerHealth = { phase: "closed", recentFailures: 0, lastFault: undefined };

type BreakerClock = Pick<Clock, "monotonicMs" | "epochMs">;

/** What is known of one credential by all calls: those of this process, and of others that have told of it. */
export class Breaker {
  readonly credential: Credential;
  readonly #clock: BreakerClock;
  readonly #onChange: (breaker: Breaker) => void;
  readonly #isOutage: () => boolean;
  #state: BreakerState = CLOSED_BREAKER;
  #usedAtMs = Number.NEGATIVE_INFINITY;
  #lastFault: BreakerHealth["lastFault"];

  /**
   * `onChange`: calls of this process have opened or closed it, or try it. `isOutage`: other organizations have found out that
   * the vendor fails them all.
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

  /** An open one whose pause is over waits for a call to try it. */
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

  /** What its own calls have found out keeps the next ones away. */
  get isWaiting(): boolean {
    return isSkipped(this.#state, this.#clock.monotonicMs());
  }

  /** Whether the vendor has answered or failed a call of this process lately. */
  get isInUse(): boolean {
    return this.#clock.monotonicMs() - this.#usedAtMs <= OUTAGE_WINDOW_MS;
  }

  /** What others are told of it. */
  get news(): BreakerNews {
    const { fault, atMs = 0 } = this.#lastFault ?? {};
    return {
      ...this.credential,
      ...toldOf(this.#state, this.#clock.monotonicMs()),
      lastFault: fault && { fault, agoMs: Math.max(0, this.#clock.epochMs() - atMs) },
    };
  }

  asked(): void {
    this.#become(asked(this.#state, this.#clock.monotonicMs()));
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

  /** Others have told of it, which nobody is told again. */
  heard({ lastFault, ...told }: BreakerNews): void {
    const state = heard(this.#state, told, this.#clock.monotonicMs());
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
 * The breakers of all credentials that calls have used, shared with other processes where there is an exchange. A credential of
 * the platform has one for each organization that uses it, so that none can close the vendor to the others by its own doing;
 * what several find out at the same time holds for all.
 */
export class Breakers {
  readonly #clock: BreakerClock;
  readonly #exchange: BreakerExchange | undefined;
  readonly #byKey = new Map<string, Breaker>();
  /** Those of a credential of the platform, by its id. */
  readonly #byShared = new Map<string, Set<Breaker>>();

  constructor(clock: BreakerClock, exchange?: BreakerExchange) {
    this.#clock = clock;
    this.#exchange = exchange;
    exchange?.onNews((news) => this.heard(news));
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
    const tell = (changed: Breaker): void => this.#tell(changed);
    const isOutage = isShared ? () => this.#isOutage(id, version) : undefined;
    const breaker = new Breaker(named, this.#clock, tell, isOutage);
    this.#byKey.set(key, breaker);
    if (isShared) this.#byShared.set(id, (this.#byShared.get(id) ?? new Set()).add(breaker));
    return breaker;
  }

  /** News from before a credential was changed say nothing of it, and neither does the closing of one that nobody uses. */
  heard(news: BreakerNews): void {
    const known = this.#byKey.get(breakerKey(news))?.credential.version;
    if (known === undefined ? news.phase === "closed" : known > news.version) return;
    this.of(news).heard(news);
  }

  /** Closed and without a fault for a credential that nobody has used since it was changed. */
  healthOf(credential: Pick<Credential, "id" | "version" | "orgId">): BreakerHealth {
    const breaker = this.#byKey.get(breakerKey(credential));
    return breaker?.credential.version === credential.version ? breaker.health : UNUSED;
  }

  /** Those that are not closed, by category and vendor; of a credential of the platform one, where half of its users have trouble. */
  troubled(): readonly Pick<Credential, "category" | "vendor">[] {
    const own = this.#notClosed().filter(({ credential }) => credential.orgId === undefined);
    const shared = [...this.#byShared.values()].flatMap((users) => {
      const { counted, troubled } = share([...users], ({ phase }) => phase !== "closed");
      const [one] = troubled;
      return one !== undefined && troubled.length >= counted * OUTAGE_SHARE ? [one] : [];
    });
    return [...own, ...shared].map(({ credential }) => credential);
  }

  /** News of breakers that are not closed, for who knows nothing of them yet; the newest at the end. */
  news(): readonly BreakerNews[] {
    return this.#notClosed().map(({ news }) => news);
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

  /** A call that has begun before its credential was changed says nothing of what it is now. */
  #tell(breaker: Breaker): void {
    if (this.#byKey.get(breakerKey(breaker.credential)) === breaker) {
      this.#exchange?.tell(breaker.news);
    }
  }
}

/** How many have something to say of the vendor now, and those of them that are in trouble. */
function share(
  users: readonly Breaker[],
  isTroubled: (breaker: Breaker) => boolean,
): { readonly counted: number; readonly troubled: readonly Breaker[] } {
  const troubled = users.filter(isTroubled);
  const counted = users.filter((user) => user.isInUse || isTroubled(user)).length;
  return { counted, troubled };
}
