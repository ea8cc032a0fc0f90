import type { HistoryChange, HistoryKey, HistoryStore } from "../../storage/calls/history-store.js";
import type { HistoryMessage } from "../../storage/records.js";
import { withMessages } from "../conversation/state.js";
import type { Logger } from "../log.js";

/**
 * Each failed attempt means that another call has stored something; calls do not store more often than this in the
 * meantime.
 */
const TRIES_MAX = 5;

export type HistoryAccess = Pick<HistoryStore, "load" | "replace">;

/** Returns whether the conversation's change that came with the turn is stored too. */
type SaveTurn = (history: HistoryChange | undefined) => Promise<boolean>;

/**
 * One call's part of a conversation that other calls may continue at the same time: it appends to what is stored
 * by then, so no words are lost.
 */
export class SharedHistory {
  readonly #store: HistoryAccess;
  readonly #id: HistoryKey;
  readonly #log: Logger;
  /** The stored messages, as far as this call knows. */
  #known: readonly HistoryMessage[];
  #unstored: readonly HistoryMessage[] = [];
  /** Messages that were stored before those, and the total number added. */
  #storedCount = 0;

  constructor(
    store: HistoryAccess,
    id: HistoryKey,
    loaded: readonly HistoryMessage[],
    log: Logger,
  ) {
    this.#store = store;
    this.#id = id;
    this.#known = loaded;
    this.#log = log;
  }

  /** Stores nothing yet. Returns the number to store it by. */
  add(messages: readonly HistoryMessage[]): number {
    this.#unstored = [...this.#unstored, ...messages];
    return this.#storedCount + this.#unstored.length;
  }

  /**
   * Stores everything added up to that number; calls run one after the other. `saveTurn` saves the turn that
   * belongs to it, and includes the first attempt; it is called once, without a change if everything is stored.
   * Rejects as the store does, and may be repeated.
   */
  async storeUntil(count: number, atMs: number, saveTurn?: SaveTurn): Promise<void> {
    const added = this.#unstored.slice(0, count - this.#storedCount);
    if (count <= this.#storedCount) {
      await saveTurn?.(undefined);
      return;
    }
    for (let tries = 1; tries <= TRIES_MAX; tries += 1) {
      const next = withMessages(this.#known, added);
      const isReplaced =
        tries === 1 && saveTurn !== undefined
          ? await saveTurn({ id: this.#id, known: this.#known, kept: next, savedAtMs: atMs })
          : await this.#store.replace(this.#id, this.#known, next, atMs);
      if (isReplaced) {
        this.#known = next;
        this.#unstored = this.#unstored.slice(added.length);
        this.#storedCount += added.length;
        return;
      }
      this.#known = (await this.#store.load(this.#id.orgId, this.#id.key, 0)) ?? [];
    }
    const fields = { orgId: this.#id.orgId, messages: added.length };
    this.#log.warn(
      fields,
      "the history of a conversation is not stored yet: other calls write it too",
    );
  }
}
