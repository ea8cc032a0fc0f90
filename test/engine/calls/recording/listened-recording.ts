import assert from "node:assert/strict";
import { PCM_8K } from "../../../../engine/audio/audio-format.js";
import {
  type RecordedFormat,
  Recording,
  type RecordingDeps,
} from "../../../../engine/calls/recording/recording.js";
import { VirtualClock } from "../../../doubles/virtual-clock.js";

export const RATE_HZ = 8_000;
/** The samples of a frame of 20 ms. */
export const FRAME = 160;
export const FORMAT: RecordedFormat = { input: PCM_8K, speech: PCM_8K, isPaced: true };

/** Keeps where each channel was loud, not the hours of it. */
class ListeningSink {
  /** Positions at which a channel became loud. */
  readonly onsets: readonly [number[], number[]] = [[], []];
  readonly loudSamples: [number, number] = [0, 0];
  samples = 0;
  largestBlock = 0;
  takes = true;
  readonly #wasLoud: [boolean, boolean] = [false, false];

  write(block: Uint8Array): boolean {
    if (!this.takes) return false;
    const pcm = new Int16Array(block.buffer, block.byteOffset, block.byteLength / 2);
    this.largestBlock = Math.max(this.largestBlock, block.byteLength);
    for (let index = 0; index < pcm.length; index += 1) {
      const side = index % 2 === 0 ? 0 : 1;
      const isLoud = pcm[index] !== 0;
      if (isLoud) this.loudSamples[side] += 1;
      if (isLoud && !this.#wasLoud[side]) this.onsets[side].push(this.samples + (index >> 1));
      this.#wasLoud[side] = isLoud;
    }
    this.samples += pcm.length / 2;
    return true;
  }
}

export function newRecording(changes: Partial<RecordingDeps> = {}, format = FORMAT) {
  const clock = new VirtualClock();
  const sink = new ListeningSink();
  const story: string[] = [];
  const recording = new Recording(format, sink, {
    clock,
    decodeMp3: () => Promise.reject(new Error("there is no MP3 here")),
    openConversion: () => {
      throw new Error("nothing here has another rate");
    },
    onBroken: (reason) => story.push(`broken: ${reason}`),
    onSentenceDropped: () => story.push("lost"),
    onComplete: () => story.push("whole"),
    ...changes,
  });
  return { clock, sink, story, recording };
}

export function sound(samples: number, value = 1_000): Uint8Array {
  return new Uint8Array(new Int16Array(samples).fill(value).buffer);
}

export const near = (actual: number | undefined, expectedMs: number, withinMs = 0.2) => {
  const actualMs = ((actual ?? Number.NaN) / RATE_HZ) * 1_000;
  assert.ok(Math.abs(actualMs - expectedMs) <= withinMs, `${actualMs} ms is not ${expectedMs} ms`);
};
