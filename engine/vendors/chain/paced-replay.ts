import { bytesOfMs, type HeardFormat } from "../../audio/audio-format.js";
import type { CancelTimer, Clock } from "../../time/clock.js";
import { AudioRing } from "../recognizer-stream/audio-ring.js";

/** Backlog goes out in steps of this length at this multiple of real time: in a burst it would be refused. */
const STEP_MS = 20;
const SPEED = 2;

/** The newest audio of a call, and how it is told once more to a recognizer that has not heard it. */
export class PacedReplay {
  readonly #clock: Clock;
  readonly #format: HeardFormat;
  readonly #keptMs: number;
  readonly #ring: AudioRing;
  #nextByte = 0;
  #steppedMs = 0;
  #cancel: CancelTimer | undefined;

  constructor(
    clock: Clock,
    format: HeardFormat,
    keptMs: number,
    ring = new AudioRing(bytesOfMs(format, keptMs)),
  ) {
    this.#clock = clock;
    this.#format = format;
    this.#keptMs = keptMs;
    this.#ring = ring;
  }

  /** Tells the same audio to a second recognizer; only one of the two is to `keep` what comes. */
  beside(): PacedReplay {
    return new PacedReplay(this.#clock, this.#format, this.#keptMs, this.#ring);
  }

  /** Backlog is still being told: what comes meanwhile goes behind it. */
  get isUnderway(): boolean {
    return this.#cancel !== undefined;
  }

  get endByte(): number {
    return this.#ring.endByte;
  }

  get startByte(): number {
    return this.#ring.startByte;
  }

  keep(audio: Uint8Array): void {
    this.#ring.write(audio);
  }

  /** Tells all from this byte on, and then what comes, until it has caught up. */
  start(fromByte: number, write: (audio: Uint8Array) => void): void {
    this.stop();
    this.#nextByte = fromByte;
    if (fromByte >= this.#ring.endByte) return;
    this.#steppedMs = this.#clock.monotonicMs();
    this.#cancel = this.#clock.every(STEP_MS, () => this.#step(write));
  }

  /** All that is left at once: the call ends. */
  flush(write: (audio: Uint8Array) => void): void {
    if (!this.isUnderway) return;
    this.stop();
    write(this.#ring.read(this.#nextByte, this.#ring.endByte));
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #step(write: (audio: Uint8Array) => void): void {
    // A late step tells as much more: in steps of one size a busy process would fall behind the caller for good.
    const nowMs = this.#clock.monotonicMs();
    const stepBytes = bytesOfMs(this.#format, Math.floor((nowMs - this.#steppedMs) * SPEED));
    this.#steppedMs = nowMs;
    const fromByte = Math.max(this.#nextByte, this.#ring.startByte);
    const toByte = Math.min(fromByte + stepBytes, this.#ring.endByte);
    this.#nextByte = toByte;
    if (toByte === this.#ring.endByte) this.stop();
    if (toByte > fromByte) write(this.#ring.read(fromByte, toByte));
  }
}
