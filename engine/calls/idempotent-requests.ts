import { createHash } from "node:crypto";
import {
  type IdempotencyKey,
  isKeyTaken,
  type StoredIdempotencyKey,
} from "../../storage/calls/idempotency-store.js";
import type { Database } from "../../storage/database.js";
import type { JsonObject } from "../../storage/records.js";
import type { Logger } from "../log.js";
import { RequestError } from "../request-error.js";
import type { CancelTimer, Clock } from "../time/clock.js";

const HOUR_MS = 60 * 60 * 1_000;
const PURGE_PERIOD_MS = HOUR_MS;
/** A key that is older may be used for another request. */
export const IDEMPOTENCY_KEYS_KEPT_MS = 24 * HOUR_MS;
/** Per organization, of all that are kept. Requests in progress at the same moment may exceed it by their number. */
export const IDEMPOTENCY_KEYS_MAX = 20_000;
export const IDEMPOTENCY_KEY_CHARACTERS_MAX = 255;
/** The vendor has answered by then, or its order has failed, so a request that is still pending has lost its process. */
export const PLACING_MAX_MS = 15_000;
/** A request in progress seldom takes longer. */
const RETRY_AFTER_SEC = 1;
const FULL_RETRY_AFTER_SEC = HOUR_MS / 1_000;
const PRINTABLE = /^[\x21-\x7e]+$/;

/** What a client sends to have a request take effect once. */
export interface IdempotentRequest {
  /** As the client chose it, see `isIdempotencyKey`. */
  readonly key: string;
  /** The method and the path. */
  readonly route: string;
  /** The body as it was validated, so that spaces and unknown fields do not count. */
  readonly body: unknown;
}

/** Either the first answer to a request, or what it answered when it was sent before. */
export type IdempotentAnswer<Answer> =
  | { readonly isRepeated: false; readonly answer: Answer }
  | { readonly isRepeated: true; readonly answer: JsonObject };

export function isIdempotencyKey(key: string): boolean {
  return key.length <= IDEMPOTENCY_KEY_CHARACTERS_MAX && PRINTABLE.test(key);
}

/** Answers a request that is sent again as the first time, so that a client whose connection broke may repeat it. */
export class IdempotentRequests {
  readonly #keys: Database["idempotencyKeys"];
  readonly #clock: Clock;
  readonly #log: Logger;

  constructor(keys: Database["idempotencyKeys"], clock: Clock, log: Logger) {
    this.#keys = keys;
    this.#clock = clock;
    this.#log = log;
  }

  /** Removes old keys at once and every hour. */
  startPurging(): CancelTimer {
    const purge = () => {
      this.#keys.purge(this.#sinceMs()).catch((error: unknown) => {
        this.#log.warn({ error }, "old idempotency keys could not be removed");
      });
    };
    purge();
    return this.#clock.every(PURGE_PERIOD_MS, purge);
  }

  /**
   * Calls `perform` unless the organization has sent the request before. `perform` stores the key in the same commit as what
   * the request creates, and rejects as the store does if another request was first. A refusal stores no key, so the
   * request may be repeated with it. RequestErrors `idempotency_key_reused`, `idempotency_key_in_use`, `rate_limited`.
   */
  async run<Answer>(
    orgId: string,
    request: IdempotentRequest | undefined,
    perform: (key: IdempotencyKey | undefined) => Promise<Answer>,
  ): Promise<IdempotentAnswer<Answer>> {
    if (request === undefined) return { isRepeated: false, answer: await perform(undefined) };
    const key: IdempotencyKey = {
      orgId,
      key: sha256(request.key),
      fingerprint: sha256(`${request.route}\n${JSON.stringify(request.body)}`),
      createdAtMs: this.#clock.epochMs(),
    };
    const { stored, count } = await this.#keys.find(orgId, key.key, this.#sinceMs());
    if (stored !== undefined) return this.#repeated(stored, key);
    if (count >= IDEMPOTENCY_KEYS_MAX) throw tooManyKeys();
    try {
      const answer = await perform(key);
      await this.#settle(key);
      return { isRepeated: false, answer };
    } catch (error) {
      if (!isKeyTaken(error)) throw error;
    }
    const { stored: first } = await this.#keys.find(orgId, key.key, this.#sinceMs());
    if (first === undefined) throw inUse();
    return this.#repeated(first, key);
  }

  #repeated(
    { fingerprint, answer, pendingUntilMs }: StoredIdempotencyKey,
    key: IdempotencyKey,
  ): IdempotentAnswer<never> {
    if (fingerprint !== key.fingerprint) {
      const message = "Idempotency-Key: was used for another request; expected a new key";
      throw new RequestError("idempotency_key_reused", message);
    }
    if (pendingUntilMs > this.#clock.epochMs()) throw inUse();
    return { isRepeated: true, answer };
  }

  /** A key that stays pending is final by itself after `PLACING_MAX_MS`, so the client gets its answer in any case. */
  async #settle(key: IdempotencyKey): Promise<void> {
    try {
      await this.#keys.settle(key);
    } catch (error) {
      this.#log.warn({ error }, "an idempotency key could not be settled");
    }
  }

  #sinceMs(): number {
    return this.#clock.epochMs() - IDEMPOTENCY_KEYS_KEPT_MS;
  }
}

function inUse(): RequestError {
  const message = "Idempotency-Key: the first request with it is still in progress";
  return new RequestError("idempotency_key_in_use", message, { retryAfterSec: RETRY_AFTER_SEC });
}

function tooManyKeys(): RequestError {
  const message = `Idempotency-Key: the organization has used ${IDEMPOTENCY_KEYS_MAX} keys in 24 h`;
  return new RequestError("rate_limited", message, { retryAfterSec: FULL_RETRY_AFTER_SEC });
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
