/** Synthesizes sentences, and delivers their audio to the caller as it arrives. */

import { bytesPerMs } from "../audio/audio-format.js";
import { AudioPoolOverloadedError } from "../audio/conversion-queue.js";
import { FairCache } from "../fair-cache.js";
import type { CancelTimer, Clock } from "../time/clock.js";
import {
  type SpeechFormat,
  type SpokenWord,
  type TextToSpeech,
  VendorError,
} from "../vendors/contracts.js";
import type { CallerChannel, SentenceId } from "./caller-channel.js";
import type { SentenceConverter, SentenceFormat } from "./leg-audio.js";
import type { TimedWord } from "./playback-ledger.js";
import type { PronunciationDictionary } from "./pronunciation.js";
import { ownerOf, type SpeechCache, type SpokenSentence } from "./speech-cache.js";

/** Before a voice has been measured: more than most vendors' jitter, less than people notice. */
const PLAYOUT_DELAY_UNKNOWN_MS = 40;
/** Callers prefer a gap to a longer wait. */
const PLAYOUT_DELAY_MAX_MS = 3_000;
/** A slow period of a voice is forgotten after this many sentences. */
const SENTENCES_KEPT_MAX = 32;
/** One sentence in ten may play with a gap, rather than all ten later: a stalled sentence does not predict the next. */
const PLAYED_WHOLE_SHARE = 0.9;
/**
 * The audio that must remain to be played when more arrives: the next piece may arrive a frame later than any
 * before it.
 */
const MARGIN_MIN_MS = 20;
/** A wait up to this length covers even the worst of the recorded sentences: it is noticed less than a gap. */
const SHORT_DELAY_MS = 60;
/** More than the voices in use at the same time on one server. */
const VOICES_MAX = 1_024;

/** How the audio of one sentence arrived. */
export interface SentenceArrival {
  readonly durationMs: number;
  /** From its first audio to its last. */
  readonly elapsedMs: number;
  /**
   * The least audio that would have remained when more arrived, had playback begun with the first audio. Negative
   * if audio would have been missing; infinite if nothing followed the first audio.
   */
  readonly minMarginMs: number;
}

/** How long the sentences of one voice are held back after their first audio, so that they play without a gap. */
export class PlayoutDelay {
  readonly #arrivals: SentenceArrival[] = [];

  observe(arrival: SentenceArrival): void {
    this.#arrivals.push(arrival);
    if (this.#arrivals.length > SENTENCES_KEPT_MAX) this.#arrivals.shift();
  }

  /** In ms, for a sentence that will last `expectedMs`. */
  of(expectedMs: number): number {
    if (this.#arrivals.length === 0) return PLAYOUT_DELAY_UNKNOWN_MS;
    const needs = this.#arrivals.map((arrival) => neededMs(arrival, expectedMs));
    needs.sort((one, other) => one - other);
    const enoughMs = needs[Math.ceil(PLAYED_WHOLE_SHARE * (needs.length - 1))] ?? 0;
    const shortMs = needs.findLast((needMs) => needMs <= SHORT_DELAY_MS) ?? 0;
    return Math.min(PLAYOUT_DELAY_MAX_MS, Math.max(enoughMs, shortMs));
  }
}

/** The delay that such a sentence would have needed to play without a gap and with MARGIN_MIN_MS to spare. */
function neededMs(
  { durationMs, elapsedMs, minMarginMs }: SentenceArrival,
  expectedMs: number,
): number {
  // Audio that arrives slower than it plays leaves a gap that grows with its length.
  const isSlow = elapsedMs > durationMs && durationMs > 0 && minMarginMs < 0;
  const leftMs = isSlow ? minMarginMs * Math.max(1, expectedMs / durationMs) : minMarginMs;
  return Math.max(0, MARGIN_MIN_MS - leftMs);
}

/** The delays of all voices that the calls of this process use. */
export class PlayoutDelays {
  readonly #byVoice = new FairCache<PlayoutDelay>({ sizeMax: VOICES_MAX, sizeOf: () => 1 });

  of(voiceKey: string): PlayoutDelay {
    const known = this.#byVoice.get(ownerOf(voiceKey), voiceKey);
    if (known !== undefined) return known;
    const delay = new PlayoutDelay();
    this.#byVoice.set(ownerOf(voiceKey), voiceKey, delay);
    return delay;
  }
}

const NO_AUDIO = new Uint8Array(0);
/** The maximum number of word times that wait to be reported; a sentence of two minutes has fewer. */
export const TIMED_WORDS_MAX = 500;

/** Progress reports of a sentence while its audio arrives; times are on the monotonic clock. */
export interface SentenceSound {
  readonly type: "sentenceGrew" | "sentenceWhole";
  /** The length of all received audio. */
  readonly durationMs: number;
  readonly firstByteAtMs: number;
  /** Words that TTS has timed since the last report. */
  readonly words: readonly TimedWord[];
}

export interface DeliveryOptions {
  readonly id: SentenceId;
  readonly caller: CallerChannel;
  /** Undefined if only whole sentences are sent: then growth is not reported. */
  readonly playoutDelay: PlayoutDelay | undefined;
  readonly expectedMs: number;
  readonly clock: Clock;
  readonly report: (sound: SentenceSound) => void;
}

/** One sentence on its way from TTS to the caller: it waits until it may be played, and then passes as it arrives. */
export class SentenceDelivery {
  readonly #options: DeliveryOptions;
  #waiting: Uint8Array[] = [];
  #words: TimedWord[] = [];
  #durationMs = 0;
  #firstByteAtMs: number | undefined;
  #newestByteAtMs: number | undefined;
  #firstAudioAtMs: number | undefined;
  #minMarginMs = Number.POSITIVE_INFINITY;
  #cancelDelay: CancelTimer | undefined;
  #mayBegin = false;
  #isPlaying = false;
  #isOver = false;

  constructor(options: DeliveryOptions) {
    this.#options = options;
  }

  get isPlaying(): boolean {
    return this.#isPlaying;
  }

  /** When TTS gave the newest bytes, on the monotonic clock. */
  get newestByteAtMs(): number | undefined {
    return this.#newestByteAtMs;
  }

  /** TTS has returned bytes, perhaps without audible sound yet. */
  firstByte(): void {
    this.#newestByteAtMs = this.#options.clock.monotonicMs();
    this.#firstByteAtMs ??= this.#newestByteAtMs;
  }

  /** The next audio of the sentence; the bytes are not changed afterwards. */
  add(audio: Uint8Array, durationMs: number): void {
    if (this.#isOver || audio.byteLength === 0) return;
    this.firstByte();
    this.#measure();
    this.#durationMs += durationMs;
    const { id, caller, playoutDelay } = this.#options;
    if (this.#isPlaying) caller.sendAudio(audio, id, false);
    else this.#waiting.push(audio);
    if (playoutDelay === undefined) return;
    if (this.#mayBegin) this.#emit("sentenceGrew");
    else this.#cancelDelay ??= this.#delayBegin(playoutDelay);
  }

  /** Where words end in the audio of the sentence; words beyond the maximum are dropped. */
  timed(words: readonly TimedWord[]): void {
    if (!this.#isOver) this.#words.push(...words.slice(0, TIMED_WORDS_MAX - this.#words.length));
  }

  /** No more audio follows. */
  finish(): void {
    if (this.#isOver) return;
    const { id, caller, playoutDelay, clock } = this.#options;
    this.#end();
    const nowMs = clock.monotonicMs();
    playoutDelay?.observe({
      durationMs: this.#durationMs,
      elapsedMs: nowMs - (this.#firstAudioAtMs ?? nowMs),
      minMarginMs: this.#minMarginMs,
    });
    if (this.#isPlaying) caller.sendAudio(NO_AUDIO, id, true);
    this.#emit("sentenceWhole");
  }

  /** Sends the received audio to the caller, and later audio as it arrives. Throws the second time. */
  play(): void {
    const { id, caller } = this.#options;
    if (this.#isPlaying)
      throw new Error(`sentence ${id.index} has no audio that is not played yet`);
    this.#isPlaying = true;
    const waiting = this.#waiting.splice(0);
    for (const [index, audio] of waiting.entries()) {
      caller.sendAudio(audio, id, this.#isOver && index === waiting.length - 1);
    }
  }

  /** The sentence ends for the caller with what has been sent of it. */
  cut(): void {
    if (this.#isOver) return;
    this.#end();
    this.#options.caller.sendAudio(NO_AUDIO, this.#options.id, true);
  }

  /** The audio is no longer needed. */
  drop(): void {
    this.#end();
    this.#waiting = [];
  }

  #end(): void {
    this.#isOver = true;
    this.#cancelDelay?.();
  }

  /** Measures what would be left to play now, had the sentence begun with its first audio. */
  #measure(): void {
    const nowMs = this.#options.clock.monotonicMs();
    this.#firstAudioAtMs ??= nowMs;
    if (this.#durationMs === 0) return;
    const leftMs = this.#durationMs - (nowMs - this.#firstAudioAtMs);
    this.#minMarginMs = Math.min(this.#minMarginMs, leftMs);
  }

  #delayBegin(playoutDelay: PlayoutDelay): CancelTimer | undefined {
    const { clock, expectedMs } = this.#options;
    const delayMs = playoutDelay.of(expectedMs);
    const begin = () => {
      this.#mayBegin = true;
      this.#emit("sentenceGrew");
    };
    if (delayMs >= 1) return clock.after(delayMs, begin);
    begin();
    return undefined;
  }

  #emit(type: SentenceSound["type"]): void {
    const firstByteAtMs = this.#firstByteAtMs ?? this.#options.clock.monotonicMs();
    const words = this.#words;
    this.#words = [];
    this.#options.report({ type, durationMs: this.#durationMs, firstByteAtMs, words });
  }
}

/** The longest sentence that the splitter releases takes a fifth of this. */
const SENTENCE_MAX_MS = 120_000;
/** Two minutes at 64 kbit/s, more than its usual 48. */
const MP3_SENTENCE_BYTES_MAX = 960_000;

/** Two attempts of a silent TTS fit into what a caller waits with a filler in between. */
export const VOICE_QUIET_MAX_MS = 4_000;

/** Takes the place of a vendor's name: the vendor has done its part. */
const AUDIO_POOL = "audioPool";

export interface AgentTts {
  readonly vendor: string;
  readonly client: TextToSpeech;
  readonly modelId: string;
  readonly speed: number;
  readonly language: string;
  readonly format: SentenceFormat;
  /** Left out: texts are said as they are written. */
  readonly pronunciations?: PronunciationDictionary;
  /** See `voiceKeyOf`. */
  readonly cacheKey: string;
}

/**
 * Passes the audio of one sentence to its delivery as it arrives, from the cache or from the vendor, and finishes
 * it. Resolves with its length in ms. Rejects with a VendorError; audio that was delivered by then stays
 * delivered.
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
    timed: (timings: readonly TimedWord[]) => {
      words.push(...timings.slice(0, TIMED_WORDS_MAX - words.length));
      delivery.timed(timings);
    },
  };
  const given = new AbortController();
  const converter = tts.format.open(listener, AbortSignal.any([signal, given.signal]));
  try {
    const until = AbortSignal.any([signal, broken.signal]);
    await watched(tts.vendor, clock, until, (watch) =>
      requestTts(tts, text, converter, hearing, watch),
    );
  } catch (error) {
    // Audio that is still being converted would be heard among the words of another attempt.
    given.abort();
    throw broken.signal.aborted ? conversionFault(tts.vendor, broken.signal.reason) : error;
  }
  await converter.end();
  if (signal.aborted) throw new VendorError(tts.vendor, "aborted", "the request was aborted");
  if (broken.signal.aborted) throw conversionFault(tts.vendor, broken.signal.reason);
  if (durationMs === 0) {
    throw new VendorError(tts.vendor, "badAnswer", "the vendor's answer holds no audio");
  }
  cache.keep(tts.cacheKey, text, { audio: joined(pieces), durationMs, words });
  delivery.finish();
  return durationMs;
}

/** Cached speech goes to its delivery as a whole, with its word times. */
export function deliverSpoken(
  { audio, durationMs, words }: SpokenSentence,
  delivery: Pick<SentenceDelivery, "add" | "timed" | "finish">,
): void {
  delivery.timed(words);
  delivery.add(audio, durationMs);
  delivery.finish();
}

/** Ends the wait for TTS that returns nothing more; the clients' own limits are those of a download. */
interface QuietWatch {
  readonly signal: AbortSignal;
  /** Data has arrived. */
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
  // Immediately, not when the client has noticed: a call that has ended leaves no timer behind.
  const onAbort = () => cancel();
  signal.addEventListener("abort", onAbort);
  const heard = () => {
    heardAtMs = clock.monotonicMs();
  };
  try {
    await work({ signal: AbortSignal.any([signal, quiet.signal]), heard });
  } catch (error) {
    if (!quiet.signal.aborted || signal.aborted) throw error;
    throw new VendorError(vendor, "timeout", "the TTS returned nothing for too long", {
      cause: error,
    });
  } finally {
    signal.removeEventListener("abort", onAbort);
    cancel();
  }
}

/** Rejects with a VendorError, also if one sentence exceeds the maximum size. */
async function requestTts(
  { client, vendor, modelId, speed, language, format, pronunciations }: AgentTts,
  written: string,
  converter: SentenceConverter,
  delivery: Pick<SentenceDelivery, "firstByte" | "timed">,
  { signal, heard }: QuietWatch,
): Promise<void> {
  const bytesMax = bytesMaxOf(format.request);
  const spoken = pronunciations?.spoken(written);
  const text = spoken?.text ?? written;
  let givenBytes = 0;
  const onChunk = (audio: Uint8Array) => {
    if (signal.aborted) return;
    heard();
    delivery.firstByte();
    givenBytes += audio.byteLength;
    if (givenBytes <= bytesMax) converter.write(audio);
  };
  const onWords = (words: readonly SpokenWord[]) => {
    if (!signal.aborted) delivery.timed(spoken?.toWritten(words) ?? words);
  };
  const onFormat = (given: SpeechFormat): boolean => converter.takeAs(given);
  const request = { text, modelId, speed, language, format: format.request, onWords, onFormat };
  await client.synthesize(request, onChunk, signal);
  if (givenBytes <= bytesMax) return;
  throw new VendorError(vendor, "badAnswer", "one sentence has more than two minutes of audio");
}

function bytesMaxOf(format: SpeechFormat): number {
  if (format.encoding === "mp3") return MP3_SENTENCE_BYTES_MAX;
  return SENTENCE_MAX_MS * bytesPerMs(format);
}

function conversionFault(vendor: string, cause: unknown): VendorError {
  if (cause instanceof AudioPoolOverloadedError) {
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
