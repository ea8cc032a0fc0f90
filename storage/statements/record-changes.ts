/** Resolves when all other caches have been notified, as far as this process can see; never rejects. */
export type NotifyOthers = () => Promise<void>;

/**
 * Counts the changes of records that are cached in memory: keys, organizations, plans, agents and providers. A
 * record that was read under another count may be out of date.
 */
export class RecordChanges {
  #count = 0;
  #notifyOthers: NotifyOthers = () => Promise.resolve();

  get count(): number {
    return this.#count;
  }

  /** Set if other processes or servers cache records, too. */
  onChanged(tellOthers: NotifyOthers): void {
    this.#notifyOthers = tellOthers;
  }

  /** Another process or server has changed something. */
  invalidate(): void {
    this.#count += 1;
  }

  /** Resolves or rejects like the write, once this server uses no older cached read. */
  async after<Result>(write: Promise<Result>): Promise<Result> {
    try {
      return await write;
    } finally {
      // A failed write counts, too: if its connection broke, the outcome is unknown.
      this.#count += 1;
      await this.#notifyOthers();
    }
  }
}
