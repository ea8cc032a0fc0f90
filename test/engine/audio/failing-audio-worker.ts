import {
  inbound as convert,
  speech as convertSpeech,
  warmUp,
} from "../../../engine/audio/audio-worker.js";
import type { SpeechTask } from "../../../engine/audio/speech-queue.js";

/** As the last byte of a batch, or the first of a sentence: what happens to the thread. */
export const THROW = 0x11;
export const DIE = 0x22;
export const HANG = 0x33;

/** The audio pool's thread, but it fails when it is told to. */
export { warmUp };

export function inbound(batch: Uint8Array): unknown {
  failAt(batch.at(-1));
  return convert(batch);
}

export function speech(task: SpeechTask): Promise<unknown> {
  failAt(task.audio[0]);
  return convertSpeech(task);
}

function failAt(order: number | undefined): void {
  if (order === THROW) throw new Error("the worker was told to fail");
  if (order === DIE) process.exit(3);
  while (mustHang(order));
}

function mustHang(order: number | undefined): boolean {
  return order === HANG;
}
