// By hand, because lru-cache evicts the least recently used entry, regardless of which owner filled the cache.

export interface FairCacheOptions<Value> {
  /** All entries together have at most this size. */
  readonly sizeMax: number;
  readonly sizeOf: (value: Value) => number;
}

interface Entry<Value> {
  readonly value: Value;
  readonly size: number;
}

interface OwnerEntries<Value> {
  /** The one that was unused for longest first. */
  readonly byKey: Map<string, Entry<Value>>;
  size: number;
}

/**
 * A bounded cache that organizations share. When it is full, the owner that has most in it loses what it has not used for
 * longest: one that fills it pushes out its own entries, and never those of an owner that has less.
 */
export class FairCache<Value extends {}> {
  readonly #options: FairCacheOptions<Value>;
  readonly #byOwner = new Map<string, OwnerEntries<Value>>();
  #size = 0;

  constructor(options: FairCacheOptions<Value>) {
    this.#options = options;
  }

  get size(): number {
    return this.#size;
  }

  get(owner: string, key: string): Value | undefined {
    const entries = this.#byOwner.get(owner);
    const entry = entries?.byKey.get(key);
    if (entries === undefined || entry === undefined) return undefined;
    entries.byKey.delete(key);
    entries.byKey.set(key, entry);
    return entry.value;
  }

  /** As `get`, but it does not count as a use. */
  peek(owner: string, key: string): Value | undefined {
    return this.#byOwner.get(owner)?.byKey.get(key)?.value;
  }

  /** Keeps nothing that is larger than the cache. */
  set(owner: string, key: string, value: Value): void {
    const { sizeMax, sizeOf } = this.#options;
    this.delete(owner, key);
    const size = sizeOf(value);
    if (size > sizeMax) return;
    const entries = this.#byOwner.get(owner) ?? { byKey: new Map<string, Entry<Value>>(), size: 0 };
    this.#byOwner.set(owner, entries);
    entries.byKey.set(key, { value, size });
    entries.size += size;
    this.#size += size;
    while (this.#size > sizeMax) this.#removeFromLargest();
  }

  #removeFromLargest(): void {
    let largest: readonly [string, OwnerEntries<Value>] | undefined;
    for (const each of this.#byOwner) {
      if (largest === undefined || each[1].size > largest[1].size) largest = each;
    }
    const [owner, entries] = largest ?? [];
    const [oldest] = entries?.byKey.keys() ?? [];
    if (owner !== undefined && oldest !== undefined) this.delete(owner, oldest);
  }

  delete(owner: string, key: string): void {
    const entries = this.#byOwner.get(owner);
    const entry = entries?.byKey.get(key);
    if (entries === undefined || entry === undefined) return;
    entries.byKey.delete(key);
    entries.size -= entry.size;
    this.#size -= entry.size;
    if (entries.byKey.size === 0) this.#byOwner.delete(owner);
  }
}
