import { LRUCache } from "lru-cache";
import type { RecordChanges } from "../../storage/statements/record-changes.js";
import type { Clock } from "../time/clock.js";

/** Maximum staleness when a change notification is lost, or when another program writes to the database file. */
export const KEPT_MAX_MS = 1_000;

export interface ReadCacheOptions<Value> {
  readonly changes: Pick<RecordChanges, "count">;
  readonly clock: Pick<Clock, "monotonicMs">;
  /** When the cache is full, the least recently requested entry is evicted. */
  readonly entriesMax: number;
  /** Default: every record that was found is kept. */
  readonly isKept?: (value: Value) => boolean;
}

interface Entry<Value> {
  /** The count of changes when the read began. */
  readonly changeCount: number;
  readonly readAtMs: number;
  readonly value: Promise<Value | undefined>;
}

/** Caches reads for up to a second, until any record changes. Simultaneous reads of the same key share one read. */
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

  /** Failed reads and records that do not exist are not cached. */
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
