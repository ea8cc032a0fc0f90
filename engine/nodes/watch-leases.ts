import type { NewsTopic } from "./news-letter.js";

/** A node that has not asked again by then watches no more, or is gone. */
const LEASE_MS = 25_000;
/** What all nodes watch together. More topics are not told: their pages ask now and then, as without news. */
const LEASED_TOPICS_MAX = 10_000;

/** Which nodes watch which calls, each for as long as it has asked. */
export class WatchLeases {
  /** When the lease of each node ends, by the node's start. */
  readonly #ends = new Map<NewsTopic, Map<string, number>>();

  /** Whether this node had not watched the topic; false, too, where there is no room for it. */
  take(topic: NewsTopic, node: string, nowMs: number): boolean {
    const ends = this.#ends.get(topic);
    if (ends !== undefined) {
      const isNew = !ends.has(node);
      ends.set(node, nowMs + LEASE_MS);
      return isNew;
    }
    if (this.#ends.size >= LEASED_TOPICS_MAX) return false;
    this.#ends.set(topic, new Map([[node, nowMs + LEASE_MS]]));
    return true;
  }

  /** The nodes that watch the topic. */
  nodesOf(topic: NewsTopic): readonly string[] {
    return [...(this.#ends.get(topic)?.keys() ?? [])];
  }

  /** Forgets what is over; the topics that no node watches any more. */
  expire(nowMs: number): readonly NewsTopic[] {
    const left: NewsTopic[] = [];
    for (const [topic, ends] of this.#ends) {
      for (const [node, endMs] of ends) if (endMs <= nowMs) ends.delete(node);
      if (ends.size > 0) continue;
      this.#ends.delete(topic);
      left.push(topic);
    }
    return left;
  }
}
