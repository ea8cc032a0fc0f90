import { bytesPerMs } from "../../engine/audio/audio-format.js";
import { WholeSamples } from "../../engine/audio/whole-samples.js";
import { WEB_AUDIO } from "../../engine/conversation/leg-audio.js";

/** What a caller says before the session is ready; of more, the newest counts. */
const EARLY_AUDIO_BYTES_MAX = 2_000 * bytesPerMs(WEB_AUDIO.heard);

/**
 * Puts the caller's frames on whole samples and, until there is someone to hear them, keeps the newest two seconds.
 * The bytes of a frame are only valid while it is accepted; `sink` copies what it keeps.
 */
export class AudioIntake {
  #sink: ((audio: Uint8Array) => void) | undefined;
  #early: Buffer[] = [];
  #earlyBytes = 0;
  readonly #wholeSamples = new WholeSamples();

  accept(frame: Uint8Array): void {
    const samples = this.#wholeSamples.take(frame);
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
}
