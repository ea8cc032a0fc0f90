import { MP3, MULAW_8K } from "./audio-format.js";
import { type ConversionResult, OpenConversions, type QueuedBatch } from "./conversion-batch.js";
import { SpeechConversion } from "./speech-conversion.js";

const queues = new Map<number, OpenConversions>();

/** The thread of the audio pool: between two tasks it keeps the state of sentences in progress. */
export function convert(batch: QueuedBatch): Promise<readonly ConversionResult[]> {
  const conversions = queues.get(batch.queueId) ?? new OpenConversions();
  queues.set(batch.queueId, conversions);
  return conversions.convert(batch);
}

/** The queue is closed: drops its state. */
export function forget(queueId: number): void {
  queues.get(queueId)?.closeAll();
  queues.delete(queueId);
}

/** A frame of silence: MPEG 2, layer III, 48 kbit/s, 24 kHz, mono. */
const SILENT_FRAME = Uint8Array.from({ length: 144 }, (_, at) => [0xff, 0xf3, 0x64, 0xc4][at] ?? 0);
/** 1.2 s each: the first sentence compiles the decoder, the second its hot code. */
const WARM_UP_SENTENCES = 2;
const WARM_UP_FRAMES = 50;

/**
 * Decodes before the first caller needs it, who would wait for the compiler: the first two sentences would cost 50
 * ms of CPU more each. Resolves with the number of bytes that it decoded.
 */
export async function warmUp(): Promise<number> {
  let sizeBytes = 0;
  for (let sentence = 0; sentence < WARM_UP_SENTENCES; sentence += 1) {
    const conversion = await SpeechConversion.open({ from: MP3, to: MULAW_8K });
    for (let frame = 0; frame < WARM_UP_FRAMES; frame += 1) {
      sizeBytes += conversion.write(SILENT_FRAME).byteLength;
    }
    conversion.close();
  }
  return sizeBytes;
}
