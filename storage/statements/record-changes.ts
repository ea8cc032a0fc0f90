/** Resolves when all other caches have been notified, as far as this process can see; never rejects. */
export type NotifyOthers = () => Promise<void>;

/**
 * Counts the changes of what is kept in memory beside the database: keys, organizations, plans, agents and providers. Whatever
 * was read under another count may be out of date.
 */
export class RecordChanges {
  #count = 0;
  #notifyOthers: NotifyOthers = () => Promise.resolve();

  get count(): number {
    return this.#count;
  }

  /** Set where other processes or servers keep records, too. */
  onChanged(tellOthers: NotifyOthers): void {
    this.#notifyOthers = tellOthers;
  }

  /** Another process or server has changed something. */
  invalidate(): void {
    this.#count += 1;
  }

  /** Settles like the write, once this server uses no older cached read. */
  async after<Result>(write: Promise<Result>): Promise<Result> {
    try {
      return await write;
    } finally {
      // A write that fails, too: what became of one whose connection broke is not known.
      this.#count += 1;
      await this.#notifyOthers();
    }
  }
}
