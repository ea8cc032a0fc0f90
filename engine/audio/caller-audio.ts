import { historyBytes, type InboundPiece } from "./inbound-batch.js";
import {
  bytesPerSample,
  PHONE_RATE_HZ,
  type PhoneEncoding,
  silenceByte,
} from "./phone-encoding.js";

/** What is older than this is of no use to a recognizer that is to answer at once; a pool so far behind has to shed. */
export const CALLER_AUDIO_WAITING_MAX_MS = 1_000;

/** A caller's audio on its way to the pool: the little past that the filter needs, and after it what waits. */
export class CallerAudio {
  readonly encoding: PhoneEncoding;
  readonly #sampleBytes: 1 | 2;
  readonly #pastBytes: number;
  readonly #buffer: Uint8Array;
  #end: number;
  #droppedBytes = 0;

  constructor(encoding: PhoneEncoding) {
    this.encoding = encoding;
    this.#sampleBytes = bytesPerSample(encoding);
    this.#pastBytes = historyBytes(encoding);
    const waitingBytes = this.#bytesIn(CALLER_AUDIO_WAITING_MAX_MS);
    this.#buffer = new Uint8Array(this.#pastBytes + waitingBytes).fill(silenceByte(encoding));
    this.#end = this.#pastBytes;
  }

  get waitingBytes(): number {
    return this.#end - this.#pastBytes;
  }

  get waitingMs(): number {
    return this.#milliseconds(this.waitingBytes);
  }

  get droppedMs(): number {
    return this.#milliseconds(this.#droppedBytes);
  }

  /** Copies the frame; half a sample at its end is left out. At the bound the oldest audio goes: how much, in ms. */
  push(frame: Uint8Array): number {
    const whole = frame.length - (frame.length % this.#sampleBytes);
    const roomAll = this.#buffer.length - this.#pastBytes;
    const from = Math.max(0, whole - roomAll);
    const size = whole - from;
    const excess = Math.max(0, this.#end + size - this.#buffer.length);
    if (excess > 0) this.#drop(excess);
    this.#buffer.set(size === frame.length ? frame : frame.subarray(from, whole), this.#end);
    this.#end += size;
    const dropped = from + excess;
    if (dropped === 0) return 0;
    this.#droppedBytes += dropped;
    return this.#milliseconds(dropped);
  }

  /** Valid until `push` or `sent`. */
  piece(): InboundPiece {
    return { encoding: this.encoding, bytes: this.#buffer.subarray(0, this.#end) };
  }

  /** The piece has gone; its end is the past of the next. */
  sent(): void {
    this.#buffer.copyWithin(0, this.#end - this.#pastBytes, this.#end);
    this.#end = this.#pastBytes;
  }

  #drop(bytes: number): void {
    this.#buffer.copyWithin(0, bytes, this.#end);
    this.#end -= bytes;
  }

  #bytesIn(durationMs: number): number {
    return (durationMs * PHONE_RATE_HZ * this.#sampleBytes) / 1_000;
  }

  #milliseconds(bytes: number): number {
    return (bytes * 1_000) / (PHONE_RATE_HZ * this.#sampleBytes);
  }
}
