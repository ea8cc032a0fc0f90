import type { Mail } from "../../storage/nodes/mail.js";
import type { SentNews } from "../box/box-questions.js";
import type { NodeBoxNews } from "../box/other-nodes.js";
import type { Logger } from "../log.js";
import type { CancelTimer, Clock } from "../time/clock.js";
import {
  type CallNews,
  type NewsTopic,
  newsChannelOf,
  newsLetters,
  readNews,
  readWatches,
  WATCHES,
  watchLetters,
} from "./news-letter.js";
import { WatchLeases } from "./watch-leases.js";

/** Well within a lease, so that one lost letter costs nothing. */
const RENEW_MS = 10_000;
/** What comes within it goes in one letter. */
const TOGETHER_MS = 100;
/** News that wait for their letter: where the database is slow, what is new is left out. */
const NEWS_WAITING_MAX = 1_000;

export interface NodeNewsOptions extends NodeBoxNews {
  readonly mail: Pick<Mail, "post" | "postToAll">;
  readonly startId: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/** News of calls between the servers of a database, of what somebody watches at another server alone. */
export class NodeNews {
  readonly #options: NodeNewsOptions;
  readonly #leases = new WatchLeases();
  readonly #stopRenewing: CancelTimer;
  /** Topics that the others were asked for since the last renewal. */
  readonly #asked = new Set<NewsTopic>();
  #waiting = new Map<NewsTopic, CallNews[]>();
  #waitingCount = 0;
  #leftOutCount = 0;
  #cancelPosting: CancelTimer | undefined;
  #isPosting = false;
  #isClosed = false;

  constructor(options: NodeNewsOptions) {
    this.#options = options;
    this.#stopRenewing = options.clock.every(RENEW_MS, () => this.#renew());
  }

  /** What this node listens to for it. */
  get channels(): ReadonlyMap<string, (text: string) => void> {
    return new Map([
      [WATCHES, (text: string) => this.#hearWatches(text)],
      [newsChannelOf(this.#options.startId), (text: string) => this.#hearNews(text)],
    ]);
  }

  close(): void {
    this.#isClosed = true;
    this.#stopRenewing();
    this.#cancelPosting?.();
  }

  /** A session process of this box begins to watch. */
  watch(topic: NewsTopic): void {
    if (this.#asked.has(topic)) return;
    this.#asked.add(topic);
    void this.#ask([topic]);
  }

  /** To the nodes that watch it, together with what follows at once. */
  send({ topic, news }: SentNews): void {
    if (this.#leases.nodesOf(topic).length === 0) return;
    const waiting = this.#waiting.get(topic) ?? [];
    if (isGuessOf(waiting.at(-1), news)) waiting.pop();
    else if (this.#waitingCount >= NEWS_WAITING_MAX) {
      this.#leftOutCount += 1;
      return;
    } else this.#waitingCount += 1;
    waiting.push(news);
    this.#waiting.set(topic, waiting);
    this.#postSoon();
  }

  #postSoon(): void {
    if (this.#isPosting || this.#isClosed) return;
    this.#cancelPosting ??= this.#options.clock.after(TOGETHER_MS, () => {
      this.#cancelPosting = undefined;
      void this.#postWaiting();
    });
  }

  /** One letter after the other, so that they arrive in order; what comes meanwhile goes next. */
  async #postWaiting(): Promise<void> {
    const { log, mail } = this.#options;
    const waiting = this.#waiting;
    this.#waiting = new Map();
    this.#waitingCount = 0;
    this.#isPosting = true;
    try {
      for (const [topic, news] of waiting) {
        const channels = this.#leases.nodesOf(topic).map(newsChannelOf);
        if (channels.length === 0) continue;
        for (const letter of newsLetters(topic, news)) await mail.postToAll(channels, letter);
      }
    } catch (error) {
      log.warn({ error }, "who watches calls at other servers was not told of news");
    }
    this.#isPosting = false;
    const count = this.#leftOutCount;
    this.#leftOutCount = 0;
    if (count > 0) log.warn({ count }, "news of calls for other servers were left out: too many");
    if (this.#waiting.size > 0) this.#postSoon();
  }

  #renew(): void {
    const { watchedTopics, onWanted, clock } = this.#options;
    for (const topic of this.#leases.expire(clock.monotonicMs())) {
      onWanted({ topic, isWanted: false });
    }
    this.#asked.clear();
    const topics = watchedTopics();
    for (const topic of topics) this.#asked.add(topic);
    void this.#ask(topics);
  }

  /** What could not be asked is asked with the next renewal. */
  async #ask(topics: readonly NewsTopic[]): Promise<void> {
    const { mail, startId, log } = this.#options;
    try {
      for (const letter of watchLetters(startId, topics)) await mail.post(WATCHES, letter);
    } catch (error) {
      log.warn({ error }, "other servers could not be asked for news of calls");
    }
  }

  #hearWatches(text: string): void {
    const { startId, onWanted, clock } = this.#options;
    const letter = readWatches(text);
    if (letter === undefined) return this.#notUnderstood(text);
    const { from, topics } = letter;
    if (from === startId) return;
    const nowMs = clock.monotonicMs();
    for (const topic of topics) {
      if (this.#leases.take(topic, from, nowMs)) onWanted({ topic, isWanted: true });
    }
  }

  #hearNews(text: string): void {
    const news = readNews(text);
    if (news === undefined) return this.#notUnderstood(text);
    for (const sent of news) this.#options.onNews(sent);
  }

  #notUnderstood(text: string): void {
    const bytes = text.length;
    this.#options.log.warn({ bytes }, "what another server said of calls was not understood");
  }
}

/** Whether the words that wait are an earlier state of the ones that follow them. */
function isGuessOf(before: CallNews | undefined, news: CallNews): boolean {
  if (before?.type !== "words" || news.type !== "words" || before.isFinal) return false;
  return before.callId === news.callId && before.role === news.role;
}
