import { Failure } from "../failure.js";
import type { Clock } from "../time/clock.js";
import {
  type CallNews,
  callsTopic,
  callTopic,
  type NewsExchange,
  type NewsTopic,
} from "./call-news.js";

/** In one process. A person has a page or two open; more than these are a client that forgets to let go. */
export const WATCHERS_PER_ORGANIZATION_MAX = 100;
export const WATCHERS_MAX = 1_000;
/** Who watches has to come again, with credentials that are still good. */
export const WATCH_MAX_MS = 60_000;
/** So that nothing between server and watcher takes the line for dead, and a watcher that is gone is missed. */
export const PULSE_MS = 5_000;

/** News of all calls of an organization are told together so often: each telling costs every watcher a write. */
export const TOGETHER_MS = 250;
/** More at once are told before. */
const TOGETHER_MAX = 100;

/** What is watched: one call with its words, or without `callId` all of the organization's without theirs. */
export interface Watched {
  readonly orgId: string;
  readonly callId?: string;
}

export interface Watcher {
  readonly news: (news: CallNews) => void;
  /** Nothing has happened for a while. */
  readonly pulse: () => void;
}

interface Watch {
  readonly watcher: Watcher;
  readonly end: () => void;
}

/** Tells who watches what happens in calls. Where nobody does, telling costs one look. */
export class CallFeed {
  readonly #clock: Clock;
  readonly #exchange: NewsExchange | undefined;
  readonly #watches = new Map<NewsTopic, Set<Watch>>();
  readonly #waiting = new Map<NewsTopic, CallNews[]>();
  readonly #countByOrg = new Map<string, number>();
  #count = 0;
  #isClosed = false;

  /** With an exchange where other processes of the box have calls and watchers, too. */
  constructor(clock: Clock, exchange?: NewsExchange) {
    this.#clock = clock;
    this.#exchange = exchange;
    exchange?.onNews((topic, news) => this.#deliver(topic, news));
  }

  get watcherCount(): number {
    return this.#count;
  }

  tell(orgId: string, news: CallNews): void {
    if (news.type !== "words") this.#tellSoon(callsTopic(orgId), news);
    this.#tell(callTopic(orgId, news.callId), news);
  }

  /** Throws the Failure `rateLimited` where nobody else of the organization may watch. */
  demandRoom(orgId: string): void {
    if (this.#hasRoom(orgId)) return;
    throw new Failure("rateLimited", "too many pages watch calls: close one, or try again later", {
      retryAfterSec: WATCH_MAX_MS / 1_000,
    });
  }

  /** Resolves when the signal aborts, after `WATCH_MAX_MS`, or when the server stops; at once where there is no room. */
  watch(watched: Watched, watcher: Watcher, signal: AbortSignal): Promise<void> {
    const { orgId, callId } = watched;
    if (this.#isClosed || signal.aborted || !this.#hasRoom(orgId)) return Promise.resolve();
    const topic = callId === undefined ? callsTopic(orgId) : callTopic(orgId, callId);
    return new Promise((resolve) => {
      const watch: Watch = {
        watcher,
        end: () => {
          stopPulse();
          stopWatch();
          signal.removeEventListener("abort", watch.end);
          this.#remove(topic, watch, orgId);
          resolve();
        },
      };
      const stopPulse = this.#clock.every(PULSE_MS, watcher.pulse);
      const stopWatch = this.#clock.after(WATCH_MAX_MS, watch.end);
      signal.addEventListener("abort", watch.end);
      this.#add(topic, watch, orgId);
    });
  }

  /** The server stops: nobody watches any more. */
  close(): void {
    this.#isClosed = true;
    for (const watches of this.#watches.values()) {
      for (const { end } of watches) end();
    }
  }

  #hasRoom(orgId: string): boolean {
    const count = this.#countByOrg.get(orgId) ?? 0;
    return count < WATCHERS_PER_ORGANIZATION_MAX && this.#count < WATCHERS_MAX;
  }

  #tellSoon(topic: NewsTopic, news: CallNews): void {
    if (!this.#watches.has(topic) && this.#exchange?.isWanted(topic) !== true) return;
    const waiting = this.#waiting.get(topic);
    if (waiting === undefined) {
      this.#waiting.set(topic, [news]);
      this.#clock.after(TOGETHER_MS, () => this.#tellWaiting(topic));
      return;
    }
    waiting.push(news);
    if (waiting.length >= TOGETHER_MAX) this.#tellWaiting(topic);
  }

  #tellWaiting(topic: NewsTopic): void {
    const waiting = this.#waiting.get(topic) ?? [];
    this.#waiting.delete(topic);
    for (const news of waiting) this.#tell(topic, news);
  }

  #tell(topic: NewsTopic, news: CallNews): void {
    this.#deliver(topic, news);
    if (this.#exchange?.isWanted(topic) === true) this.#exchange.send(topic, news);
  }

  #deliver(topic: NewsTopic, news: CallNews): void {
    for (const { watcher } of this.#watches.get(topic) ?? []) watcher.news(news);
  }

  #add(topic: NewsTopic, watch: Watch, orgId: string): void {
    const watches = this.#watches.get(topic);
    if (watches === undefined) {
      this.#watches.set(topic, new Set([watch]));
      this.#exchange?.want(topic, true);
    } else watches.add(watch);
    this.#countByOrg.set(orgId, (this.#countByOrg.get(orgId) ?? 0) + 1);
    this.#count += 1;
  }

  #remove(topic: NewsTopic, watch: Watch, orgId: string): void {
    const watches = this.#watches.get(topic);
    if (watches?.delete(watch) !== true) return;
    if (watches.size === 0) {
      this.#watches.delete(topic);
      this.#exchange?.want(topic, false);
    }
    const left = (this.#countByOrg.get(orgId) ?? 0) - 1;
    if (left > 0) this.#countByOrg.set(orgId, left);
    else this.#countByOrg.delete(orgId);
    this.#count -= 1;
  }
}
