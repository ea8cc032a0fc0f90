import { encodeSpeech } from "../telephone/tone-code.js";
import type { SpokenSsml } from "./edge-frame.js";

const MEASURING_RATE_HZ = 8000;
const TICKS_PER_SEC = 10_000_000;

/** Which of the text's parts a client wants to be told the places of. */
export interface WantedBoundaries {
  readonly words: boolean;
  readonly sentences: boolean;
}

interface Boundary {
  readonly Type: "WordBoundary" | "SentenceBoundary";
  readonly Data: {
    readonly Offset: number;
    readonly Duration: number;
    readonly text: {
      readonly Text: string;
      readonly Length: number;
      readonly BoundaryType: "WordBoundary" | "SentenceBoundary";
    };
  };
}

/** Where in the audio the parts are, in ticks of 100 ns; every character sounds for an equal part of the whole. */
export function boundariesOf(
  { text, speed }: SpokenSsml,
  { words, sentences }: WantedBoundaries,
): readonly Boundary[] {
  const durationSec = encodeSpeech(text, MEASURING_RATE_HZ, speed).length / MEASURING_RATE_HZ;
  const ticksPerCharacter = (durationSec * TICKS_PER_SEC) / Math.max(1, text.length);
  const place = (kind: Boundary["Type"], part: string, at: number): Boundary => ({
    Type: kind,
    Data: {
      Offset: Math.round(at * ticksPerCharacter),
      Duration: Math.round(part.length * ticksPerCharacter),
      text: { Text: part, Length: part.length, BoundaryType: kind },
    },
  });
  const find = (kind: Boundary["Type"], pattern: RegExp): readonly Boundary[] =>
    Array.from(text.matchAll(pattern), (found) => place(kind, found[0], found.index));
  return [
    ...(words ? find("WordBoundary", /[\p{L}\p{N}'’-]+/gu) : []),
    ...(sentences ? find("SentenceBoundary", /\S[^.!?]*[.!?]*/gu) : []),
  ];
}
