import { convert as convertBatch, forget, warmUp } from "../../../engine/audio/audio-worker.js";
import type { QueuedBatch } from "../../../engine/audio/conversion-batch.js";

/** As the first byte of a step: what happens to the thread. */
export const THROW = 0x11;
export const DIE = 0x22;
export const HANG = 0x33;

/** The audio pool's thread, but it fails on request. */
export { forget, warmUp };

export function convert(batch: QueuedBatch): Promise<unknown> {
  for (const { bytes } of batch.steps) failAt(bytes[0]);
  return convertBatch(batch);
}

function failAt(order: number | undefined): void {
  if (order === THROW) throw new Error("the worker was told to fail");
  if (order === DIE) process.exit(3);
  while (mustHang(order));
}

function mustHang(order: number | undefined): boolean {
  return order === HANG;
}
