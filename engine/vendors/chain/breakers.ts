import type { Clock } from "../../time/clock.js";
import type { VendorError, VendorFault } from "../contracts.js";
import type { BreakerExchange, BreakerNews, Credential } from "./breaker-news.js";
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

/** More credentials than any installation has in use; the one made first is forgotten first. */
const BREAKERS_MAX = 10_000;

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
  #state: BreakerState = CLOSED_BREAKER;
  #lastFault: BreakerHealth["lastFault"];

  /** `onChange`: calls of this process have opened or closed it, or try it. */
  constructor(credential: Credential, clock: BreakerClock, onChange: (breaker: Breaker) => void) {
    this.credential = credential;
    this.#clock = clock;
    this.#onChange = onChange;
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
    return isSkipped(this.#state, this.#clock.monotonicMs());
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
    this.#become(answered(this.#state));
  }

  failed({ fault, retryAfterMs }: Pick<VendorError, "fault" | "retryAfterMs">): void {
    if (!NOT_THE_VENDORS.has(fault)) this.#lastFault = { fault, atMs: this.#clock.epochMs() };
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

/** The breakers of all credentials that calls have used, one for each; shared where there is an exchange. */
export class Breakers {
  readonly #clock: BreakerClock;
  readonly #exchange: BreakerExchange | undefined;
  readonly #byId = new Map<string, Breaker>();

  constructor(clock: BreakerClock, exchange?: BreakerExchange) {
    this.#clock = clock;
    this.#exchange = exchange;
    exchange?.onNews((news) => this.heard(news));
  }

  of(credential: Credential): Breaker {
    const { id, version, category, vendor } = credential;
    const known = this.#byId.get(id);
    if (known?.credential.version === version) return known;
    const [oldest] = this.#byId.keys();
    if (this.#byId.size >= BREAKERS_MAX && oldest !== undefined) this.#byId.delete(oldest);
    const named = { id, version, category, vendor };
    const breaker = new Breaker(named, this.#clock, (changed) => this.#tell(changed));
    this.#byId.set(id, breaker);
    return breaker;
  }

  /** News from before a credential was changed say nothing of it, and neither does the closing of one that nobody uses. */
  heard(news: BreakerNews): void {
    const known = this.#byId.get(news.id)?.credential.version;
    if (known === undefined ? news.phase === "closed" : known > news.version) return;
    this.of(news).heard(news);
  }

  /** Closed and without a fault for a credential that nobody has used since it was changed. */
  healthOf({ id, version }: Pick<Credential, "id" | "version">): BreakerHealth {
    const breaker = this.#byId.get(id);
    return breaker?.credential.version === version ? breaker.health : UNUSED;
  }

  /** Those that are not closed, by category and vendor. */
  troubled(): readonly Pick<Credential, "category" | "vendor">[] {
    return this.#notClosed().map(({ credential }) => credential);
  }

  /** News of breakers that are not closed, for who knows nothing of them yet; the newest at the end. */
  news(): readonly BreakerNews[] {
    return this.#notClosed().map(({ news }) => news);
  }

  #notClosed(): readonly Breaker[] {
    return [...this.#byId.values()].filter(({ phase }) => phase !== "closed");
  }

  /** A call that has begun before its credential was changed says nothing of what it is now. */
  #tell(breaker: Breaker): void {
    if (this.#byId.get(breaker.credential.id) === breaker) this.#exchange?.tell(breaker.news);
  }
}
