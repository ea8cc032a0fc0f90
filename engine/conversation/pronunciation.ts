import type { Pronunciation } from "../../storage/records.js";
import type { TimedWord } from "./playback-ledger.js";

/** A text as TTS is given it. */
export interface SpokenText {
  readonly text: string;
  /** The words that the voice tells of, in order, with those of the dictionary as they are written. */
  readonly toWritten: (words: readonly TimedWord[]) => readonly TimedWord[];
}

/** A word of what the voice says, and for the last one of an entry what is written for it. */
interface SpokenToken {
  readonly letters: string;
  readonly isReplaced: boolean;
  readonly written: string | undefined;
}

/** So many tokens a voice may leave out before one that it tells of. */
const SKIPPED_MAX = 4;

/** How an agent's voice says certain words. Transcript and history keep them as they are written. */
export class PronunciationDictionary {
  readonly #saidByWord: ReadonlyMap<string, string>;
  readonly #pattern: RegExp | undefined;

  constructor(entries: readonly Pronunciation[]) {
    this.#saidByWord = new Map(entries.map(({ word, say }) => [word.toLowerCase(), say]));
    // "New York" goes before "York".
    const words = [...this.#saidByWord.keys()].sort((one, other) => other.length - one.length);
    const choices = words.map(escaped).join("|");
    const whole = `(?<![\\p{L}\\p{N}])(?:${choices})(?![\\p{L}\\p{N}])`;
    this.#pattern = words.length === 0 ? undefined : new RegExp(whole, "giu");
  }

  spoken(written: string): SpokenText {
    if (this.#pattern === undefined) return { text: written, toWritten: (words) => words };
    const tokens: SpokenToken[] = [];
    let text = "";
    let from = 0;
    for (const match of written.matchAll(this.#pattern)) {
      const between = written.slice(from, match.index);
      const say = this.#saidByWord.get(match[0].toLowerCase()) ?? match[0];
      tokens.push(...tokensOf(between), ...replacedTokens(say, match[0]));
      text += between + say;
      from = match.index + match[0].length;
    }
    if (from === 0) return { text: written, toWritten: (words) => words };
    const rest = written.slice(from);
    tokens.push(...tokensOf(rest));
    let at = 0;
    return {
      text: text + rest,
      toWritten: (words) =>
        words.flatMap((word) => {
          const found = tokens
            .slice(at, at + SKIPPED_MAX + 1)
            .findIndex(({ letters }) => letters === lettersOf(word.text));
          const token = tokens[at + found];
          if (found < 0 || token === undefined) return [word];
          at += found + 1;
          if (!token.isReplaced) return [word];
          return token.written === undefined ? [] : [{ ...word, text: token.written }];
        }),
    };
  }
}

function tokensOf(text: string): readonly SpokenToken[] {
  return wordsOf(text).map((word) => ({
    letters: lettersOf(word),
    isReplaced: false,
    written: undefined,
  }));
}

function replacedTokens(say: string, written: string): readonly SpokenToken[] {
  const words = wordsOf(say);
  return words.map((word, index) => ({
    letters: lettersOf(word),
    isReplaced: true,
    written: index === words.length - 1 ? written : undefined,
  }));
}

function wordsOf(text: string): readonly string[] {
  return text.split(/\s+/).filter((word) => lettersOf(word) !== "");
}

function lettersOf(word: string): string {
  return word.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "");
}

function escaped(word: string): string {
  return word.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}
