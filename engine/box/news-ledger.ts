import type { NewsTopic } from "../calls/call-news.js";

/** Which session processes of a box watch which calls; the watchers of each bound how many topics there are. */
export class NewsLedger {
  readonly #watching = new Map<NewsTopic, Set<number>>();

  get topics(): readonly NewsTopic[] {
    return [...this.#watching.keys()];
  }

  /** Whether somebody watches the topic who did not, or nobody any more. */
  want(member: number, topic: NewsTopic, isWanted: boolean): boolean {
    const members = this.#watching.get(topic);
    if (isWanted) {
      if (members === undefined) this.#watching.set(topic, new Set([member]));
      else members.add(member);
      return members === undefined;
    }
    if (members?.delete(member) !== true || members.size > 0) return false;
    this.#watching.delete(topic);
    return true;
  }

  /** Those that watch beside who tells. */
  othersThan(member: number, topic: NewsTopic): readonly number[] {
    return [...(this.#watching.get(topic) ?? [])].filter((each) => each !== member);
  }

  /** A process has ended; the topics that nobody watches any more. */
  leave(member: number): readonly NewsTopic[] {
    return this.topics.filter((topic) => this.want(member, topic, false));
  }
}
