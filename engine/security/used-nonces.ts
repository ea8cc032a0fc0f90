import type { Clock } from "../time/clock.js";

/** More calls than any machine takes in the two minutes that a token is remembered; some 15 MB. */
const USED_MAX = 100_000;

export interface UsedNoncesOptions {
  readonly clock: Clock;
  /** Until then no token of the nonce can be good any more. */
  readonly keptMs: number;
  readonly usedMax?: number;
}

/** Which one-use tokens were used. */
export class UsedNonces {
  readonly #clock: Clock;
  readonly #keptMs: number;
  readonly #usedMax: number;
  /** By nonce, when it may be forgotten, on the clock that nobody can set back. The oldest come first. */
  readonly #usedUntilMs = new Map<string, number>();

  constructor({ clock, keptMs, usedMax = USED_MAX }: UsedNoncesOptions) {
    this.#clock = clock;
    this.#keptMs = keptMs;
    this.#usedMax = usedMax;
  }

  get count(): number {
    return this.#usedUntilMs.size;
  }

  /** When memory is full of tokens that could still be shown again, new ones are refused instead of old ones forgotten. */
  use(nonce: string): "used" | "overloaded" | undefined {
    const nowMs = this.#clock.monotonicMs();
    for (const [old, untilMs] of this.#usedUntilMs) {
      if (untilMs > nowMs) break;
      this.#usedUntilMs.delete(old);
    }
    if (this.#usedUntilMs.has(nonce)) return "used";
    if (this.#usedUntilMs.size >= this.#usedMax) return "overloaded";
    this.#usedUntilMs.set(nonce, nowMs + this.#keptMs);
    return undefined;
  }
}
