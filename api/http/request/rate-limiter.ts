// Own code, since it must not wait: rate-limiter-flexible returns a promise and sets a timer for every key.

import type { LRUCache } from "lru-cache";
import type { LimitName } from "../../../engine/cluster/ipc-messages.js";
import { sparseCache } from "../../../engine/sparse-cache.js";
import type { Clock } from "../../../engine/time/clock.js";
import type { MaybePromise } from "../../../engine/time/maybe-promise.js";

export interface RateLimit {
  /** Uses of one key within one window. */
  readonly usesMax: number;
  readonly windowMs: number;
}

/** The rate limits for code that serves requests, whether this process counts or the primary does. */
export interface UseLimiter {
  /** Counts one use. Returns 0 if it is within the limit, otherwise the whole seconds to wait, at least 1. */
  take(key: string): MaybePromise<number>;
}

/** Returns the limiter for the name of a limit. */
export type LimiterOf = (name: LimitName, limit: RateLimit) => UseLimiter;

interface Window {
  startMs: number;
  useCount: number;
}

/** The number of keys kept, about 10 MB; beyond it the least recently seen are dropped and start afresh. */
const KEYS_MAX = 50_000;

/** Counts uses by key in windows that start with a key's first use, in memory that does not grow without bound. */
export class RateLimiter implements UseLimiter {
  readonly #limit: RateLimit;
  readonly #clock: Clock;
  readonly #windowsByKey: LRUCache<string, Window>;

  constructor(limit: RateLimit, clock: Clock, keysMax: number = KEYS_MAX) {
    this.#limit = limit;
    this.#clock = clock;
    this.#windowsByKey = sparseCache(keysMax);
  }

  get keyCount(): number {
    return this.#windowsByKey.size;
  }

  /** Counts one use. Returns 0 if it is within the limit, otherwise the whole seconds to wait, at least 1. */
  take(key: string): number {
    const nowMs = this.#clock.monotonicMs();
    const window = this.#windowsByKey.get(key);
    if (window === undefined) {
      this.#windowsByKey.set(key, { startMs: nowMs, useCount: 1 });
      return this.#limit.usesMax > 0 ? 0 : Math.ceil(this.#limit.windowMs / 1_000);
    }
    if (nowMs - window.startMs >= this.#limit.windowMs) {
      window.startMs = nowMs;
      window.useCount = 0;
    }
    if (window.useCount < this.#limit.usesMax) {
      window.useCount += 1;
      return 0;
    }
    return Math.max(1, Math.ceil((window.startMs + this.#limit.windowMs - nowMs) / 1_000));
  }
}
