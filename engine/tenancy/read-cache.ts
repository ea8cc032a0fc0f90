import { LRUCache } from "lru-cache";
import type { RecordChanges } from "../../storage/statements/record-changes.js";
import type { Clock } from "../time/clock.js";

/** How long a change may stay unseen where word of it is lost, or where another program makes it in the file. */
export const KEPT_MAX_MS = 1_000;

export interface ReadCacheOptions<Value> {
  readonly changes: Pick<RecordChanges, "count">;
  readonly clock: Pick<Clock, "monotonicMs">;
  /** The entry that was requested the longest ago is evicted. */
  readonly entriesMax: number;
  /** Left out: everything that was found is kept. */
  readonly isKept?: (value: Value) => boolean;
}

interface Entry<Value> {
  /** As it was when the read began. */
  readonly changeCount: number;
  readonly readAtMs: number;
  readonly value: Promise<Value | undefined>;
}

/** What was read lately and has not changed since. Readers that ask for the same at the same time share one read. */
export class ReadCache<Value> {
  readonly #changes: ReadCacheOptions<Value>["changes"];
  readonly #clock: ReadCacheOptions<Value>["clock"];
  readonly #isKept: (value: Value) => boolean;
  readonly #entries: LRUCache<string, Entry<Value>>;

  constructor({ changes, clock, entriesMax, isKept = () => true }: ReadCacheOptions<Value>) {
    this.#changes = changes;
    this.#clock = clock;
    this.#isKept = isKept;
    this.#entries = new LRUCache({ max: entriesMax });
  }

  /** What does not exist is not kept, and neither is a read that fails. */
  get(key: string, read: () => Promise<Value | undefined>): Promise<Value | undefined> {
    const nowMs = this.#clock.monotonicMs();
    const kept = this.#entries.get(key);
    if (kept !== undefined && this.#isFresh(kept, nowMs)) return kept.value;
    const entry = { changeCount: this.#changes.count, readAtMs: nowMs, value: read() };
    this.#entries.set(key, entry);
    const forget = () => {
      if (this.#entries.peek(key) === entry) this.#entries.delete(key);
    };
    entry.value.then((found) => {
      if (found === undefined || !this.#isKept(found)) forget();
    }, forget);
    return entry.value;
  }

  #isFresh({ changeCount, readAtMs }: Entry<Value>, nowMs: number): boolean {
    return changeCount === this.#changes.count && nowMs - readAtMs < KEPT_MAX_MS;
  }
}
