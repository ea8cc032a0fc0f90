import { bytesPerMs } from "../../audio/audio-format.js";
import { decodeSamples } from "../../audio/sample-coding.js";
import type { CancelTimer, Clock } from "../../time/clock.js";
import type { SpeechRequest, SpokenWord } from "../contracts.js";

// A text's length is the weight of its letters and digits: a letter of a wide script takes as long
// to say as three Latin ones.

const WIDE_FROM = 0x2e80;
const WIDE_WEIGHT = 3;
const WIDE_LETTERS = /[\u0e00-\u109f\u1780-\u17ff\u2e80-\uffff]/g;
const WIDE_LETTERS_PER_WORD = 2;
/** No voice is faster than this, whatever the language. */
const MS_PER_WEIGHT_MIN = 40;
/** A shorter text does not allow an estimate of its audio's length. */
const WEIGHT_MIN = 20;
/** Audio of this length or more may be the whole text. */
const MS_PER_WEIGHT_USUAL = 66;

/** All words of the text have their times and have arrived: only the vendor's end of sentence is missing. */
const TIMED_TAIL_MS = 300;
/** There is sound for the whole text, and it ends in silence. */
const QUIET_TAIL_MS = 1_000;
/** There is sound for the whole text, and its level at the end is unknown. */
const MP3_TAIL_MS = 2_000;
const LAST_SOUND_MS = 60;
/** The peak of 16-bit samples; a voice's pauses are below it, its words far above. */
const QUIET_PEAK = 400;
/** The reported end of a word may be slightly after the audio that it comes with. */
const WORD_END_SLACK_MS = 60;
/** MP3 is requested at 48 kbit/s. */
const MP3_BYTES_PER_MS = 6;

/** Whether the text is long enough to judge by the audio's length and level whether it is complete. */
export function isLongText(text: string): boolean {
  return weightOfText(text) >= WEIGHT_MIN;
}

/** Whether audio of this length is certainly not the whole text: by the measurements of this voice, or of any voice. */
export function isTooLittle(durationMs: number, { text, speed, measure }: SpokenText): boolean {
  const weight = weightOfText(text);
  if (weight >= WEIGHT_MIN && durationMs * speed < weight * MS_PER_WEIGHT_MIN) return true;
  return measure?.leastMs !== undefined && durationMs < measure.leastMs;
}

/** The weight of a text by its letters and digits. */
export function lettersWeightOf(text: string): number {
  return weightOfText(text);
}

/** The weight of a text by its words; by its letters in scripts without spaces. At least 1. */
export function wordsWeightOf(text: string): number {
  const wideCount = text.match(WIDE_LETTERS)?.length ?? 0;
  return Math.max(1, text.trim().split(/\s+/).length + wideCount / WIDE_LETTERS_PER_WORD);
}

/** Whether these 16-bit samples are as quiet as a voice's pauses. */
export function isQuiet(samples: Int16Array): boolean {
  return samples.every((sample) => Math.abs(sample) < QUIET_PEAK);
}

type SpokenText = Pick<SpeechRequest, "text" | "speed" | "measure">;

function weightOfText(text: string): number {
  const letters = lettersOf(text);
  let weight = 0;
  for (let index = 0; index < letters.length; index += 1) {
    weight += letters.charCodeAt(index) < WIDE_FROM ? 1 : WIDE_WEIGHT;
  }
  return weight;
}

/**
 * Detects that the audio of a sentence is complete although its vendor has not reported it: the final message, or
 * the end of the body, may be late by seconds, or never arrive.
 */
export class SpeechTail {
  readonly #clock: Clock;
  readonly #request: Pick<SpeechRequest, "text" | "speed" | "format">;
  readonly #onComplete: () => void;
  readonly #usualMs: number;
  #receivedBytes = 0;
  #last: Uint8Array = new Uint8Array(0);
  /** Letters of the text without a time yet, and the last of its words. */
  #lettersLeft: number;
  readonly #lastWord: string;
  #wordsEndMs: number | undefined;
  #cancel: CancelTimer = () => undefined;

  constructor(
    clock: Clock,
    request: Pick<SpeechRequest, "text" | "speed" | "format">,
    onComplete: () => void,
  ) {
    this.#clock = clock;
    this.#request = request;
    this.#onComplete = onComplete;
    const { text, speed } = request;
    this.#usualMs = (weightOfText(text) * MS_PER_WEIGHT_USUAL) / speed;
    this.#lettersLeft = lettersOf(text).length;
    this.#lastWord = lettersOf(
      text
        .trim()
        .split(/\s+/)
        .findLast((word) => lettersOf(word) !== "") ?? "",
    );
  }

  /** The playing time of the received audio, by its size: an estimate for MP3. */
  get receivedMs(): number {
    const { format } = this.#request;
    const perMs = format.encoding === "mp3" ? MP3_BYTES_PER_MS : bytesPerMs(format);
    return this.#receivedBytes / perMs;
  }

  audio(bytes: Uint8Array): void {
    this.#receivedBytes += bytes.byteLength;
    this.#last = bytes;
    this.#watch();
  }

  words(words: readonly SpokenWord[]): void {
    for (const { text, endMs } of words) {
      const letters = lettersOf(text);
      this.#lettersLeft -= letters.length;
      // A vendor that reports numbers as words has more letters than the text: the last word decides.
      if (this.#lettersLeft <= 0 && letters === this.#lastWord) this.#wordsEndMs = endMs;
    }
    if (this.#receivedBytes > 0) this.#watch();
  }

  /** The sentence has ended normally. */
  cancel(): void {
    this.#cancel();
  }

  #watch(): void {
    this.#cancel();
    const waitMs = this.#waitMs();
    if (waitMs !== undefined) this.#cancel = this.#clock.after(waitMs, this.#onComplete);
  }

  #waitMs(): number | undefined {
    const { receivedMs } = this;
    const { format } = this.#request;
    const wordsEndMs = this.#wordsEndMs;
    if (wordsEndMs !== undefined && format.encoding !== "mp3") {
      if (receivedMs >= wordsEndMs - WORD_END_SLACK_MS) return TIMED_TAIL_MS;
    }
    if (receivedMs < this.#usualMs) return undefined;
    if (format.encoding === "mp3") return MP3_TAIL_MS;
    return this.#endsQuietly() ? QUIET_TAIL_MS : undefined;
  }

  #endsQuietly(): boolean {
    const { format } = this.#request;
    if (format.encoding === "mp3") return false;
    const lastBytes = Math.min(this.#last.byteLength, LAST_SOUND_MS * bytesPerMs(format)) & ~1;
    // A piece may be cut in the middle of a sample.
    const from = (this.#last.byteLength - lastBytes) & ~1;
    const samples = decodeSamples(this.#last.subarray(from), format.encoding);
    return isQuiet(samples);
  }
}

function lettersOf(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");
}
