import type { Clock } from "../time/clock.js";
import type { BreakerNews } from "../vendors/chain/breaker-news.js";
import { Breakers } from "../vendors/chain/breakers.js";
import type { MemberLink } from "./box-questions.js";
import type { NodeBoxBreakers, OtherNodes } from "./other-nodes.js";

type Members = ReadonlyMap<number, { readonly link: Pick<MemberLink, "tell"> }>;

/** Passes on what a session process or another server tells of a breaker, and knows those that are not closed for who comes later. */
export class BreakerDesk {
  readonly #members: Members;
  readonly #nodes: Pick<OtherNodes, "tellOfBreaker"> | undefined;
  readonly #breakers: Breakers;

  constructor(members: Members, clock: Clock, nodes?: Pick<OtherNodes, "tellOfBreaker">) {
    this.#members = members;
    this.#nodes = nodes;
    this.#breakers = new Breakers(clock);
  }

  /** What the box knows and hears of the other servers' breakers. */
  get asNode(): NodeBoxBreakers {
    return {
      known: () => this.#breakers.news(),
      onBreakers: (all) => this.#passOn(undefined, all),
    };
  }

  /** A session process has opened or closed one, or tries it. */
  hear(member: number, news: BreakerNews): void {
    this.#passOn(member, [news]);
    this.#nodes?.tellOfBreaker(news);
  }

  /** A session process has begun. */
  tellAll(member: number): void {
    this.#members.get(member)?.link.tell("breakers", this.#breakers.news());
  }

  #passOn(from: number | undefined, all: readonly BreakerNews[]): void {
    for (const news of all) this.#breakers.heard(news);
    for (const [name, { link }] of this.#members) {
      if (name !== from) link.tell("breakers", all);
    }
  }
}
