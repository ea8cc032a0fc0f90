import type { SaidWords } from "./call-news.js";

/** A turn may wait long for being stored; of what is said meanwhile the oldest is left out. */
const PRESENT_WORDS_MAX = 50;

/** What was said in a call and is in no stored turn yet: who begins to watch finds it nowhere else. */
export class PresentWords {
  #words: readonly SaidWords[] = [];
  /** Words of turns that are over and are not stored yet. */
  readonly #settled = new WeakSet<SaidWords>();

  get all(): readonly SaidWords[] {
    return this.#words;
  }

  /** What is not final stands until more is known: then it is replaced. */
  add(words: SaidWords): void {
    const open = this.#words.findLastIndex(
      (each) => each.role === words.role && !each.isFinal && !this.#settled.has(each),
    );
    const said = open === -1 ? [...this.#words, words] : this.#words.with(open, words);
    this.#words = said.slice(-PRESENT_WORDS_MAX);
  }

  /** A turn is over: its record has all but what the caller is just saying, once the answer is called. */
  settle(): () => void {
    const ofTurn = new Set(this.#words.filter(isOfTurn));
    for (const words of ofTurn) this.#settled.add(words);
    return () => {
      this.#words = this.#words.filter((words) => !ofTurn.has(words));
    };
  }
}

function isOfTurn({ role, isFinal }: SaidWords): boolean {
  return isFinal || role === "assistant";
}
