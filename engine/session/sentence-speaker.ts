import { AudioPoolOverloaded } from "../audio/conversion-queue.js";
import { type SpeechFormat, type TextToSpeech, VendorError } from "../vendors/contracts.js";
import type { SentenceConverter, SentenceFormat } from "./leg-audio.js";
import type { SentenceDelivery } from "./sentence-delivery.js";
import type { SpeechCache } from "./speech-cache.js";

/** Two minutes, MP3 at its usual 48 kbit/s; the longest sentence that the splitter lets pass takes a fifth. */
const SENTENCE_BYTES_MAX: Readonly<Record<SpeechFormat, number>> = {
  mp3: 960_000,
  mulaw: 960_000,
  pcm24k: 5_760_000,
};

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
  const broken = new AbortController();
  const listener = {
    onPiece: (audio: Uint8Array, pieceMs: number) => {
      pieces.push(audio);
      durationMs += pieceMs;
      delivery.add(audio, pieceMs);
    },
    onBroken: (error: unknown) => broken.abort(error),
  };
  const given = new AbortController();
  const converter = tts.format.open(listener, AbortSignal.any([signal, given.signal]));
  try {
    await askVoice(tts, text, converter, delivery, AbortSignal.any([signal, broken.signal]));
  } catch (error) {
    // What is still being converted would be heard among the words of another try.
    given.abort();
    throw broken.signal.aborted ? conversionFault(tts.vendor, broken.signal.reason) : error;
  }
  await converter.end();
  if (signal.aborted) throw new VendorError(tts.vendor, "aborted", "nobody waits any more");
  if (broken.signal.aborted) throw conversionFault(tts.vendor, broken.signal.reason);
  if (durationMs === 0) {
    throw new VendorError(tts.vendor, "badAnswer", "the vendor's answer holds no audio");
  }
  cache.keep(tts.cacheKey, text, { audio: joined(pieces), durationMs });
  delivery.finish();
}

/** Rejects with a VendorError, also when one sentence is more than any can be. */
async function askVoice(
  { client, vendor, modelId, speed, language, format }: AgentTts,
  text: string,
  converter: SentenceConverter,
  delivery: Pick<SentenceDelivery, "firstByte">,
  signal: AbortSignal,
): Promise<void> {
  const bytesMax = SENTENCE_BYTES_MAX[format.request];
  let givenBytes = 0;
  const onChunk = (audio: Uint8Array) => {
    if (signal.aborted) return;
    delivery.firstByte();
    givenBytes += audio.byteLength;
    if (givenBytes <= bytesMax) converter.write(audio);
  };
  await client.synthesize(
    { text, modelId, speed, language, format: format.request },
    onChunk,
    signal,
  );
  if (givenBytes <= bytesMax) return;
  throw new VendorError(vendor, "badAnswer", "one sentence gave more audio than two minutes");
}

function conversionFault(vendor: string, cause: unknown): VendorError {
  if (cause instanceof AudioPoolOverloaded) {
    return new VendorError(AUDIO_POOL, "unavailable", "too many sentences wait", { cause });
  }
  return new VendorError(vendor, "badAnswer", "the vendor's audio could not be converted", {
    cause,
  });
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const [only] = pieces;
  return pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces);
}
