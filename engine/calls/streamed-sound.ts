import type { Conversion, ConversionListener } from "../audio/conversion-queue.js";
import { decodePcm } from "../audio/sample-coding.js";
import type { AudioTrack } from "./recording/audio-track.js";

export interface StreamedSoundOptions {
  readonly track: AudioTrack;
  /** Where it begins, in samples of the recording. */
  readonly at: number;
  /** Samples of the recording for each one of the sound. */
  readonly ratio: number;
  readonly open: (listener: ConversionListener) => Conversion;
  /** Nothing of it follows; with an error, the rest of it is missing. */
  readonly onOver: (error?: Error) => void;
}

/** Speech that came in pieces, each where the one before it ended, on its way to the recording's own rate. */
export class StreamedSound {
  /** The sample at which it is cut. */
  until = Number.POSITIVE_INFINITY;
  readonly #options: StreamedSoundOptions;
  readonly #conversion: Conversion;
  #samples = 0;
  #placedSamples = 0;

  constructor(options: StreamedSoundOptions) {
    this.#options = options;
    this.#conversion = options.open({
      onAudio: (audio) => this.#place(decodePcm(audio, true)),
      onEnd: () => options.onOver(),
      onFailed: (error) => options.onOver(error),
    });
  }

  /** Where the next piece would stand. */
  get endsAt(): number {
    return this.#options.at + Math.round(this.#samples * this.#options.ratio);
  }

  /** Whole samples of 16 bits, low byte first; the bytes must stay as they are. */
  add(pcm: Uint8Array): void {
    this.#samples += pcm.byteLength / 2;
    this.#conversion.write(pcm);
  }

  end(): void {
    this.#conversion.end();
  }

  #place(pcm: Int16Array): void {
    const { at, track } = this.#options;
    const position = at + this.#placedSamples;
    this.#placedSamples += pcm.length;
    track.place(position, pcm.subarray(0, Math.max(0, this.until - position)));
  }
}
