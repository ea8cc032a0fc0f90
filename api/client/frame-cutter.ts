import { RationalResampler } from "../../engine/audio/rational-resampler.js";

/** The format of the voice WebSocket. */
export const FRAME_RATE_HZ = 16_000;
/** 20 ms. */
export const FRAME_SAMPLES = 320;

/** Samples that are converted at once: a worklet's own blocks are too small to be converted one by one. */
const BATCH_SAMPLES = 512;

/** Cuts a device's audio, at any rate, into the frames that a call sends. */
export class FrameCutter {
  readonly #resampler: RationalResampler | undefined;
  readonly #onFrame: (frame: Int16Array<ArrayBuffer>) => void;
  readonly #batch = new Int16Array(BATCH_SAMPLES);
  #batched = 0;
  #frame = new Int16Array(FRAME_SAMPLES);
  #filled = 0;

  /** `onFrame` owns its argument. */
  constructor(rateHz: number, onFrame: (frame: Int16Array<ArrayBuffer>) => void) {
    this.#onFrame = onFrame;
    if (rateHz !== FRAME_RATE_HZ) this.#resampler = new RationalResampler(rateHz, FRAME_RATE_HZ);
  }

  /** Samples from -1 to 1; louder ones are clipped. */
  push(samples: Float32Array): void {
    for (const sample of samples) {
      this.#batch[this.#batched++] = Math.max(-32_768, Math.min(32_767, sample * 32_768));
      if (this.#batched < BATCH_SAMPLES) continue;
      this.#batched = 0;
      this.#cut(this.#resampler?.push(this.#batch) ?? this.#batch);
    }
  }

  #cut(samples: Int16Array): void {
    for (const sample of samples) {
      this.#frame[this.#filled++] = sample;
      if (this.#filled < FRAME_SAMPLES) continue;
      this.#onFrame(this.#frame);
      this.#frame = new Int16Array(FRAME_SAMPLES);
      this.#filled = 0;
    }
  }
}
