import type { StockPhrases } from "../../../storage/records.js";

/** Words with spaces or line breaks between them. */
export type WordTable = string;
/** Phrases with commas between them. */
export type PhraseTable = string;
/**
 * Words with spaces between them, each at the place of what it means. Several words for the same are joined with a slash:
 * "null eins/ein zwei/zwo".
 */
export type PlacedWords = string;

/**
 * The words of one language, as data: `lexicon.ts` and the files that decide give them their meaning. A language that lacks a
 * field has no such words, or takes English where a call needs some.
 */
export interface Lexicon {
  /** What people say while they listen. None of it asks for the floor or for an answer. */
  readonly backchannels?: PhraseTable;
  /** What people say into a goodbye, beside the backchannels. */
  readonly closings?: PhraseTable;
  /** "Stop", "wait": said behind the agent's own words, out of a loudspeaker, these are the caller's. */
  readonly interruptions?: WordTable;
  /** Other words that people interrupt with: an utterance of these alone is the caller's, whatever the agent is saying. */
  readonly floorWords?: WordTable;
  /** Other words that people answer a question with; in Chinese and Japanese the last character of such words. */
  readonly answers?: WordTable;
  /** A caller refuses with one of these; an STT seldom mishears another word as one. */
  readonly negations?: WordTable;
  /** A pattern of what asks for a "yes" as a statement does: "please confirm". */
  readonly requests?: string;
  /** What people say while they think. */
  readonly hesitations?: WordTable;
  /** No sentence ends with one of these. */
  readonly openers?: WordTable;
  /** What people say before the words that they are looking for: "that is to say", "let's say". */
  readonly connectives?: PhraseTable;
  /** "My order number is": as a pattern, at the end. */
  readonly announcing?: RegExp;
  /** "From Berlin to": people neither ask nor answer so. */
  readonly joining?: RegExp;
  /** From zero to nineteen, or as far as those are words of their own. */
  readonly ones?: PlacedWords;
  /** From twenty on, by tens. */
  readonly tens?: PlacedWords;
  /** Behind a number these make it larger, and begin none. */
  readonly magnitudes?: WordTable;
  /** The same, where the word is a common one of another language: it counts between numbers only. */
  readonly ambiguousMagnitudes?: WordTable;
  /** Other words of numbers that people dictate. */
  readonly moreNumbers?: WordTable;
  /** Patterns of numbers that are written as one word of several: "einundzwanzig". */
  readonly composedNumbers?: readonly string[];
  /** From "zeroth" on, as far as those are words of their own. */
  readonly ordinals?: PlacedWords;
  /** From "twentieth" on, by tens, as far as dates have them. */
  readonly ordinalTens?: PlacedWords;
  /** Other days as dates have them. */
  readonly days?: WordTable;
  readonly months?: WordTable;
  /** Before a day or a month: a date does not end with one, and a number behind it is a day. */
  readonly dateJoints?: WordTable;
  /** Before a digit that is said for two or three of them. */
  readonly doublers?: WordTable;
  /** Between two words of one number: "vingt et un". */
  readonly numberJoints?: WordTable;
  /** Between two numbers that are given one after the other: "the twelve, then the forty". */
  readonly listJoints?: WordTable;
  /** Words between and after the digits of a number that are not digits: "dollars". */
  readonly numberUnits?: WordTable;
  /** Marks of addresses and numbers, which end with none of them: "dot", "dash". */
  readonly addressMarks?: WordTable;
  /** What people say before the first piece of a dictation, and nothing else: "it's capital". */
  readonly leadIns?: WordTable;
  /** How letters are told apart on the telephone; only after a question that asks for letters or digits. */
  readonly spellingNames?: WordTable;
  /** A caller who says one of these does not dictate. */
  readonly refusals?: WordTable;
  readonly stockPhrases?: StockPhrases;
}
