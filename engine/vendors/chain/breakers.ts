import type { Category } from "../../../storage/records.js";
import type { Clock } from "../../time/clock.js";
import type { VendorError, VendorFault } from "../contracts.js";
import {
  abandoned,
  answered,
  asked,
  type BreakerPhase,
  type BreakerState,
  CLOSED_BREAKER,
  failed,
  isSkipped,
  NOT_THE_VENDORS,
} from "./breaker-state.js";

/** More credentials than any installation has in use; the one made first is forgotten first. */
const BREAKERS_MAX = 10_000;

/** A credential: another version of it may work although this one does not. */
export interface Credential {
  readonly id: string;
  readonly version: string;
  readonly category: Category;
  readonly vendor: string;
}

/** What can be told of a credential, as this process knows it. */
export interface BreakerHealth {
  readonly phase: BreakerPhase;
  /** How many of the newest answers, 20 at most, were failures; none of those that have opened it. */
  readonly recentFailures: number;
  /** The newest failure that was the vendor's own, however long ago. */
  readonly lastFault: { readonly fault: VendorFault; readonly atMs: number } | undefined;
}

const UNUSED: BreakerHealth = { phase: "closed", recentFailures: 0, lastFault: undefined };

type BreakerClock = Pick<Clock, "monotonicMs" | "epochMs">;

/** What all calls of the process know of one credential. */
export class Breaker {
  readonly credential: Credential;
  readonly #clock: BreakerClock;
  #state: BreakerState = CLOSED_BREAKER;
  #lastFault: BreakerHealth["lastFault"];

  constructor(credential: Credential, clock: BreakerClock) {
    this.credential = credential;
    this.#clock = clock;
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
    return this.#state.phase !== "closed" && isSkipped(this.#state, this.#clock.monotonicMs());
  }

  asked(): void {
    if (this.#state.phase === "closed") return;
    this.#state = asked(this.#state, this.#clock.monotonicMs());
  }

  answered(): void {
    this.#state = answered(this.#state);
  }

  failed({ fault, retryAfterMs }: Pick<VendorError, "fault" | "retryAfterMs">): void {
    this.#state = failed(this.#state, fault, retryAfterMs, this.#clock.monotonicMs());
    if (!NOT_THE_VENDORS.has(fault)) this.#lastFault = { fault, atMs: this.#clock.epochMs() };
  }

  abandoned(): void {
    this.#state = abandoned(this.#state, this.#clock.monotonicMs());
  }
}

/** The breakers of this process, one for each credential. */
export class Breakers {
  readonly #clock: BreakerClock;
  readonly #byId = new Map<string, Breaker>();

  constructor(clock: BreakerClock) {
    this.#clock = clock;
  }

  of(credential: Credential): Breaker {
    const known = this.#byId.get(credential.id);
    if (known?.credential.version === credential.version) return known;
    const [oldest] = this.#byId.keys();
    if (this.#byId.size >= BREAKERS_MAX && oldest !== undefined) this.#byId.delete(oldest);
    const breaker = new Breaker(credential, this.#clock);
    this.#byId.set(credential.id, breaker);
    return breaker;
  }

  /** Closed and without a fault for a credential that nobody has used. */
  healthOf(id: string): BreakerHealth {
    return this.#byId.get(id)?.health ?? UNUSED;
  }

  /** Those that are not closed, by category and vendor. */
  troubled(): readonly Pick<Credential, "category" | "vendor">[] {
    return [...this.#byId.values()]
      .filter(({ phase }) => phase !== "closed")
      .map(({ credential }) => credential);
  }
}
