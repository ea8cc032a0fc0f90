import type { Clock } from "../time/clock.js";
import type { MaybePromise } from "../time/maybe-promise.js";
import type { ClientToken } from "./client-token.js";

/** Used tokens that have not expired; some 20 MB. */
const USED_MAX = 100_000;

/** The only temporary refusal. */
export const TOO_MANY_TOKENS = "too many tokens are in use; try again in a minute";

/** The fields of a token that identify its use. */
export type UsedToken = Pick<ClientToken, "nonce" | "expiresAtMs">;

/** Records the use of client tokens, in this process or through the primary process. */
export interface TokenUseRegistry {
  take(token: UsedToken, historyKey: string | undefined): MaybePromise<string | undefined>;
  opened(token: UsedToken, historyKey: string): void;
  release(token: UsedToken): void;
}

interface Use {
  readonly untilMs: number;
  /** Identifies the conversation that the token opened; undefined until it is open. */
  historyKey: string | undefined;
}

/**
 * Each token opens one conversation. Someone who read the token in a URL can only continue that conversation, and only
 * with its key; a page that reconnects does the same.
 */
export class TokenUses implements TokenUseRegistry {
  readonly #clock: Clock;
  readonly #usedMax: number;
  readonly #uses = new Map<string, Use>();

  constructor(clock: Clock, usedMax = USED_MAX) {
    this.#clock = clock;
    this.#usedMax = usedMax;
  }

  /** Returns why the token is refused; undefined if it is accepted for this call. */
  take({ nonce, expiresAtMs }: UsedToken, historyKey: string | undefined): string | undefined {
    const nowMs = this.#clock.epochMs();
    const known = this.#uses.get(nonce);
    if (known !== undefined) {
      if (known.historyKey !== undefined && known.historyKey === historyKey) return undefined;
      return "the token was used for another call";
    }
    if (this.#uses.size >= this.#usedMax) this.#forget(nowMs);
    if (this.#uses.size >= this.#usedMax) return TOO_MANY_TOKENS;
    this.#uses.set(nonce, { untilMs: expiresAtMs, historyKey: undefined });
    return undefined;
  }

  opened({ nonce }: UsedToken, historyKey: string): void {
    const use = this.#uses.get(nonce);
    if (use !== undefined) use.historyKey = historyKey;
  }

  /** Called if the call could not be opened: the token becomes unused, unless it has opened another call. */
  release({ nonce }: UsedToken): void {
    if (this.#uses.get(nonce)?.historyKey === undefined) this.#uses.delete(nonce);
  }

  #forget(nowMs: number): void {
    for (const [nonce, { untilMs }] of this.#uses) {
      if (untilMs <= nowMs) this.#uses.delete(nonce);
    }
  }
}
