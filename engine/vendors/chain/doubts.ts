export interface Doubted<Link> {
  readonly link: Link;
  /** How far the audio of the call had come. */
  readonly heardMs: number;
  /** On the server's clock. */
  readonly sinceMs: number;
}

/**
 * What a call thinks of a recognizer that tells nothing of a voice. It may be a noise: so nobody is blamed before somebody else
 * has told words of the same audio. After a doubt that was wrong only one that seems deaf is doubted again in that call.
 */
export class Doubts<Link> {
  #doubted: Doubted<Link> | undefined;
  #isOver = false;

  /** False where the doubt counts for nothing. */
  begin(doubted: Doubted<Link>, how: "doubtful" | "deaf"): boolean {
    if (this.#doubted !== undefined || (this.#isOver && how === "doubtful")) return false;
    this.#doubted = doubted;
    return true;
  }

  /** Nobody has told words since. */
  isOpen(doubted: Doubted<Link>): boolean {
    return this.#doubted === doubted;
  }

  /** Nobody else could be opened: the next time that it seems deaf counts anew. */
  giveUp(doubted: Doubted<Link>): void {
    if (this.#doubted !== doubted) return;
    this.#doubted = undefined;
    this.#isOver = true;
  }

  /** Somebody tells words: returns the doubt that they prove right. Their time is that of the call's audio. */
  settle(link: Link, lastWordEndMs: number | undefined): Doubted<Link> | undefined {
    const doubted = this.#doubted;
    if (doubted === undefined) return undefined;
    this.#doubted = undefined;
    const isOfIt = lastWordEndMs !== undefined && lastWordEndMs <= doubted.heardMs;
    if (isOfIt && link !== doubted.link) return doubted;
    this.#isOver = true;
    return undefined;
  }
}
