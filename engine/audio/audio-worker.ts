import { MP3, MULAW_8K } from "./audio-format.js";
import {
  type ConversionBatch,
  type ConversionResult,
  OpenConversions,
} from "./conversion-batch.js";
import { SpeechConversion } from "./speech-conversion.js";

const conversions = new OpenConversions();

/** The thread of the audio pool: what it keeps between two tasks is the state of sentences that are under way. */
export function convert(batch: ConversionBatch): Promise<readonly ConversionResult[]> {
  return conversions.convert(batch);
}

/** Compiles the MP3 decoder before the first sentence needs it. */
export async function warmUp(): Promise<void> {
  (await SpeechConversion.open({ from: MP3, to: MULAW_8K })).close();
}
