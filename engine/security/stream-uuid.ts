import { randomUUID } from "node:crypto";
import { OrganizationCounts } from "../organization-counts.js";
import { RequestError } from "../request-error.js";
import type { Clock } from "../time/clock.js";
import type { MaybePromise } from "../time/maybe-promise.js";
import { STREAM_TOKEN_LIFETIME_MS, type StreamClaims } from "./stream-token.js";

/** Calls that may be between the dialplan and their stream at the same time; that takes about a second. Some 4 MB. */
const STREAM_UUIDS_MAX = 10_000;
/** Limit per organization, so that one that requests UUIDs and never calls does not block the others. */
export const STREAM_UUIDS_OF_ONE_MAX = 500;

/** Mints and redeems stream UUIDs, which are kept in this process or by the primary process. */
export interface StreamUuidRegistry {
  /** RequestError `overloaded` if too many UUIDs are unused. */
  mint(claims: StreamClaims): MaybePromise<string>;
  redeem(uuid: string): MaybePromise<StreamClaims | undefined>;
}

interface Waiting {
  readonly claims: StreamClaims;
  readonly untilMs: number;
}

/**
 * Replaces stream tokens where the stream can send only a UUID. A UUID has 122 random bits and is valid for one minute,
 * for one stream, in this process. Its claims are kept in memory.
 */
export class StreamUuids implements StreamUuidRegistry {
  readonly #clock: Clock;
  /** Ordered by age, oldest first. */
  readonly #waiting = new Map<string, Waiting>();
  readonly #counts = new OrganizationCounts();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get count(): number {
    return this.#waiting.size;
  }

  /** RequestError `overloaded` if too many UUIDs are unused. */
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

  /** Marks the UUID as used. Returns undefined if it was never made, has expired, or was used. */
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
