interface Come {
  ms: number;
  isWhole: boolean;
  /** It goes to the caller as it comes. */
  isPlayed: boolean;
  readonly firstByteAtMs: number;
}

/** The audio of sentences that has come, over all tries. */
export class AudioCome {
  readonly #bySentence = new Map<string, Come>();

  of(turnId: number, index: number, nowMs: number): Come {
    const key = `${turnId}.${index}`;
    const known = this.#bySentence.get(key);
    if (known !== undefined) return known;
    const come = { ms: 0, isWhole: false, isPlayed: false, firstByteAtMs: nowMs };
    this.#bySentence.set(key, come);
    return come;
  }

  forget(turnId: number, index: number): void {
    this.#bySentence.delete(`${turnId}.${index}`);
  }
}
