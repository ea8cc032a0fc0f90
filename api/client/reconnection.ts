import type { CancelTimer, ClientClock } from "./client-clock.js";

/** How long a broken connection is tried again: the caller still has the receiver in his hand. */
export const RECONNECT_MAX_MS = 30_000;
const FIRST_DELAY_MS = 250;
const DELAY_MAX_MS = 4_000;
/** A connection that breaks sooner counts as another try: else one that breaks at once were made anew for ever. */
const LASTING_MS = 5_000;
/** Broken off, the server failed, restarts, or is overloaded; see docs/reference/protocol.md. */
const WORTH_ANOTHER_TRY: ReadonlySet<number> = new Set([1005, 1006, 1011, 1012, 1013]);
/** Where the broken call still holds its place. */
const FULL = 4029;

/** When to try again, and when to give up. */
export class Reconnection {
  readonly #clock: ClientClock;
  readonly #chance: () => number;
  #beganAtMs: number | undefined;
  #succeededAtMs: number | undefined;
  #tries = 0;
  #cancel: CancelTimer | undefined;

  constructor(clock: ClientClock, chance: () => number) {
    this.#clock = clock;
    this.#chance = chance;
  }

  get isOn(): boolean {
    return this.#beganAtMs !== undefined && this.#succeededAtMs === undefined;
  }

  /** How long to wait after a connection has closed so; undefined when it is not worth it, or no longer. */
  delayMs(code: number): number | undefined {
    if (!WORTH_ANOTHER_TRY.has(code) && !(this.isOn && code === FULL)) return undefined;
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - (this.#succeededAtMs ?? nowMs) >= LASTING_MS) this.#forget();
    this.#succeededAtMs = undefined;
    this.#beganAtMs ??= nowMs;
    // Half of it by chance: a server that restarts is not to meet all of its clients at once.
    const longestMs = Math.min(DELAY_MAX_MS, FIRST_DELAY_MS * 2 ** this.#tries);
    const delayMs = longestMs * (0.5 + this.#chance() / 2);
    this.#tries += 1;
    return nowMs + delayMs - this.#beganAtMs > RECONNECT_MAX_MS ? undefined : delayMs;
  }

  retry(delayMs: number, action: () => void): void {
    this.#cancel?.();
    this.#cancel = this.#clock.after(delayMs, action);
  }

  succeeded(): void {
    this.stop();
    this.#succeededAtMs = this.#clock.monotonicMs();
  }

  stop(): void {
    this.#cancel?.();
  }

  #forget(): void {
    this.#beganAtMs = undefined;
    this.#tries = 0;
  }
}
