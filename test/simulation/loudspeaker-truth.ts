import { spokenWords } from "../../engine/conversation/lexicon.js";
import { wholeWords } from "../../engine/conversation/playback-ledger.js";
import { MS_PER_CHARACTER } from "./simulated-voice.js";

/** How many whole words of a turn the loudspeaker has said, and how many the call tells; one that was said again counts once. */
export interface Truth {
  readonly heard: number;
  readonly told: number;
}

type HeardChars = (index: number) => number;
type Sentences = ReadonlyMap<number, string>;

interface Said {
  readonly turn: number;
  readonly index: number;
  readonly text: string;
}

/** What was heard of each turn, beside what was told of it. */
export class LoudspeakerTruth {
  readonly noted: Truth[] = [];
  readonly #heardChars: (turn: number, index: number) => number;
  #phrases: Said[] = [];

  constructor(heardChars: (turn: number, index: number) => number) {
    this.#heardChars = heardChars;
  }

  /** Words that the agent was at work stay with a reply that is asked for anew. */
  addPhrase(phrase: Said): void {
    this.#phrases.push(phrase);
  }

  note(turn: number, sentences: Sentences, told: string): void {
    const asked = [...sentences].map(([index, text]) => ({ turn, index, text }));
    const heard = [...asked, ...this.#phrases].flatMap((said) =>
      wordsOf(wholeWords(said.text, Math.round(this.#heardChars(said.turn, said.index)))),
    );
    this.#phrases = [];
    this.noted.push({ heard: new Set(heard).size, told: new Set(wordsOf(told)).size });
  }
}

/** How many words of a sentence were said by both of its tries, and by neither. */
export interface SecondTry {
  readonly twice: number;
  readonly never: number;
}

/** The second try of a sentence of which `cameMs` of audio had come when `rest` was asked for. */
export function secondTryOf(sentence: string, cameMs: number, rest: string): SecondTry {
  const cameChars = Math.round(cameMs / MS_PER_CHARACTER);
  const restFrom = sentence.length - rest.length;
  return {
    twice: wordsOf(sentence.slice(restFrom, Math.max(restFrom, cameChars))).length,
    never: wordsOf(sentence.slice(Math.min(cameChars, restFrom), restFrom)).length,
  };
}

/** The words heard of the newest sentence of which any was, in the order they were said. */
export function heardWords(sentences: Sentences, heardChars: HeardChars): readonly string[] {
  const index = heardSentence(sentences, heardChars);
  const text = index === undefined ? "" : (sentences.get(index) ?? "");
  return spokenWords(wholeWords(text, heardChars(index ?? 0))).map(({ word }) => word);
}

/** The last sentence of which a whole word was heard. */
export function heardSentence(sentences: Sentences, heardChars: HeardChars): number | undefined {
  const isHeard = ([index, text]: readonly [number, string]) =>
    wholeWords(text, heardChars(index)) !== "";
  return [...sentences].findLast(isHeard)?.[0];
}

function wordsOf(text: string): readonly string[] {
  return text.split(/\s+/).filter((word) => word !== "");
}
