import type { Category } from "../../../storage/records.js";
import type { Clock } from "../../time/clock.js";
import type { VendorError } from "../contracts.js";
import {
  abandoned,
  answered,
  asked,
  type BreakerPhase,
  type BreakerState,
  CLOSED_BREAKER,
  failed,
  isSkipped,
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

/** What all calls of the process know of one credential. */
export class Breaker {
  readonly credential: Credential;
  readonly #clock: Pick<Clock, "monotonicMs">;
  #state: BreakerState = CLOSED_BREAKER;

  constructor(credential: Credential, clock: Pick<Clock, "monotonicMs">) {
    this.credential = credential;
    this.#clock = clock;
  }

  /** An open one whose pause is over waits for a call to try it. */
  get phase(): BreakerPhase {
    return this.#state.phase;
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
  }

  abandoned(): void {
    this.#state = abandoned(this.#state, this.#clock.monotonicMs());
  }
}

/** The breakers of this process, one for each credential. */
export class Breakers {
  readonly #clock: Pick<Clock, "monotonicMs">;
  readonly #byId = new Map<string, Breaker>();

  constructor(clock: Pick<Clock, "monotonicMs">) {
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

  /** Closed for a credential that nobody has used. */
  phaseOf(id: string): BreakerPhase {
    return this.#byId.get(id)?.phase ?? "closed";
  }

  /** Those that are not closed, by category and vendor. */
  troubled(): readonly Pick<Credential, "category" | "vendor">[] {
    return [...this.#byId.values()]
      .filter(({ phase }) => phase !== "closed")
      .map(({ credential }) => credential);
  }
}
