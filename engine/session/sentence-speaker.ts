import { AudioPoolOverloaded } from "../audio/speech-queue.js";
import { type TextToSpeech, VendorError } from "../vendors/contracts.js";
import type { SentenceFormat } from "./leg-audio.js";
import type { SentenceDelivery } from "./sentence-delivery.js";
import type { SpeechCache } from "./speech-cache.js";

/** Two minutes, as MP3 at 48 kbit/s or as µ-law; the longest sentence that the splitter lets pass takes a fifth. */
const SENTENCE_AUDIO_BYTES_MAX = 960_000;

/** Stands where a vendor's name does: the vendor has done its part. */
const AUDIO_POOL = "audioPool";

export interface AgentTts {
  readonly vendor: string;
  readonly client: TextToSpeech;
  readonly modelId: string;
  readonly speed: number;
  readonly language: string;
  readonly format: SentenceFormat;
  /** See `voiceKeyOf`. */
  readonly cacheKey: string;
}

/**
 * Gives the audio of one sentence to its delivery as it comes, from the cache or from the vendor, and finishes it. Rejects with
 * a VendorError; what has been delivered by then stays delivered.
 */
export async function speakSentence(
  tts: AgentTts,
  text: string,
  cache: SpeechCache,
  delivery: Pick<SentenceDelivery, "firstByte" | "add" | "finish">,
  signal: AbortSignal,
): Promise<void> {
  const known = cache.find(tts.cacheKey, text);
  if (known !== undefined) {
    delivery.add(known.audio, known.durationMs);
    return delivery.finish();
  }
  const pieces: Uint8Array[] = [];
  let durationMs = 0;
  const converter = tts.format.open((audio, pieceMs) => {
    pieces.push(audio);
    durationMs += pieceMs;
    delivery.add(audio, pieceMs);
  }, signal);
  let givenBytes = 0;
  const { modelId, speed, language } = tts;
  const request = { text, modelId, speed, language, format: tts.format.request };
  await tts.client.synthesize(
    request,
    (audio) => {
      if (signal.aborted) return;
      delivery.firstByte();
      givenBytes += audio.byteLength;
      if (givenBytes <= SENTENCE_AUDIO_BYTES_MAX) converter.write(audio);
    },
    signal,
  );
  if (givenBytes > SENTENCE_AUDIO_BYTES_MAX) {
    const message = "one sentence gave more audio than two minutes";
    throw new VendorError(tts.vendor, "badAnswer", message);
  }
  await converted(tts.vendor, () => converter.end(), signal);
  if (durationMs === 0) {
    throw new VendorError(tts.vendor, "badAnswer", "the vendor's answer holds no audio");
  }
  if (signal.aborted) throw new VendorError(tts.vendor, "aborted", "nobody waits any more");
  cache.keep(tts.cacheKey, text, { audio: joined(pieces), durationMs });
  delivery.finish();
}

async function converted(
  vendor: string,
  end: () => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  try {
    await end();
  } catch (cause) {
    if (cause instanceof AudioPoolOverloaded) {
      throw new VendorError(AUDIO_POOL, "unavailable", "too many sentences wait", { cause });
    }
    const message = "the vendor's audio could not be converted";
    throw new VendorError(vendor, signal.aborted ? "aborted" : "badAnswer", message, { cause });
  }
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const [only] = pieces;
  return pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces);
}
