import type { BreakerExchange, BreakerNews } from "../vendors/chain/breaker-news.js";
import type { MemberQuestions, OwnerLink } from "./box-questions.js";
import type { Handlers } from "./link.js";

/** A session process's way to those who use the same credentials, by way of the owner. */
export class BoxBreakers implements BreakerExchange {
  readonly #owner: OwnerLink;
  #receive: (news: BreakerNews) => void = () => {};

  constructor(owner: OwnerLink) {
    this.#owner = owner;
  }

  tell(news: BreakerNews): void {
    this.#owner.tell("breaker", news);
  }

  onNews(receive: (news: BreakerNews) => void): void {
    this.#receive = receive;
    this.#owner.tell("wantBreakers", undefined);
  }

  /** What the owner tells this process. */
  get handlers(): Pick<Handlers<MemberQuestions>, "breakers"> {
    return {
      breakers: (all) => {
        for (const news of all) this.#receive(news);
      },
    };
  }
}
