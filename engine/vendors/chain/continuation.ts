import type { ChatMessage } from "../contracts.js";

const SENTENCE_END = /[.!?…。！？]["'”’)\]]*\s+/gu;

/**
 * What the next model is asked after another has died in the middle of its reply; models of all vendors take it as a user's. The
 * last word may be half a word, and only a model that writes it again tells.
 */
export const GO_ON =
  "[Your reply broke off. Go on with it: write its last word once more, and then what comes next. Repeat nothing else of it, and say nothing about this.]";

/** The conversation, with the beginning of the reply that has been given out already. */
export function continued(messages: readonly ChatMessage[], given: string): readonly ChatMessage[] {
  return [...messages, { role: "assistant", content: given }, { role: "user", content: GO_ON }];
}

/**
 * Joins the rest of a reply to its beginning, which another model has said. A model writes the last word again, as it was asked,
 * or the whole reply or its last sentence, whatever it was asked: what is said already is taken off.
 */
export class Continuation {
  readonly #given: string;
  readonly #repeats: readonly string[];
  #held = "";
  #isJoined = false;

  constructor(given: string) {
    this.#given = given;
    const whole = given.trim();
    const lastWord = whole.slice(whole.search(/\S+$/u));
    // The longest first: the others are parts of it.
    this.#repeats = [whole, lastSentenceOf(whole), lastWord].filter((text) => text !== "");
  }

  /** What of it goes out now. */
  take(text: string): string {
    if (this.#isJoined) return text;
    this.#held += text;
    const said = this.#held.trimStart();
    if (said === "" || this.#repeats.some((repeat) => repeat !== said && repeat.startsWith(said))) {
      return "";
    }
    return this.#join();
  }

  /** No more comes: what is still held. */
  end(): string {
    return this.#isJoined || this.#held === "" ? "" : this.#join();
  }

  #join(): string {
    this.#isJoined = true;
    const said = this.#held.trimStart();
    const repeat = this.#repeats.find((each) => said.startsWith(each));
    if (repeat !== undefined) return said.slice(repeat.length);
    const isGlued = /\S$/u.test(this.#given) && /^[\p{L}\p{N}]/u.test(this.#held);
    return isGlued ? ` ${this.#held}` : this.#held;
  }
}

/** The sentence that is not finished yet, without the blanks before it. */
function lastSentenceOf(text: string): string {
  let beginsAt = 0;
  for (const match of text.matchAll(SENTENCE_END)) beginsAt = match.index + match[0].length;
  return text.slice(beginsAt);
}
