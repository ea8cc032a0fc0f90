import { AudioPoolOverloaded } from "../audio/speech-queue.js";
import type { Clock } from "../time/clock.js";
import { type TextToSpeech, VendorError } from "../vendors/contracts.js";
import type { SentenceFormat } from "./leg-audio.js";
import type { SpeechCache, SpokenSentence } from "./speech-cache.js";

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

export interface TimedSentence extends SpokenSentence {
  /** On the monotonic clock. */
  readonly firstByteAtMs: number;
}

/** Turns one sentence into what the line takes, from the cache or from the vendor; rejects with a VendorError. */
export async function speakSentence(
  tts: AgentTts,
  text: string,
  cache: SpeechCache,
  clock: Clock,
  signal: AbortSignal,
): Promise<TimedSentence> {
  const known = cache.find(tts.cacheKey, text);
  if (known !== undefined) return { ...known, firstByteAtMs: clock.monotonicMs() };
  const collected = new AudioCollector(tts.vendor, clock);
  const { modelId, speed, language } = tts;
  const request = { text, modelId, speed, language, format: tts.format.request };
  await tts.client.synthesize(request, (audio) => collected.add(audio), signal);
  const sentence = await finished(tts, collected.answer(), signal);
  cache.keep(tts.cacheKey, text, sentence);
  return { ...sentence, firstByteAtMs: collected.firstByteAtMs ?? clock.monotonicMs() };
}

async function finished(
  { format, vendor }: AgentTts,
  answer: Uint8Array,
  signal: AbortSignal,
): Promise<SpokenSentence> {
  try {
    const sentence = await format.finish(answer, signal);
    if (sentence.durationMs > 0) return sentence;
  } catch (cause) {
    if (cause instanceof AudioPoolOverloaded) {
      throw new VendorError(AUDIO_POOL, "unavailable", "too many sentences wait", { cause });
    }
    const message = "the vendor's audio could not be converted";
    throw new VendorError(vendor, signal.aborted ? "aborted" : "badAnswer", message, { cause });
  }
  throw new VendorError(vendor, "badAnswer", "the vendor's answer holds no audio");
}

class AudioCollector {
  readonly #vendor: string;
  readonly #clock: Clock;
  readonly #chunks: Uint8Array[] = [];
  #sizeBytes = 0;
  #firstByteAtMs: number | undefined;

  constructor(vendor: string, clock: Clock) {
    this.#vendor = vendor;
    this.#clock = clock;
  }

  add(audio: Uint8Array): void {
    this.#firstByteAtMs ??= this.#clock.monotonicMs();
    this.#sizeBytes += audio.byteLength;
    if (this.#sizeBytes <= SENTENCE_AUDIO_BYTES_MAX) this.#chunks.push(audio);
  }

  get firstByteAtMs(): number | undefined {
    return this.#firstByteAtMs;
  }

  /** Throws when it is more than any sentence can be. */
  answer(): Uint8Array {
    if (this.#sizeBytes > SENTENCE_AUDIO_BYTES_MAX) {
      throw new VendorError(
        this.#vendor,
        "badAnswer",
        "one sentence gave more audio than two minutes",
      );
    }
    return Buffer.concat(this.#chunks, this.#sizeBytes);
  }
}
