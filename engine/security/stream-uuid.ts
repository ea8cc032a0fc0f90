import { randomUUID } from "node:crypto";
import { OrganizationCounts } from "../organization-counts.js";
import { RequestError } from "../request-error.js";
import type { Clock } from "../time/clock.js";
import type { MaybePromise } from "../time/maybe-promise.js";
import { STREAM_TOKEN_LIFETIME_MS, type StreamClaims } from "./stream-token.js";

/** Calls that are on their way from the dialplan to the stream at one moment, which takes a second; some 4 MB. */
const STREAM_UUIDS_MAX = 10_000;
/** The bound of one customer, who may ask and never call, keeps the places of the others free. */
export const STREAM_UUIDS_OF_ONE_MAX = 500;

/** The UUIDs as webhooks and streams use them, whether this process keeps them or the owner of the server does. */
export interface StreamUuidRegistry {
  /** Fails with a RequestError when too many have not been used yet. */
  mint(claims: StreamClaims): MaybePromise<string>;
  redeem(uuid: string): MaybePromise<StreamClaims | undefined>;
}

interface Waiting {
  readonly claims: StreamClaims;
  readonly untilMs: number;
}

/**
 * What a stream token is where the stream can only say a UUID: one of 122 random bits, valid for a minute, for one stream, in
 * this process. It says nothing of whom it is for: that is kept here.
 */
export class StreamUuids implements StreamUuidRegistry {
  readonly #clock: Clock;
  /** The oldest come first. */
  readonly #waiting = new Map<string, Waiting>();
  readonly #counts = new OrganizationCounts();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get count(): number {
    return this.#waiting.size;
  }

  /** Throws a RequestError when too many have not been used yet. */
  mint(claims: StreamClaims): string {
    this.#forgetOld();
    const ofOne = this.#counts.of(claims.orgId);
    if (this.#waiting.size >= STREAM_UUIDS_MAX || ofOne >= STREAM_UUIDS_OF_ONE_MAX) {
      throw new RequestError(
        "overloaded",
        "too many announced calls have not connected yet; wait a minute",
      );
    }
    const uuid = randomUUID();
    const untilMs = this.#clock.monotonicMs() + STREAM_TOKEN_LIFETIME_MS;
    this.#waiting.set(uuid, { claims, untilMs });
    this.#counts.add(claims.orgId);
    return uuid;
  }

  /** Uses it up. Undefined for one that was never made, is a minute old, or was used. */
  redeem(uuid: string): StreamClaims | undefined {
    this.#forgetOld();
    const waiting = this.#waiting.get(uuid);
    if (waiting !== undefined) this.#forget(uuid, waiting);
    return waiting?.claims;
  }

  #forgetOld(): void {
    const nowMs = this.#clock.monotonicMs();
    for (const [uuid, waiting] of this.#waiting) {
      if (waiting.untilMs > nowMs) return;
      this.#forget(uuid, waiting);
    }
  }

  #forget(uuid: string, { claims: { orgId } }: Waiting): void {
    this.#waiting.delete(uuid);
    this.#counts.remove(orgId);
  }
}
