/** The constant of the paper; it keeps the first ranks of one list from outweighing agreement between lists. */
const RANK_OFFSET = 60;

/**
 * Merges ranked lists by reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009): an item's score is the sum of
 * 1 / (60 + rank) over the lists. Of equal scores the one in the earlier list is first.
 */
export function fuseRanks<Item>(
  lists: readonly (readonly Item[])[],
  keyOf: (item: Item) => string,
  limit: number,
): readonly Item[] {
  const scores = new Map<string, { readonly item: Item; score: number }>();
  for (const list of lists) {
    for (const [at, item] of list.entries()) {
      const scored = scores.get(keyOf(item)) ?? { item, score: 0 };
      scored.score += 1 / (RANK_OFFSET + at + 1);
      scores.set(keyOf(item), scored);
    }
  }
  const sorted = [...scores.values()].toSorted((one, other) => other.score - one.score);
  return sorted.slice(0, limit).map(({ item }) => item);
}
