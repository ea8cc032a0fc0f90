import type { TimedWord } from "../../engine/conversation/playback-ledger.js";
import type { Clock } from "../../engine/time/clock.js";

/** Keeps the audio of one sentence as its voice delivers it. */
export class RecordingDelivery {
  readonly pieces: Uint8Array[] = [];
  readonly words: TimedWord[] = [];
  durationMs = 0;
  firstByteAtMs: number | undefined;
  isFinished = false;
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get audio(): Uint8Array {
    const [only] = this.pieces;
    return this.pieces.length === 1 && only !== undefined ? only : Buffer.concat(this.pieces);
  }

  firstByte(): void {
    this.firstByteAtMs ??= this.#clock.monotonicMs();
  }

  timed(words: readonly TimedWord[]): void {
    this.words.push(...words);
  }

  add(audio: Uint8Array, durationMs: number): void {
    this.firstByte();
    this.pieces.push(audio);
    this.durationMs += durationMs;
  }

  finish(): void {
    this.isFinished = true;
  }
}
