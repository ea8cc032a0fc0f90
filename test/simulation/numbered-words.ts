import type { SeededRandom } from "./seeded-random.js";

/** The agent's words have a number each, so that it is known of every word where it belongs; these have none. */
const PLAIN_WORDS = ["Mr.", "3.50"];
const WORDS = ["maybe", "a", "table", "for", "two", "tomorrow"];
const MARKS = [".", "!", "?", ",", "", "", ""];

/** What the simulated model says, word by word. */
export class NumberedWords {
  readonly #random: SeededRandom;
  #count = 0;

  constructor(random: SeededRandom) {
    this.#random = random;
  }

  /** A word, perhaps with the mark after it, and a space. */
  next(): string {
    const word = this.#word();
    return `${word}${this.#random.pick(MARKS)} `;
  }

  #word(): string {
    if (this.#random.chance(0.1)) return this.#random.pick(PLAIN_WORDS);
    this.#count += 1;
    return `${this.#random.pick(WORDS)}${this.#count}`;
  }
}
