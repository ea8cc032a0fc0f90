import type { CallNews, NewsExchange, NewsTopic } from "../calls/call-news.js";
import type { MemberQuestions, OwnerLink } from "./box-questions.js";
import type { Handlers } from "./link.js";

/** News of calls between the session processes of a box, by way of the owner; only of what somebody elsewhere watches. */
export class BoxNews implements NewsExchange {
  readonly #owner: OwnerLink;
  readonly #wanted = new Set<NewsTopic>();
  #receive: (topic: NewsTopic, news: CallNews) => void = () => {};
  #tellWanted: (topic: NewsTopic) => void = () => {};

  constructor(owner: OwnerLink) {
    this.#owner = owner;
  }

  isWanted(topic: NewsTopic): boolean {
    return this.#wanted.has(topic);
  }

  want(topic: NewsTopic, isWanted: boolean): void {
    this.#owner.tell("wantNews", { topic, isWanted });
  }

  send(topic: NewsTopic, news: CallNews): void {
    this.#owner.tell("news", { topic, news });
  }

  onNews(receive: (topic: NewsTopic, news: CallNews) => void): void {
    this.#receive = receive;
  }

  onWanted(tell: (topic: NewsTopic) => void): void {
    this.#tellWanted = tell;
  }

  /** What the owner tells this process. */
  get handlers(): Pick<Handlers<MemberQuestions>, "newsWanted" | "news"> {
    return {
      newsWanted: ({ topic, isWanted }) => {
        if (!isWanted) {
          this.#wanted.delete(topic);
          return;
        }
        this.#wanted.add(topic);
        this.#tellWanted(topic);
      },
      news: ({ topic, news }) => this.#receive(topic, news),
    };
  }
}
