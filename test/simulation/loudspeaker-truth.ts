import { wholeWords } from "../../engine/speech/heard-text.js";
import { spokenWords } from "../../engine/speech/spoken-words.js";
import { MS_PER_CHARACTER } from "./simulated-voice.js";

/** How many words of a turn the loudspeaker has said, and how many the call tells; one that was said again counts once. */
export interface Truth {
  readonly heard: number;
  readonly told: number;
}

type HeardChars = (index: number) => number;
type Sentences = ReadonlyMap<number, string>;

/** Something that was said, and how many characters of it were heard. */
export interface Said {
  readonly text: string;
  readonly heardChars: number;
}

export function truthOf(said: readonly Said[], told: string): Truth {
  const heard = said.flatMap(({ text, heardChars }) =>
    wordsOf(text.slice(0, Math.round(heardChars))),
  );
  return { heard: new Set(heard).size, told: new Set(wordsOf(told)).size };
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
  const played = [...sentences].map(([index, text]) => wholeWords(text, heardChars(index)));
  return spokenWords(played.findLast((text) => text !== "") ?? "").map(({ word }) => word);
}

function wordsOf(text: string): readonly string[] {
  return text.split(/\s+/).filter((word) => word !== "");
}
