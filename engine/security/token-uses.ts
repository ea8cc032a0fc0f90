import type { Clock } from "../time/clock.js";
import type { MaybePromise } from "../time/maybe-promise.js";
import type { ClientToken } from "./client-token.js";

/** Tokens that were used and are still good; some 20 MB. */
const USED_MAX = 100_000;

/** The refusal that does not last. */
export const TOO_MANY_TOKENS = "too many tokens are in use; try again in a minute";

/** What is needed of a token to know whether it was used. */
export type UsedToken = Pick<ClientToken, "nonce" | "expiresAtMs">;

/** The uses as who lets clients in needs them, whether this process keeps them or the owner of the server does. */
export interface TokenUseRegistry {
  take(token: UsedToken, historyKey: string | undefined): MaybePromise<string | undefined>;
  opened(token: UsedToken, historyKey: string): void;
  release(token: UsedToken): void;
}

interface Use {
  readonly untilMs: number;
  /** Names the conversation that the token has opened; undefined until it is open. */
  historyKey: string | undefined;
}

/**
 * One token begins one conversation. Who has read it in an address can only go on with that one, if he knows its key; a page
 * whose connection broke does.
 */
export class TokenUses implements TokenUseRegistry {
  readonly #clock: Clock;
  readonly #usedMax: number;
  readonly #uses = new Map<string, Use>();

  constructor(clock: Clock, usedMax = USED_MAX) {
    this.#clock = clock;
    this.#usedMax = usedMax;
  }

  /** Answers why the token opens nothing; undefined when it is taken for this call. */
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

  /** The call could not be opened: the token is as it was before, unless it has opened another. */
  release({ nonce }: UsedToken): void {
    if (this.#uses.get(nonce)?.historyKey === undefined) this.#uses.delete(nonce);
  }

  #forget(nowMs: number): void {
    for (const [nonce, { untilMs }] of this.#uses) {
      if (untilMs <= nowMs) this.#uses.delete(nonce);
    }
  }
}
