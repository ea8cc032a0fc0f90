import type { CancelTimer, Clock } from "../../engine/time/clock.js";

const REPORT_MS = 200;

/** Plays what it is sent, a little later than it came, and tells now and then how much of the turn it has played. */
export class SimulatedBrowser {
  readonly #clock: Clock;
  readonly #bufferMs: number;
  readonly #onPlayed: (turnId: number, playedMs: number) => void;
  #turnId = 0;
  #sentMs = 0;
  #beganAtMs = 0;
  #cancel: CancelTimer | undefined;

  constructor(
    clock: Clock,
    bufferMs: number,
    onPlayed: (turnId: number, playedMs: number) => void,
  ) {
    this.#clock = clock;
    this.#bufferMs = bufferMs;
    this.#onPlayed = onPlayed;
  }

  play(turnId: number, durationMs: number): void {
    const nowMs = this.#clock.monotonicMs();
    if (turnId !== this.#turnId) {
      this.#turnId = turnId;
      this.#sentMs = 0;
      this.#beganAtMs = nowMs + this.#bufferMs;
    }
    // Whoever had played all there was goes on with what comes now.
    this.#beganAtMs = Math.max(this.#beganAtMs, nowMs - this.#sentMs);
    this.#sentMs += durationMs;
    this.#cancel ??= this.#clock.after(REPORT_MS, () => this.#tell());
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #tell(): void {
    this.#cancel = undefined;
    const playedMs = Math.max(0, this.#clock.monotonicMs() - this.#beganAtMs);
    if (playedMs < this.#sentMs) this.#cancel = this.#clock.after(REPORT_MS, () => this.#tell());
    this.#onPlayed(this.#turnId, Math.min(playedMs, this.#sentMs));
  }
}
