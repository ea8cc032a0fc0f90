import { LRUCache } from "lru-cache";

/** So many entries at most; the one unused for longest goes first. Memory is taken by those that are there, not for all places at once. */
export function sparseCache<Key extends {}, Value extends {}>(
  entriesMax: number,
): LRUCache<Key, Value> {
  // Given as `max`, the bound would have the cache make all its places in the constructor, which a start waits for.
  return new LRUCache({ maxSize: entriesMax, sizeCalculation: () => 1 });
}
