import { bytesPerMs } from "../../audio/audio-format.js";
import { AudioPoolOverloaded } from "../../audio/conversion-queue.js";
import type { TimedWord } from "../../speech/word-marks.js";
import type { CancelTimer, Clock } from "../../time/clock.js";
import {
  type SpeechFormat,
  type SpokenWord,
  type TextToSpeech,
  VendorError,
} from "../../vendors/contracts.js";
import type { SentenceConverter, SentenceFormat } from "./leg-audio.js";
import { type SentenceDelivery, TIMED_WORDS_MAX } from "./sentence-delivery.js";
import type { SpeechCache, SpokenSentence } from "./speech-cache.js";

/** The longest sentence that the splitter lets pass takes a fifth. */
const SENTENCE_MAX_MS = 120_000;
/** Two minutes at 64 kbit/s, more than its usual 48. */
const MP3_SENTENCE_BYTES_MAX = 960_000;

/** Two tries of a voice that gives nothing fit into what a caller waits with a word in between. */
export const VOICE_QUIET_MAX_MS = 4_000;

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
 * Gives the audio of one sentence to its delivery as it comes, from the cache or from the vendor, and finishes it. Resolves with
 * how long it lasts, in ms. Rejects with a VendorError; what has been delivered by then stays delivered.
 */
export async function speakSentence(
  tts: AgentTts,
  text: string,
  cache: SpeechCache,
  delivery: Pick<SentenceDelivery, "firstByte" | "add" | "timed" | "finish">,
  signal: AbortSignal,
  clock: Clock,
): Promise<number> {
  const known = cache.find(tts.cacheKey, text);
  if (known !== undefined) {
    deliverSpoken(known, delivery);
    return known.durationMs;
  }
  const pieces: Uint8Array[] = [];
  const words: TimedWord[] = [];
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
  const hearing = {
    firstByte: () => delivery.firstByte(),
    timed: (told: readonly TimedWord[]) => {
      words.push(...told.slice(0, TIMED_WORDS_MAX - words.length));
      delivery.timed(told);
    },
  };
  const given = new AbortController();
  const converter = tts.format.open(listener, AbortSignal.any([signal, given.signal]));
  try {
    const until = AbortSignal.any([signal, broken.signal]);
    await watched(tts.vendor, clock, until, (watch) =>
      askVoice(tts, text, converter, hearing, watch),
    );
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
  cache.keep(tts.cacheKey, text, { audio: joined(pieces), durationMs, words });
  delivery.finish();
  return durationMs;
}

/** What was spoken before goes to its delivery as a whole, with the times of its words. */
export function deliverSpoken(
  { audio, durationMs, words }: SpokenSentence,
  delivery: Pick<SentenceDelivery, "add" | "timed" | "finish">,
): void {
  delivery.timed(words);
  delivery.add(audio, durationMs);
  delivery.finish();
}

/** Ends the wait for a voice that says nothing more; its clients' own limits are those of a download. */
interface QuietWatch {
  readonly signal: AbortSignal;
  /** Something has come. */
  readonly heard: () => void;
}

async function watched(
  vendor: string,
  clock: Clock,
  signal: AbortSignal,
  work: (watch: QuietWatch) => Promise<void>,
): Promise<void> {
  const quiet = new AbortController();
  let heardAtMs = clock.monotonicMs();
  const wait = (delayMs: number): CancelTimer =>
    clock.after(delayMs, () => {
      const leftMs = heardAtMs + VOICE_QUIET_MAX_MS - clock.monotonicMs();
      if (leftMs < 1) quiet.abort();
      else cancel = wait(leftMs);
    });
  let cancel = wait(VOICE_QUIET_MAX_MS);
  // At once, not when the client has noticed: a call that has ended leaves no timer behind.
  const onAbort = () => cancel();
  signal.addEventListener("abort", onAbort);
  const heard = () => {
    heardAtMs = clock.monotonicMs();
  };
  try {
    await work({ signal: AbortSignal.any([signal, quiet.signal]), heard });
  } catch (error) {
    if (!quiet.signal.aborted || signal.aborted) throw error;
    throw new VendorError(vendor, "timeout", "the voice gave nothing for too long", {
      cause: error,
    });
  } finally {
    signal.removeEventListener("abort", onAbort);
    cancel();
  }
}

/** Rejects with a VendorError, also when one sentence is more than any can be. */
async function askVoice(
  { client, vendor, modelId, speed, language, format }: AgentTts,
  text: string,
  converter: SentenceConverter,
  delivery: Pick<SentenceDelivery, "firstByte" | "timed">,
  { signal, heard }: QuietWatch,
): Promise<void> {
  const bytesMax = bytesMaxOf(format.request);
  let givenBytes = 0;
  const onChunk = (audio: Uint8Array) => {
    if (signal.aborted) return;
    heard();
    delivery.firstByte();
    givenBytes += audio.byteLength;
    if (givenBytes <= bytesMax) converter.write(audio);
  };
  const onWords = (words: readonly SpokenWord[]) => {
    if (!signal.aborted) delivery.timed(words);
  };
  const onFormat = (given: SpeechFormat): boolean => converter.takeAs(given);
  const request = { text, modelId, speed, language, format: format.request, onWords, onFormat };
  await client.synthesize(request, onChunk, signal);
  if (givenBytes <= bytesMax) return;
  throw new VendorError(vendor, "badAnswer", "one sentence gave more audio than two minutes");
}

function bytesMaxOf(format: SpeechFormat): number {
  if (format.encoding === "mp3") return MP3_SENTENCE_BYTES_MAX;
  return SENTENCE_MAX_MS * bytesPerMs(format);
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
