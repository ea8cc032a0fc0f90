import { WEB_AUDIO } from "../../engine/session/leg-audio.js";

const BYTES_PER_SAMPLE = 2;

/** What a caller says before the session is ready; of more, the newest counts. */
const EARLY_AUDIO_BYTES_MAX = 2_000 * WEB_AUDIO.bytesPerMs;

/**
 * Puts the caller's frames on whole samples and, until there is someone to hear them, keeps the newest two seconds.
 * The bytes of a frame are only valid while it is accepted; `sink` copies what it keeps.
 */
export class AudioIntake {
  #sink: ((audio: Uint8Array) => void) | undefined;
  #early: Buffer[] = [];
  #earlyBytes = 0;
  /** The first half of a sample whose second half begins the next frame. */
  #halfSample: number | undefined;

  accept(frame: Uint8Array): void {
    const samples = this.#wholeSamples(frame);
    if (samples.byteLength === 0) return;
    if (this.#sink === undefined) this.#keep(Buffer.from(samples));
    else this.#sink(samples);
  }

  connect(sink: (audio: Uint8Array) => void): void {
    const early = this.#early;
    this.#early = [];
    this.#earlyBytes = 0;
    this.#sink = sink;
    for (const audio of early) sink(audio);
  }

  #keep(audio: Buffer): void {
    const newest = audio.subarray(Math.max(0, audio.byteLength - EARLY_AUDIO_BYTES_MAX));
    this.#early.push(newest);
    this.#earlyBytes += newest.byteLength;
    while (this.#earlyBytes > EARLY_AUDIO_BYTES_MAX) {
      this.#earlyBytes -= this.#early.shift()?.byteLength ?? 0;
    }
  }

  #wholeSamples(frame: Uint8Array): Uint8Array {
    if (this.#halfSample === undefined && frame.byteLength % BYTES_PER_SAMPLE === 0) return frame;
    const carriedBytes = this.#halfSample === undefined ? 0 : 1;
    const joined = new Uint8Array(carriedBytes + frame.byteLength);
    if (this.#halfSample !== undefined) joined[0] = this.#halfSample;
    joined.set(frame, carriedBytes);
    const wholeBytes = joined.byteLength - (joined.byteLength % BYTES_PER_SAMPLE);
    this.#halfSample = joined[wholeBytes];
    return joined.subarray(0, wholeBytes);
  }
}
