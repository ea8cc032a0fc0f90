import type { NewsTopic } from "../calls/call-news.js";
import type { MemberLink, SentNews, WantedNews } from "./box-questions.js";
import type { NodeBoxNews, OtherNodes } from "./other-nodes.js";

/** Stands for the other nodes among those who watch; session processes are counted from 1. */
const OTHER_NODES = 0;

type Members = ReadonlyMap<number, { readonly link: Pick<MemberLink, "tell"> }>;

/** Passes on news of calls to those who watch them; the watchers of each process bound how many topics there are. */
export class NewsDesk {
  readonly #members: Members;
  readonly #nodes: Pick<OtherNodes, "watch" | "sendNews"> | undefined;
  /** Who watches what: names of session processes, and `OTHER_NODES`. */
  readonly #watching = new Map<NewsTopic, Set<number>>();

  constructor(members: Members, nodes?: Pick<OtherNodes, "watch" | "sendNews">) {
    this.#members = members;
    this.#nodes = nodes;
  }

  get topics(): readonly NewsTopic[] {
    return [...this.#watching.keys()];
  }

  /** What the box and the other nodes watch of each other's calls. */
  get asNode(): NodeBoxNews {
    return {
      watchedTopics: () =>
        this.topics.filter((topic) => this.#othersThan(OTHER_NODES, topic).length > 0),
      onWanted: (wanted) => this.#note(OTHER_NODES, wanted),
      onNews: (sent) => this.passOn(OTHER_NODES, sent),
    };
  }

  /** Somebody at this session process watches that, or nobody any more. */
  want(member: number, wanted: WantedNews): void {
    this.#note(member, wanted);
    if (wanted.isWanted) this.#nodes?.watch(wanted.topic);
  }

  passOn(from: number, sent: SentNews): void {
    for (const name of this.#othersThan(from, sent.topic)) {
      if (name === OTHER_NODES) this.#nodes?.sendNews(sent);
      else this.#members.get(name)?.link.tell("news", sent);
    }
  }

  /** A process has ended. */
  leave(member: number): void {
    for (const topic of this.topics) this.#note(member, { topic, isWanted: false });
  }

  /** All session processes are told when somebody begins to watch, if others do already too, and when nobody does any more. */
  #note(from: number, { topic, isWanted }: WantedNews): void {
    const before = this.#watching.get(topic);
    if (isWanted) this.#watching.set(topic, (before ?? new Set()).add(from));
    else if (before?.delete(from) !== true || before.size > 0) return;
    else this.#watching.delete(topic);
    for (const { link } of this.#members.values()) link.tell("newsWanted", { topic, isWanted });
  }

  #othersThan(member: number, topic: NewsTopic): readonly number[] {
    return [...(this.#watching.get(topic) ?? [])].filter((each) => each !== member);
  }
}
