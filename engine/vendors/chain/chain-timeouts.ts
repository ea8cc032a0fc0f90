import type { CancelTimer, Clock } from "../../time/clock.js";

/**
 * One attempt that is abandoned when no data arrives for too long: one timer, which checks for data when it fires.
 * Without a limit it only forwards cancellation.
 */
export class ReplyTimeout {
  readonly signal: AbortSignal;
  readonly #receivedText: AbortSignal;
  readonly #onAbort = () => this.#cancel();
  #limitMs: number;
  readonly #clock: Clock;
  readonly #expired = new AbortController();
  readonly #startedAtMs: number;
  #progressAtMs: number;
  #cancel: CancelTimer = () => undefined;

  constructor(clock: Clock, limitMs: number | undefined, signal: AbortSignal) {
    this.#clock = clock;
    this.#receivedText = signal;
    this.#limitMs = limitMs ?? Number.POSITIVE_INFINITY;
    this.#startedAtMs = clock.monotonicMs();
    this.#progressAtMs = this.#startedAtMs;
    this.signal = limitMs === undefined ? signal : AbortSignal.any([signal, this.#expired.signal]);
    if (limitMs === undefined) return;
    this.#wait(limitMs);
    // Immediately, not when the client has noticed: a call that has ended leaves no timer behind.
    signal.addEventListener("abort", this.#onAbort);
  }

  get isOver(): boolean {
    return this.#expired.signal.aborted;
  }

  get passedMs(): number {
    return this.#clock.monotonicMs() - this.#startedAtMs;
  }

  /** How long no data has arrived. */
  get quietMs(): number {
    return this.#clock.monotonicMs() - this.#progressAtMs;
  }

  /** Data has arrived; the next may take `nextMs`, if that differs from the previous limit. */
  progress(nextMs = this.#limitMs): void {
    this.#progressAtMs = this.#clock.monotonicMs();
    if (this.#limitMs === Number.POSITIVE_INFINITY || nextMs === this.#limitMs) return;
    this.#limitMs = nextMs;
    this.#cancel();
    this.#wait(nextMs);
  }

  /** Extends the limit, counted from the last data. */
  allow(limitMs: number): void {
    this.#limitMs = Math.max(this.#limitMs, limitMs);
  }

  /** Removes the limit. */
  lift(): void {
    this.#limitMs = Number.POSITIVE_INFINITY;
    this.#cancel();
  }

  end(): void {
    this.#cancel();
    this.#receivedText.removeEventListener("abort", this.#onAbort);
  }

  #wait(delayMs: number): void {
    this.#cancel = this.#clock.after(delayMs, () => {
      const leftMs = this.#limitMs - this.quietMs;
      if (leftMs < 1) this.#expired.abort();
      else this.#wait(leftMs);
    });
  }
}
