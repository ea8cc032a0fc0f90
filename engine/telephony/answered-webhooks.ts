import { createHash } from "node:crypto";
import type { Clock } from "../time/clock.js";
import type { MaybePromise } from "../time/maybe-promise.js";
import { WEBHOOK_AGE_MAX_MS } from "./webhook-age.js";

/** Vendors' times are believed so far either way. */
const KEPT_MS = 2 * WEBHOOK_AGE_MAX_MS;
/** What carries no time may come again on purpose, once the answer to it is of no use any more. */
const KEPT_UNDATED_MS = 60_000;
/** Thirty calls a second for as long as they are kept; some 25 MB. */
const ANSWERED_MAX = 20_000;

/** By what a repetition of a signed webhook is known. */
export interface WebhookIdentity {
  /** The same however the request is spelled; only who can sign can choose another. */
  readonly id: string;
  /** The vendor never signs the same twice. */
  readonly isUnique: boolean;
}

/** The answered webhooks, whether this process knows them or the owner of the server does. */
export interface WebhookAnswers {
  answerTo(webhook: WebhookIdentity, make: () => string): MaybePromise<string | undefined>;
}

/** How long a repetition of a webhook gets the same answer. */
export function keptMsOf(isUnique: boolean): number {
  return isUnique ? KEPT_MS : KEPT_UNDATED_MS;
}

interface Answered {
  readonly answer: string;
  readonly untilMs: number;
}

/**
 * The signed webhooks that were answered lately. A repeated one gets the same document, with the same tokens: a vendor
 * that lost it can continue, and a replayed signature yields only used tokens.
 */
export class AnsweredWebhooks implements WebhookAnswers {
  readonly #clock: Clock;
  readonly #answeredMax: number;
  readonly #answeredById = new Map<string, Answered>();

  constructor(clock: Clock, answeredMax: number = ANSWERED_MAX) {
    this.#clock = clock;
    this.#answeredMax = answeredMax;
  }

  get count(): number {
    return this.#answeredById.size;
  }

  /** Undefined when memory is full of what could still be replayed: new ones wait rather than old ones being forgotten. */
  answerTo({ id, isUnique }: WebhookIdentity, make: () => string): string | undefined {
    const nowMs = this.#clock.monotonicMs();
    const key = createHash("sha256").update(id).digest("base64");
    const answered = this.#answeredById.get(key);
    if (answered !== undefined && answered.untilMs > nowMs) return answered.answer;
    if (this.#answeredById.size >= this.#answeredMax) this.#forget(nowMs);
    if (this.#answeredById.size >= this.#answeredMax) return undefined;
    const answer = make();
    this.#answeredById.set(key, { answer, untilMs: nowMs + keptMsOf(isUnique) });
    return answer;
  }

  #forget(nowMs: number): void {
    for (const [key, { untilMs }] of this.#answeredById) {
      if (untilMs <= nowMs) this.#answeredById.delete(key);
    }
  }
}
