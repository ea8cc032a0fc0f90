import { LRUCache } from "lru-cache";
import { FRAME_MS } from "../sound/microphone-clock.js";
import { encodeMuLaw } from "./telephone-audio.js";
import { encodeSpeech } from "./tone-code.js";

export const SAMPLE_RATE_HZ = 8000;
const FRAME_BYTES = (SAMPLE_RATE_HZ * FRAME_MS) / 1000;
const SILENCE = 0xff;
/** 20 ms of it, in base64. */
export const SILENT_FRAME = Buffer.alloc(FRAME_BYTES, SILENCE).toString("base64");
/** Callers of a load test say the same few things: some twenty minutes of speech. */
const SPEECH_FRAMES_MAX = 60_000;

const speechCache = new LRUCache<string, readonly string[]>({
  maxSize: SPEECH_FRAMES_MAX,
  sizeCalculation: (frames) => frames.length + 1,
});

/** A text in the tone code, as µ-law in whole frames of 20 ms, in base64. */
export function phoneFrames(text: string): readonly string[] {
  const known = speechCache.get(text);
  if (known !== undefined) return known;
  const spoken = encodeMuLaw(encodeSpeech(text, SAMPLE_RATE_HZ));
  const frames: string[] = [];
  for (let at = 0; at < spoken.length; at += FRAME_BYTES) {
    const frame = Buffer.alloc(FRAME_BYTES, SILENCE);
    frame.set(spoken.subarray(at, at + FRAME_BYTES));
    frames.push(frame.toString("base64"));
  }
  speechCache.set(text, frames);
  return frames;
}
