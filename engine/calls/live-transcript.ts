import type { TranscriptWords } from "./call-events.js";

/** A turn may wait long until it is stored. Beyond this limit the oldest words are dropped. */
const WORDS_MAX = 50;

/** The words of a call that are in no stored turn yet. A watcher that joins the call gets them from here. */
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

  /** A turn is over. Call the returned function once the turn is stored. */
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
