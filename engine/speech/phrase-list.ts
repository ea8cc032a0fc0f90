import { wordsOf } from "./spoken-words.js";

/** Longer utterances say something, whatever they are made of. */
const WORDS_MAX = 12;
/** As much, where every character is counted as a word. */
const CHARACTERS_MAX = 32;
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;
/** Nobody spells them the same: "mmmm", "yeahhh". */
const DRAWN_OUT = /(\p{L})\1{2,}/gu;

/** Phrases that an utterance can be made of, compared without marks, capitals and apostrophes. */
export class PhraseList {
  readonly #phrases = new Set<string>();
  /** Phrases without their last words. */
  readonly #beginnings = new Set<string>();
  #wordsMax = 1;

  /** Phrases with commas or line breaks between them. */
  constructor(phrases: string) {
    for (const phrase of phrases.split(/[,\n]/)) {
      const words = comparable(phrase);
      this.#phrases.add(words.join(" "));
      for (let end = 1; end < words.length; end += 1) {
        this.#beginnings.add(words.slice(0, end).join(" "));
      }
      this.#wordsMax = Math.max(this.#wordsMax, words.length);
    }
  }

  /** Whether the text is one phrase after another and nothing else; a question is something else. */
  makesUp(text: string): boolean {
    return this.#wholeUpTo(wordsIn(text)).at(-1) === true;
  }

  /** Whether the text is the beginning of one that `makesUp`: more words may still come, and one more is needed. */
  begins(text: string): boolean {
    const words = wordsIn(text);
    const isWhole = this.#wholeUpTo(words);
    return words.some(
      (_, at) => isWhole[at] === true && this.#beginnings.has(words.slice(at).join(" ")),
    );
  }

  /** For each place whether the words before it are whole phrases; nothing of a text without words. */
  #wholeUpTo(words: readonly string[]): readonly boolean[] {
    if (words.length === 0) return [];
    const isWhole = [true];
    for (let end = 1; end <= words.length; end += 1) {
      isWhole.push(this.#endsPhrase(words, end, isWhole));
    }
    return isWhole;
  }

  #endsPhrase(words: readonly string[], end: number, isWhole: readonly boolean[]): boolean {
    for (let from = Math.max(0, end - this.#wordsMax); from < end; from += 1) {
      if (isWhole[from] === true && this.#phrases.has(words.slice(from, end).join(" ")))
        return true;
    }
    return false;
  }
}

/** None of a question, and of what is too long. */
function wordsIn(text: string): readonly string[] {
  const words = comparable(text);
  const countMax = UNSPACED.test(text) ? CHARACTERS_MAX : WORDS_MAX;
  return words.length > countMax || /[?？؟]/.test(text) ? [] : words;
}

function comparable(text: string): readonly string[] {
  return wordsOf(text.normalize("NFC")).map((word) => word.replace(DRAWN_OUT, "$1$1"));
}
