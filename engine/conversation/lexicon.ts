/** The meaning of words in the agents' languages: tokens, phrases, numbers, and what makes a question. */

import type { StockPhrases } from "../../storage/records.js";
import { DANISH } from "./lexicon/da.js";
import { GERMAN } from "./lexicon/de.js";
import { ENGLISH } from "./lexicon/en.js";
import { SPANISH } from "./lexicon/es.js";
import { FINNISH } from "./lexicon/fi.js";
import { FRENCH } from "./lexicon/fr.js";
import { HINDI } from "./lexicon/hi.js";
import { ITALIAN } from "./lexicon/it.js";
import { JAPANESE } from "./lexicon/ja.js";
import type { AnsweringWords, Lexicon, PlacedWords } from "./lexicon/language-lexicon.js";
import { DUTCH } from "./lexicon/nl.js";
import { POLISH } from "./lexicon/pl.js";
import { PORTUGUESE } from "./lexicon/pt.js";
import { BRAZILIAN } from "./lexicon/pt-br.js";
import { SWEDISH } from "./lexicon/sv.js";
import { TURKISH } from "./lexicon/tr.js";
import { CHINESE } from "./lexicon/zh.js";

/** By language tag in lower case. Each language's data is in its own file. */
export const LEXICONS: Readonly<Record<string, Lexicon>> = {
  da: DANISH,
  de: GERMAN,
  en: ENGLISH,
  es: SPANISH,
  fi: FINNISH,
  fr: FRENCH,
  hi: HINDI,
  it: ITALIAN,
  ja: JAPANESE,
  nl: DUTCH,
  pl: POLISH,
  pt: PORTUGUESE,
  "pt-br": BRAZILIAN,
  sv: SWEDISH,
  tr: TURKISH,
  zh: CHINESE,
};
const ALL = Object.values(LEXICONS);

const ENGLISH_PHRASES = phrasesIn(ENGLISH);

function phrasesIn({ stockPhrases: phrases }: Lexicon): StockPhrases {
  if (phrases === undefined) throw new Error("the lexicon has no stock phrases");
  return phrases;
}

/** By language tag ("pt-BR"), or by its first part if the region has no phrases of its own; otherwise English. */
export function stockPhrases(languageTag: string): StockPhrases {
  const tag = languageTag.toLowerCase();
  const phrases = LEXICONS[tag] ?? LEXICONS[tag.split("-")[0] ?? ""];
  return phrases?.stockPhrases ?? ENGLISH_PHRASES;
}

const languageNames = new Intl.DisplayNames(["en"], { type: "language", fallback: "none" });

/** The English name of a BCP-47 tag; undefined for an unknown language. */
export function languageName(tag: string): string | undefined {
  try {
    return languageNames.of(tag);
  } catch {
    // It is not a valid tag.
    return undefined;
  }
}

/** The language of a warm transfer's summary, as an LLM is told it; null: that of the call. */
export function briefingLanguageWords(tag: string | null): string {
  return tag === null ? "the language of the call" : (languageName(tag) ?? tag);
}

const CHARACTERS = String.raw`[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]`;
const WORD = new RegExp(String.raw`${CHARACTERS}|[\p{L}\p{N}\p{M}'’]+`, "gu");
const CHARACTER = new RegExp(`^${CHARACTERS}$`, "u");
const APOSTROPHES = /['’]/g;

export interface SpokenWord {
  /** Lower case, without apostrophes; in Chinese and Japanese each character is one word. */
  readonly word: string;
  /** The index in the text after its last character. */
  readonly end: number;
}

/** The words of a text in the form in which they are compared, without punctuation and spaces. */
export function spokenWords(text: string): readonly SpokenWord[] {
  const words: SpokenWord[] = [];
  for (const { 0: found, index } of text.matchAll(WORD)) {
    const word = found.toLowerCase().replace(APOSTROPHES, "");
    if (word !== "") words.push({ word, end: index + found.length });
  }
  return words;
}

/** Whether it is a Chinese or Japanese character; these are compared one by one. */
export function isCharacter(word: string): boolean {
  return CHARACTER.test(word);
}

/** As `spokenWords`, without the positions. */
export function wordsOf(text: string): readonly string[] {
  return spokenWords(text).map(({ word }) => word);
}

/** Whether both are the same words in the same order, whatever punctuation is between them. */
export function isSameWords(one: string, other: string): boolean {
  return one === other || wordsOf(one).join(" ") === wordsOf(other).join(" ");
}

/** Longer utterances are never only phrases. */
const WORDS_MAX = 12;
/** The same limit where every character counts as a word. */
const CHARACTERS_MAX = 32;
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;
/** Drawn-out spellings differ: "mmmm", "yeahhh". */
const DRAWN_OUT = /(\p{L})\1{2,}/gu;

/** Phrases that an utterance can consist of, compared without punctuation, capitals and apostrophes. */
export class PhraseList {
  readonly #phrases = new Set<string>();
  /** Phrases without their last words. */
  readonly #beginnings = new Set<string>();
  #wordsMax = 1;

  constructor(phrases: readonly string[]) {
    for (const phrase of phrases) {
      const words = comparable(phrase);
      this.#phrases.add(words.join(" "));
      for (let end = 1; end < words.length; end += 1) {
        this.#beginnings.add(words.slice(0, end).join(" "));
      }
      this.#wordsMax = Math.max(this.#wordsMax, words.length);
    }
  }

  /** Whether the text consists only of phrases; a question does not. */
  makesUp(text: string): boolean {
    return this.#wholeUpTo(wordsIn(text)).at(-1) === true;
  }

  /** Whether the text is the beginning of a text that `makesUp` accepts, with at least one more word. */
  begins(text: string): boolean {
    const words = wordsIn(text);
    const isWhole = this.#wholeUpTo(words);
    return words.some(
      (_, at) => isWhole[at] === true && this.#beginnings.has(words.slice(at).join(" ")),
    );
  }

  /** For each position whether the words before it are whole phrases; empty for a text without words. */
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

/** Empty for a question, and for a text that is too long. */
function wordsIn(text: string): readonly string[] {
  const words = comparable(text);
  const countMax = UNSPACED.test(text) ? CHARACTERS_MAX : WORDS_MAX;
  return words.length > countMax || /[?？؟]/.test(text) ? [] : words;
}

function comparable(text: string): readonly string[] {
  return wordsOf(text.normalize("NFC")).map((word) => word.replace(DRAWN_OUT, "$1$1"));
}

type WordField =
  | "interruptions"
  | "floorWords"
  | "answers"
  | "negations"
  | "ones"
  | "tens"
  | "magnitudes"
  | "ambiguousMagnitudes"
  | "moreNumbers"
  | "ordinalTens"
  | "days"
  | "months"
  | "dateJoints"
  | "doublers"
  | "numberJoints"
  | "listJoints"
  | "numberUnits"
  | "addressMarks"
  | "leadIns"
  | "spellingNames"
  | "refusals";

/** The words of a table, in its order; synonyms are separate entries. */
export function tableWords(table = ""): readonly string[] {
  return table.split(/[\s/]+/).filter((word) => word !== "");
}

/** The phrases of a table, in its order. */
export function tablePhrases(table = ""): readonly string[] {
  return table
    .split(",")
    .map((phrase) => phrase.trim())
    .filter((phrase) => phrase !== "");
}

/**
 * The entries of these fields in all languages: callers mix them, and no setting says which ones an STT understands.
 */
export function wordsOfAll(...fields: readonly WordField[]): ReadonlySet<string> {
  return new Set(ALL.flatMap((lexicon) => fields.flatMap((field) => tableWords(lexicon[field]))));
}

/** An address or a number cannot end with one of these. */
export const JOINING_WORDS = wordsOfAll("addressMarks");
/** Words that people say in sequence when they dictate: digits and marks. */
export const SPELT_WORDS = wordsOfAll(
  "ones",
  "tens",
  "magnitudes",
  "moreNumbers",
  "doublers",
  "addressMarks",
);

/** "Einundzwanzig", "quarante-deux", "doscientos". */
export const COMPOSED_NUMBER = new RegExp(
  `^(?:${ALL.flatMap(({ composedNumbers = [] }) => composedNumbers).join("|")})$`,
  "iu",
);
export const NUMBER_JOINTS = wordsOfAll("numberJoints");
export const DOUBLERS = wordsOfAll("doublers");
export const MAGNITUDES = wordsOfAll("magnitudes", "ambiguousMagnitudes");
export const LIST_JOINTS = wordsOfAll("listJoints");
export const LEAD_INS = wordsOfAll("leadIns");
export const SPELLING_NAMES = wordsOfAll("spellingNames");
export const MONTHS = wordsOfAll("months");
export const DATE_JOINTS = wordsOfAll("dateJoints");
/** Days as dates have them. */
export const DAYS: ReadonlySet<string> = new Set([
  ...ALL.flatMap(({ ordinals }) => placesOf(ordinals).slice(1).flat()),
  ...wordsOfAll("ordinalTens", "days"),
]);
/** "Ersten", "dritter", "einundzwanzigsten". */
export const GERMAN_DAY =
  /^(?:erste|zweite|dritte|vierte|fünfte|sechste|siebte|siebente|achte|neunte|zehnte|elfte|zwölfte|\p{L}+(?:zehnte|zigste|ßigste))[nr]?$/iu;
export const REFUSALS = wordsOfAll("refusals");

/** "Zero" occurs at any position. */
const ZERO = "0\\d*";
/** Words between and after the digits of a number that are not digits. */
const JOINTS = wordsOfAll("magnitudes", "numberJoints", "numberUnits");
/** Shorter words occur in others by chance. */
const PART_CHARS_MIN = 4;
/**
 * From this many digits on, digits may be said one by one; in fewer, "three" occurs only where it is not said as
 * "thirty".
 */
const SPELT_DIGITS_MIN = 4;
/** The cache of words is emptied at this size. */
const KNOWN_WORDS_MAX = 2_000;

/** The part of a number in digits that a word says. */
interface NumberWord {
  /**
   * "3" for "three", "2" with a following digit for "twenty"; the positions in a number of few digits and in a
   * longer one.
   */
  readonly inFew: RegExp;
  readonly inMany: RegExp | undefined;
  /** The number of digits that the word says. */
  readonly digitCount: number;
}

const ONES_WORDS = Array.from({ length: 20 }, (_, value) =>
  saying(value === 0 ? ZERO : `${value}`, `${value}`.length),
);
const TENS_WORDS = Array.from({ length: 8 }, (_, at) => saying(`${at + 2}\\d`, 1));
const ORDINAL_WORDS = ONES_WORDS.map((said) => ({ ...said, inMany: undefined }));

const NUMBER_WORDS = new Map<string, NumberWord>([
  ...wordsSaying("ordinals", ORDINAL_WORDS),
  ...wordsSaying("ones", ONES_WORDS),
  ...wordsSaying("tens", TENS_WORDS),
  ...wordsSaying("ordinalTens", TENS_WORDS),
]);

type PlacedField = "ordinals" | "ones" | "tens" | "ordinalTens";

/** Maps each word to what is said at its position. */
function wordsSaying<Said>(
  field: PlacedField,
  said: readonly Said[],
): readonly (readonly [string, Said])[] {
  return ALL.flatMap((lexicon) =>
    placesOf(lexicon[field]).flatMap((words, at) => {
      const what = said[at];
      return what === undefined ? [] : words.map((word) => [word, what] as const);
    }),
  );
}

/** For each position of the table the words that belong there. */
function placesOf(table: PlacedWords = ""): readonly (readonly string[])[] {
  return table
    .split(/\s+/)
    .filter((place) => place !== "")
    .map((place) => place.split("/"));
}

/** "Three" is at the end of 503, and two digits before the end of 350. */
function saying(pattern: string, digitCount: number): NumberWord {
  const inFew = new RegExp(`${pattern}(?:\\d\\d)?$`, "g");
  return { inFew, inMany: new RegExp(pattern, "g"), digitCount };
}

/** Every interim result asks for the same words: the parts of compound words, empty for all others. */
const knownParts = new Map<string, readonly NumberWord[]>();

/** "Sieben" and "zwanzig" of "siebenundzwanzig". */
function partsOf(word: string): readonly NumberWord[] {
  const known = knownParts.get(word);
  if (known !== undefined) return known;
  if (knownParts.size >= KNOWN_WORDS_MAX) knownParts.clear();
  const parts = COMPOSED_NUMBER.test(word)
    ? [...NUMBER_WORDS].filter(([part]) => part.length >= PART_CHARS_MIN && word.includes(part))
    : [];
  const said = parts.map(([, part]) => part);
  knownParts.set(word, said);
  return said;
}

const ONES_VALUES = Array.from({ length: 20 }, (_, at) => at);
const TENS_VALUES = Array.from({ length: 8 }, (_, at) => (at + 2) * 10);
const VALUES = new Map<string, number>([
  ...wordsSaying("ones", ONES_VALUES),
  ...wordsSaying("tens", TENS_VALUES),
  ...wordsSaying("ordinalTens", TENS_VALUES),
]);
/** A compound number is larger than each of its parts. */
const COMPOSED_VALUE = 100;

/** The number that a word in lower case says, in words or in digits; 100 for a compound word. */
export function spokenNumber(word: string): number | undefined {
  if (/^\d+$/.test(word)) return Number(word);
  return VALUES.get(word) ?? (COMPOSED_NUMBER.test(word) ? COMPOSED_VALUE : undefined);
}

/** Whether a word, in lower case and without apostrophes, begins with a digit. */
export function isInDigits(word: string): boolean {
  const first = word.charCodeAt(0);
  return first >= 0x30 && first <= 0x39;
}

/**
 * How many digits of a number have been said after this word, of which `saidCount` were said before: "thirty" says
 * "30", and neither "three" nor "forty" does. Undefined for a word that says none of the rest.
 */
export function spokenDigits(word: string, number: string, saidCount = 0): number | undefined {
  const digits = number.replace(/\D+/g, "");
  const single = NUMBER_WORDS.get(word);
  if (single === undefined) return spokenByParts(partsOf(word), digits, saidCount);
  const { inFew, inMany, digitCount } = single;
  const pattern = digits.length >= SPELT_DIGITS_MIN ? inMany : inFew;
  const at = placeOf(pattern, digits, saidCount) ?? spelledPlace(single, digits, saidCount);
  return at === undefined ? undefined : at + digitCount;
}

/** One digit after the other, regardless of position. */
function spelledPlace(word: NumberWord, digits: string, saidCount: number): number | undefined {
  if (saidCount === 0 || word.digitCount > 1) return undefined;
  return placeOf(word.inMany, digits, saidCount) === saidCount ? saidCount : undefined;
}

/** Some languages say units before tens, so the order is unknown. */
function spokenByParts(
  parts: readonly NumberWord[],
  digits: string,
  saidCount: number,
): number | undefined {
  const isSaid = parts.every(({ inMany }) => placeOf(inMany, digits, saidCount) !== undefined);
  return parts.length === 0 || !isSaid ? undefined : Math.min(digits.length, saidCount + 2);
}

function placeOf(pattern: RegExp | undefined, digits: string, from: number): number | undefined {
  if (pattern === undefined) return undefined;
  pattern.lastIndex = from;
  return pattern.exec(digits)?.index;
}

/** Words that are said between or after the digits of a number: "hundred", "dollars". */
export function isNumberJoint(word: string): boolean {
  return JOINTS.has(word);
}

const MARK = /[?？؟՞][\s"'”’»)\]」』]*$/;
/** Languages that ask with a word, and seldom with a mark. */
const ASKING_WORD = /(?:か(?:ね|な)?|吗|嗎|呢)[。．.…]?[\s"”」』]*$|^क्या(?![\p{L}\p{M}])/u;
/** Languages without spaces between words. */
const UNSPACED_LANGUAGES = new Set(["ja", "zh"]);
/** Statements that ask for a "yes", in the languages that have backchannels. */
const REQUEST = new RegExp(
  Object.entries(LEXICONS)
    .flatMap(([language, { requests }]) => {
      if (requests === undefined) return [];
      const isWhole = !UNSPACED_LANGUAGES.has(language);
      return isWhole ? [String.raw`(?<![\p{L}\p{M}])(?:${requests})(?![\p{L}\p{M}])`] : [requests];
    })
    .join("|"),
  "iu",
);

/** Whether a sentence of the agent's needs an answer, so that "yes" or "okay" is an answer and not a backchannel. */
export function isQuestion(text: string): boolean {
  return MARK.test(text) || ASKING_WORD.test(text) || REQUEST.test(text);
}

/** A longer answer is a sentence of its own. */
const ACCEPTANCE_WORDS_MAX = 6;
/** The same limit where every character counts as a word. */
const ACCEPTANCE_CHARACTERS_MAX = 14;
const acceptingPhrases = new Map<Lexicon | undefined, PhraseList>();

/** What an accepting answer may consist of. */
function acceptingPhrasesOf(own: Lexicon | undefined): PhraseList {
  const known = acceptingPhrases.get(own);
  if (known !== undefined) return known;
  const phrases = [own, ENGLISH].flatMap((each) => [
    ...tableWords(each?.acceptances),
    ...tablePhrases(each?.acceptanceFillers),
  ]);
  const list = new PhraseList(phrases);
  acceptingPhrases.set(own, list);
  return list;
}

/**
 * Whether a person who is asked to take a call says yes, true, or no, false; undefined where it is neither. People answer the
 * telephone with a yes too ("yes, who is this?"), so the whole answer has to be an acceptance. English counts everywhere.
 */
export function isAcceptance(languageTag: string, text: string): boolean | undefined {
  const tag = languageTag.toLowerCase();
  const own = LEXICONS[tag] ?? LEXICONS[tag.split("-")[0] ?? ""];
  const words = wordsOf(text);
  const spoken = new Set(words);
  const whole = words.join("");
  const isSpoken = (word: string) =>
    isCharacter(word.charAt(0)) ? whole.includes(word) : spoken.has(word);
  const has = (table: (of: Lexicon) => string | undefined) =>
    [own, ENGLISH].some((each) => tableWords((each && table(each)) ?? "").some(isSpoken));
  if (has(({ declines }) => declines)) return false;
  const wordsMax = UNSPACED.test(text) ? ACCEPTANCE_CHARACTERS_MAX : ACCEPTANCE_WORDS_MAX;
  if (words.length > wordsMax || !acceptingPhrasesOf(own).makesUp(text)) return undefined;
  return has(({ acceptances }) => acceptances) ? true : undefined;
}

const QUESTION_MARK = /[?？؟]/;

/** Which machine answers for a person, as far as words show it. */
export type AnsweringMachine = "screener" | "voicemail";

/** The answering words that count in a language, its region's first. English counts everywhere. */
function answeringWordsOf(languageTag: string): readonly AnsweringWords[] {
  const tag = languageTag.toLowerCase();
  const lexicons = [LEXICONS[tag], LEXICONS[tag.split("-")[0] ?? ""], ENGLISH];
  return [...new Set(lexicons.flatMap((each) => each?.answering ?? []))];
}

/**
 * The machine that says this in place of a person: one that asks for name and reason before it puts a call through, or
 * one that takes a message. A person who answers for another may ask the same as a screener.
 */
export function answeringMachineIn(
  languageTag: string,
  text: string,
): AnsweringMachine | undefined {
  const words = answeringWordsOf(languageTag);
  if (words.some(({ takesMessage }) => takesMessage.test(text))) return "voicemail";
  const isScreener = words.some(
    ({ asksName, asksReason }) => asksName.test(text) && asksReason.test(text),
  );
  return isScreener ? "screener" : undefined;
}

/** Whether a machine has the caller record a message. A person who offers to take one speaks in other words. */
export function recordsMessage(languageTag: string, text: string): boolean {
  return answeringWordsOf(languageTag).some((words) => words.recordsMessage.test(text));
}

/** Whether a person who answers asks something, or has not understood. STT often leaves out the question mark. */
export function asksBack(languageTag: string, text: string): boolean {
  if (QUESTION_MARK.test(text)) return true;
  return answeringWordsOf(languageTag).some((words) => words.asksBack.test(text));
}

/** Whether a machine or a person asks the caller to wait for somebody. */
export function asksToWait(languageTag: string, text: string): boolean {
  return answeringWordsOf(languageTag).some((words) => words.asksToWait.test(text));
}

/** What an agent says to a machine that screens calls, where its author has not written anything. */
export function screeningAnswer(
  languageTag: string,
  { agent, organization }: { readonly agent: string; readonly organization: string },
): string {
  const [words] = answeringWordsOf(languageTag);
  return (words?.screeningAnswer ?? "")
    .replace("{agent}", () => agent)
    .replace("{organization}", () => organization);
}
