import { move } from "piscina";
import { convertBatch } from "./inbound-batch.js";
import { convertSentence, loadMp3Decoder } from "./sentence-audio.js";
import type { SpeechTask } from "./speech-queue.js";

/** The thread of the audio pool: it keeps nothing from one task to the next. */
export function inbound(batch: Uint8Array): unknown {
  return move(convertBatch(batch));
}

export async function speech({ audio, format }: SpeechTask): Promise<unknown> {
  return move(await convertSentence(audio, format));
}

/** Loads the MP3 decoder before the first sentence needs it. */
export async function warmUp(): Promise<void> {
  await loadMp3Decoder();
}
