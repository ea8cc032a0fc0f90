import type { TranscriptWords } from "./call-events.js";

/** A turn may wait long until it is stored. Beyond this the oldest words are dropped. */
const WORDS_MAX = 50;

/** What was said in a call and is in no stored turn yet. A watcher that joins the call gets it from here. */
export class LiveTranscript {
  #words: readonly TranscriptWords[] = [];
  /** Words of turns that are over and are not stored yet. */
  readonly #settled = new WeakSet<TranscriptWords>();

  get all(): readonly TranscriptWords[] {
    return this.#words;
  }

  /** Interim words are replaced by what follows them. */
  add(words: TranscriptWords): void {
    const open = this.#words.findLastIndex(
      (each) => each.role === words.role && !each.isFinal && !this.#settled.has(each),
    );
    const said = open === -1 ? [...this.#words, words] : this.#words.with(open, words);
    this.#words = said.slice(-WORDS_MAX);
  }

  /** A turn is over. The caller of this method calls the function that it returns once the turn is stored. */
  settle(): () => void {
    const ofTurn = new Set(this.#words.filter(isOfTurn));
    for (const words of ofTurn) this.#settled.add(words);
    return () => {
      this.#words = this.#words.filter((words) => !ofTurn.has(words));
    };
  }
}

function isOfTurn({ role, isFinal }: TranscriptWords): boolean {
  return isFinal || role === "assistant";
}
