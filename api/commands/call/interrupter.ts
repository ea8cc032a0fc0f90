/** How often the reply is looked at. */
export const LOOK_MS = 20;
/** Somebody who interrupts has heard a word or two. */
const LISTENING_MS = 800;

/** Looks at a reply every 20 ms, and knows when to interrupt it. */
export class Interrupter {
  readonly #leftMsMin: number;
  #heardMs = 0;

  /** `leftMsMin`: so much of what has come must be left for the reply to be interrupted for sure. */
  constructor(leftMsMin: number) {
    this.#leftMsMin = leftMsMin;
  }

  /** Whether to interrupt now, when so much of what has come has not been played; negative for so long a silence. */
  isNow(leftMs: number): boolean {
    if (leftMs > 0) this.#heardMs += LOOK_MS;
    return this.#heardMs >= LISTENING_MS || leftMs <= this.#leftMsMin;
  }
}
