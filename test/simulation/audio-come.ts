import { MS_PER_CHARACTER } from "./simulated-voice.js";

export interface Come {
  ms: number;
  isWhole: boolean;
  /** It goes to the caller as it comes. */
  isPlayed: boolean;
  readonly firstByteAtMs: number;
  /** Behind so much of it a second try goes on, from that character of the sentence. */
  again: { readonly cameMs: number; readonly fromChars: number } | undefined;
}

/** How many characters of a sentence are said in the first `heardMs` of its audio, with those that a second try said again. */
export function charsHeard({ again }: Come, heardMs: number): number {
  if (again === undefined || heardMs <= again.cameMs) return heardMs / MS_PER_CHARACTER;
  return again.fromChars + (heardMs - again.cameMs) / MS_PER_CHARACTER;
}

/** The audio of sentences that has come, over all tries. */
export class AudioCome {
  readonly #bySentence = new Map<string, Come>();

  of(turnId: number, index: number, nowMs: number): Come {
    const key = `${turnId}.${index}`;
    const known = this.#bySentence.get(key);
    if (known !== undefined) return known;
    const come = { ms: 0, isWhole: false, isPlayed: false, firstByteAtMs: nowMs, again: undefined };
    this.#bySentence.set(key, come);
    return come;
  }

  forget(turnId: number, index: number): void {
    this.#bySentence.delete(`${turnId}.${index}`);
  }
}
