import type { StockPhrases } from "../../../storage/records.js";

/** Words with spaces or line breaks between them. */
export type WordTable = string;
/** Phrases, separated by commas. */
export type PhraseTable = string;
/**
 * Words separated by spaces, each at the position of its meaning. Synonyms are joined with a slash: "null eins/ein
 * zwei/zwo".
 */
export type PlacedWords = string;

/** How machines speak that answer calls for a person: patterns without word boundaries of their own. */
export interface AnsweringWords {
  /** Asks who is calling. */
  readonly asksName: RegExp;
  /** Asks why, or says that the answer decides whether the call is put through. With a name asked for, it screens calls. */
  readonly asksReason: RegExp;
  /** The caller is to wait for the person. */
  readonly asksToWait: RegExp;
  /** Takes a message instead, and puts no call through. */
  readonly takesMessage: RegExp;
  /** What the agent says to a machine that screens calls, with `{agent}` and `{organization}`. */
  readonly screeningAnswer: string;
}

/**
 * The words of one language, as data; `lexicon.ts` and the rules give them their meaning. A missing field means
 * that the language has no such words, or uses English where a call needs some.
 */
export interface Lexicon {
  /** What people say while they listen; none of it interrupts or needs an answer. */
  readonly backchannels?: PhraseTable;
  /** What people say into a goodbye, beside the backchannels. */
  readonly closings?: PhraseTable;
  /** "Stop", "wait": after an echo of the agent's words these are the caller's. */
  readonly interruptions?: WordTable;
  /** Other words that interrupt: an utterance of these alone is the caller's, whatever the agent is saying. */
  readonly floorWords?: WordTable;
  /** Other words that people answer a question with; in Chinese and Japanese the last character of such words. */
  readonly answers?: WordTable;
  /** Words that refuse; STT seldom mishears another word as one of them. */
  readonly negations?: WordTable;
  /** A pattern for statements that ask for a "yes": "please confirm". */
  readonly requests?: string;
  /** What people say while they think. */
  readonly hesitations?: WordTable;
  /** No sentence ends with one of these. */
  readonly openers?: WordTable;
  /** What people say while they look for words: "that is to say", "let's say". */
  readonly connectives?: PhraseTable;
  /** "My order number is": as a pattern, at the end. */
  readonly announcing?: RegExp;
  /** "From Berlin to": people neither ask nor answer with such an ending. */
  readonly joining?: RegExp;
  /** From zero to nineteen, or as far as those are words of their own. */
  readonly ones?: PlacedWords;
  /** From twenty on, by tens. */
  readonly tens?: PlacedWords;
  /** Words that multiply the number before them, and begin none. */
  readonly magnitudes?: WordTable;
  /** The same, if the word is common in another language: it counts only between numbers. */
  readonly ambiguousMagnitudes?: WordTable;
  /** Other words of numbers that people dictate. */
  readonly moreNumbers?: WordTable;
  /** Patterns of numbers that are written as one compound word: "einundzwanzig". */
  readonly composedNumbers?: readonly string[];
  /** From "zeroth" on, as far as those are words of their own. */
  readonly ordinals?: PlacedWords;
  /** From "twentieth" on, by tens, as far as dates have them. */
  readonly ordinalTens?: PlacedWords;
  /** Other days as dates have them. */
  readonly days?: WordTable;
  readonly months?: WordTable;
  /** Words before a day or a month: a date does not end with one, and a number after it is a day. */
  readonly dateJoints?: WordTable;
  /** Before a digit that is said once for two or three. */
  readonly doublers?: WordTable;
  /** Between two words of one number: "vingt et un". */
  readonly numberJoints?: WordTable;
  /** Between two consecutive numbers: "the twelve, then the forty". */
  readonly listJoints?: WordTable;
  /** Words between and after the digits of a number that are not digits: "dollars". */
  readonly numberUnits?: WordTable;
  /** Marks in addresses and numbers, which do not end with one: "dot", "dash". */
  readonly addressMarks?: WordTable;
  /** What people say before the first piece of a dictation, and nothing else: "it's capital". */
  readonly leadIns?: WordTable;
  /** How people spell letters on the telephone; only after a question that asks for letters or digits. */
  readonly spellingNames?: WordTable;
  /** A caller who says one of these does not dictate. */
  readonly refusals?: WordTable;
  /** A person who is asked whether to take a call accepts with one of these. */
  readonly acceptances?: WordTable;
  /** What an acceptance may have beside these words; not what people say when they answer the telephone. */
  readonly acceptanceFillers?: PhraseTable;
  /** Beside one of these a word of `acceptances` accepts nothing. */
  readonly declines?: WordTable;
  readonly answering?: AnsweringWords;
  readonly stockPhrases?: StockPhrases;
}
