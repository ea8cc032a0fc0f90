const CHARACTERS = String.raw`[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]`;
const WORD = new RegExp(String.raw`${CHARACTERS}|[\p{L}\p{N}\p{M}'’]+`, "gu");
const CHARACTER = new RegExp(`^${CHARACTERS}$`, "u");
const APOSTROPHES = /['’]/g;

export interface SpokenWord {
  /** Lower case, without apostrophes; in Chinese and Japanese every character for itself. */
  readonly word: string;
  /** The index in the text behind its last character. */
  readonly end: number;
}

/** The words of a text as they are compared with each other; marks and spaces are none. */
export function spokenWords(text: string): readonly SpokenWord[] {
  const words: SpokenWord[] = [];
  for (const { 0: found, index } of text.matchAll(WORD)) {
    const word = found.toLowerCase().replace(APOSTROPHES, "");
    if (word !== "") words.push({ word, end: index + found.length });
  }
  return words;
}

/** Whether it is a character of Chinese or Japanese, which are compared one by one. */
export function isCharacter(word: string): boolean {
  return CHARACTER.test(word);
}

/** As `spokenWords`, without the places. */
export function wordsOf(text: string): readonly string[] {
  return spokenWords(text).map(({ word }) => word);
}

/** Whether both are the same words in the same order, whatever marks stand between them. */
export function isSameWords(one: string, other: string): boolean {
  return one === other || wordsOf(one).join(" ") === wordsOf(other).join(" ");
}
