import type { Clock } from "../../engine/time/clock.js";

/** How long the caller waited for a sound of the agent, when the agent owed one. */
export class CallerWait {
  readonly #clock: Clock;
  #soundEndsAtMs = 0;
  #owedSinceMs: number | undefined;
  #longestMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get longestMs(): number {
    return this.#longestMs;
  }

  owe(): void {
    this.#owedSinceMs ??= this.#clock.monotonicMs();
  }

  settle(): void {
    this.#owedSinceMs = undefined;
  }

  /** The agent is heard from now on, or behind what plays; the silence before it was the caller's wait, if it was owed. */
  hear(durationMs: number, isHeld: boolean): void {
    const nowMs = this.#clock.monotonicMs();
    const quietMs = nowMs - Math.max(this.#soundEndsAtMs, this.#owedSinceMs ?? nowMs);
    if (!isHeld) this.#longestMs = Math.max(this.#longestMs, quietMs);
    this.#soundEndsAtMs = Math.max(nowMs, this.#soundEndsAtMs) + durationMs;
  }

  stop(): void {
    this.#soundEndsAtMs = this.#clock.monotonicMs();
  }
}
