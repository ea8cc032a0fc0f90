import { speechSec } from "./sound/simulated-voice.js";

export interface TimedCharacter {
  readonly character: string;
  readonly startMs: number;
  readonly endMs: number;
}

/** Every character takes an equal part of the text's duration. */
export function timedCharacters(text: string, speed = 1): readonly TimedCharacter[] {
  const characters = Array.from(text);
  const durationMs = speechSec(text, speed) * 1000;
  const at = (position: number): number => (durationMs * position) / characters.length;
  return characters.map((character, n) => ({ character, startMs: at(n), endMs: at(n + 1) }));
}

export interface TimedWord {
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number;
}

/** The words between the text's blanks, with their times. */
export function timedWords(text: string, speed = 1): readonly TimedWord[] {
  const words: TimedWord[] = [];
  let open: TimedWord | undefined;
  for (const { character, startMs, endMs } of timedCharacters(text, speed)) {
    if (/\s/.test(character)) {
      if (open !== undefined) words.push(open);
      open = undefined;
    } else
      open = { text: (open?.text ?? "") + character, startMs: open?.startMs ?? startMs, endMs };
  }
  return open === undefined ? words : [...words, open];
}
