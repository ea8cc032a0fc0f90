import { bytesOf, encodeMuLaw } from "../../engine/sandbox/telephone/telephone-audio.js";
import { encodeSpeech, ToneDecoder } from "../../engine/sandbox/telephone/tone-code.js";

/** What a caller says in one turn, and what the simulated language model answers to it. */
export interface Phrase {
  readonly text: string;
  /** The first sentence of the reply: told by the turn's own words, so that no cache holds it. */
  readonly firstSentence: string;
  /** The rest of the reply. It is the reply's last token, so that the first sentence is known to end with it. */
  readonly lastWord: string;
  /** In the encoding of the caller's leg, in whole frames; the last frame is the last one that holds speech. */
  readonly audio: Buffer;
}

/** The audio that a caller's leg carries. */
export interface CallerSound {
  readonly sampleRateHz: number;
  encode(samples: Int16Array): Uint8Array;
}

/** 16-bit samples, as a browser sends them. */
export const WEB_SOUND: CallerSound = { sampleRateHz: 16_000, encode: bytesOf };
/** µ-law. */
export const PHONE_SOUND: CallerSound = { sampleRateHz: 8_000, encode: encodeMuLaw };

const FRAME_MS = 20;
const WORDS_PER_SENTENCE = 9;
const SYLLABLES_PER_WORD = 3;
const CONSONANTS = "bdfgklmnprstv";
const VOWELS = "aeiou";
/** Words are told apart by a walk through all of them in steps that share no factor with their number. */
const WORDS = (CONSONANTS.length * VOWELS.length) ** SYLLABLES_PER_WORD;
const STEP = 100_003;

/**
 * `count` phrases of some three seconds in words that occur only once. No digits and no names of numbers: after those
 * the server waits for more, as it should with people who dictate.
 */
export function phrases(count: number, sound: CallerSound = WEB_SOUND): readonly Phrase[] {
  return Array.from({ length: count }, (_, number) => phrase(number, sound));
}

/** Shorter, for calls that are only to be had, not measured. */
export function shortPhrase(number: number): Phrase {
  return spoken(capitalized(word(number * STEP)), "Familo.", WEB_SOUND);
}

function phrase(number: number, sound: CallerSound): Phrase {
  const words = Array.from({ length: WORDS_PER_SENTENCE + 1 }, (_, index) =>
    word((number * (WORDS_PER_SENTENCE + 1) + index) * STEP),
  );
  const sentence = capitalized(words.slice(0, WORDS_PER_SENTENCE).join(" "));
  return spoken(sentence, `${capitalized(words[WORDS_PER_SENTENCE] ?? "")}.`, sound);
}

function spoken(sentence: string, lastWord: string, sound: CallerSound): Phrase {
  const firstSentence = `${sentence}.`;
  const text = `say ${firstSentence} ${lastWord}`;
  return { text, firstSentence, lastWord, audio: untilLastSound(text, sound) };
}

function word(number: number): string {
  let rest = number % WORDS;
  let letters = "";
  for (let syllable = 0; syllable < SYLLABLES_PER_WORD; syllable += 1) {
    letters += CONSONANTS[rest % CONSONANTS.length] ?? "";
    rest = Math.floor(rest / CONSONANTS.length);
    letters += VOWELS[rest % VOWELS.length] ?? "";
    rest = Math.floor(rest / VOWELS.length);
  }
  return letters;
}

function capitalized(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** Cut or filled up so that the frame in which the recognizer hears the last sound is the last frame. */
function untilLastSound(text: string, sound: CallerSound): Buffer {
  const { sampleRateHz } = sound;
  const samples = encodeSpeech(text, sampleRateHz);
  let lastLoudMs = 0;
  const decoder = new ToneDecoder(sampleRateHz, {
    onWord: () => undefined,
    onLoud: (atMs) => {
      lastLoudMs = atMs;
    },
  });
  decoder.write(samples);
  decoder.write(new Int16Array(sampleRateHz / 10));
  const frames = Math.ceil(lastLoudMs / FRAME_MS);
  const whole = new Int16Array((frames * FRAME_MS * sampleRateHz) / 1_000);
  whole.set(samples.subarray(0, whole.length));
  return Buffer.from(sound.encode(whole));
}
