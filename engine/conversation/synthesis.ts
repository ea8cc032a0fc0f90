/** Has sentences spoken by TTS, and delivers their sound to the caller as it comes. */

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

/** Before a voice has been heard: more than most vendors' unevenness, less than anybody notices. */
const PLAYOUT_DELAY_UNKNOWN_MS = 40;
/** A caller who waits longer would rather hear a gap. */
const PLAYOUT_DELAY_MAX_MS = 3_000;
/** A voice that was slow for a while is forgiven after so many sentences. */
const SENTENCES_KEPT_MAX = 32;
/** One sentence in ten may be heard with a gap, rather than all ten later: one that stalls says nothing of the next. */
const PLAYED_WHOLE_SHARE = 0.9;
/** So much is to be left to play when more comes: the next piece may come a frame later than any before it. */
const MARGIN_MIN_MS = 20;
/** So short a wait is spent on the worst of the sentences kept: it is noticed less than a gap. */
const SHORT_DELAY_MS = 60;
/** Voices in use at the same time on one server, and more. */
const VOICES_MAX = 1_024;

/** How the audio of one sentence came. */
export interface SentenceArrival {
  readonly durationMs: number;
  /** From its first audio to its last. */
  readonly elapsedMs: number;
  /**
   * What would have been left to play when more came, had it begun with its first audio; the least of it. Negative where
   * something would have been missing, and without end where nothing followed the first.
   */
  readonly minMarginMs: number;
}

/** How long the sentences of one voice are held back, after their first audio, so that they play without a gap. */
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

/** What such a sentence would have needed, to be heard without a gap and with LEFT_MIN_MS to spare. */
function neededMs(
  { durationMs, elapsedMs, minMarginMs }: SentenceArrival,
  expectedMs: number,
): number {
  // What comes slower than it plays is missing the more, the longer it lasts.
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
/** Words that wait to be told; a sentence of two minutes has fewer. */
export const TIMED_WORDS_MAX = 500;

/** Progress reports of a sentence while its audio arrives; times are on the monotonic clock. */
export interface SentenceSound {
  readonly type: "sentenceGrew" | "sentenceWhole";
  /** The length of all audio that has come. */
  readonly durationMs: number;
  readonly firstByteAtMs: number;
  /** Words that the sentence's voice has timed since the sound before. */
  readonly words: readonly TimedWord[];
}

export interface DeliveryOptions {
  readonly id: SentenceId;
  readonly caller: CallerChannel;
  /** Undefined where only whole sentences are sent: then no growth is told. */
  readonly playoutDelay: PlayoutDelay | undefined;
  readonly expectedMs: number;
  readonly clock: Clock;
  readonly report: (sound: SentenceSound) => void;
}

/** One sentence on its way from the voice to the caller: it waits until it may be played, and then passes as it comes. */
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

  /** TTS has given bytes, perhaps with nothing that can be heard yet. */
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

  /** Where words end in the audio of the sentence; more than any sentence has are left out. */
  timed(words: readonly TimedWord[]): void {
    if (!this.#isOver) this.#words.push(...words.slice(0, TIMED_WORDS_MAX - this.#words.length));
  }

  /** No more audio comes. */
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

  /** What has come goes to the caller, and from now on what comes. Throws the second time. */
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

  /** Nobody waits for it any more. */
  drop(): void {
    this.#end();
    this.#waiting = [];
  }

  #end(): void {
    this.#isOver = true;
    this.#cancelDelay?.();
  }

  /** What would be left to play now that more comes, had the sentence begun with its first audio. */
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
  /** Left out: texts are said as they are written. */
  readonly pronunciations?: PronunciationDictionary;
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
    throw new VendorError(vendor, "timeout", "the TTS returned nothing for too long", {
      cause: error,
    });
  } finally {
    signal.removeEventListener("abort", onAbort);
    cancel();
  }
}

/** Rejects with a VendorError, also when one sentence is more than any can be. */
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
