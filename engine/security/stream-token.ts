import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from "node:crypto";
import * as v from "valibot";
import type { Clock } from "../time/clock.js";
import type { MaybePromise } from "../time/maybe-promise.js";

/** More calls than any machine takes in the two minutes for which a token is remembered; some 15 MB. */
const USED_MAX = 100_000;

export interface UsedNoncesOptions {
  readonly clock: Clock;
  /** How long a nonce is kept; after that its token must have expired. */
  readonly keptMs: number;
  readonly usedMax?: number;
}

/** The one-time tokens that were used. */
export class UsedNonces {
  readonly #clock: Clock;
  readonly #keptMs: number;
  readonly #usedMax: number;
  /** The time at which a nonce may be forgotten, on the monotonic clock. The oldest nonces come first. */
  readonly #usedUntilMs = new Map<string, number>();

  constructor({ clock, keptMs, usedMax = USED_MAX }: UsedNoncesOptions) {
    this.#clock = clock;
    this.#keptMs = keptMs;
    this.#usedMax = usedMax;
  }

  get count(): number {
    return this.#usedUntilMs.size;
  }

  /** If memory is full of nonces of valid tokens, new tokens are refused, so that no used one is forgotten. */
  use(nonce: string): "used" | "overloaded" | undefined {
    const nowMs = this.#clock.monotonicMs();
    for (const [old, untilMs] of this.#usedUntilMs) {
      if (untilMs > nowMs) break;
      this.#usedUntilMs.delete(old);
    }
    if (this.#usedUntilMs.has(nonce)) return "used";
    if (this.#usedUntilMs.size >= this.#usedMax) return "overloaded";
    this.#usedUntilMs.set(nonce, nowMs + this.#keptMs);
    return undefined;
  }
}

/** The call that a media stream belongs to. The webhook sets it, and the stream trusts it. */
export interface StreamClaims {
  /**
   * The vendor of the webhook. A stream of another vendor must not report on its calls, or end them, by unsigned ids.
   */
  readonly vendor: string;
  readonly orgId: string;
  readonly agentId: string;
  /** The vendor's id of the call; empty if it has none. */
  readonly callerRef: string;
  /** A random key that all streams of one telephone call share. */
  readonly callKey: string;
  /** The number of earlier streams of this call that broke. */
  readonly attempt: number;
  /** How many earlier streams ended for a transfer that nobody answered. Default: 0. */
  readonly failedTransfers?: number;
  /** Whether the dialplan that requests documents has said that it executes those that dial a transfer. */
  readonly dialsTransfers?: boolean;
  /** Whether the organization's own account at the vendor carries the call. Default: the installation's account. */
  readonly ownAccount?: boolean;
}

/** What the stream states in addition to its token; fields that are left out are not compared. */
export interface StreamPresented {
  readonly vendor?: string;
  readonly agentId?: string;
  readonly callerRef?: string;
}

export type TokenRefusal =
  | "malformed"
  | "forged"
  | "expired"
  | "fromTheFuture"
  | "used"
  | "otherVendor"
  | "otherAgent"
  | "otherCall"
  | "overloaded";

export type Redeemed =
  | { readonly claims: StreamClaims; readonly refusal?: undefined }
  | { readonly claims?: undefined; readonly refusal: TokenRefusal };

/** A vendor opens the stream within seconds of the webhook's answer. */
export const STREAM_TOKEN_LIFETIME_MS = 60_000;
/** Maximum difference between the clocks of two servers. */
const CLOCK_SKEW_MAX_MS = 5000;
/** Twice the longest lifetime that a token can have left, in case the clock is set back in between. */
export const NONCE_KEPT_MS = 2 * (STREAM_TOKEN_LIFETIME_MS + CLOCK_SKEW_MAX_MS);
/** Our ids are UUIDs; ids of vendors have 34 to 64 characters. */
const CLAIM_LENGTH_MAX = 64;
/** Vendors accept 500 characters for the name and value of a parameter together. */
const STREAM_TOKEN_LENGTH_MAX = 480;
/** Vonage and Plivo pass on 512 bytes of all parameters together, so a longer token packs our UUIDs. */
const PLAIN_TOKEN_LENGTH_MAX = 400;
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/;
const PACKED_UUID = /~([\w-]{22})/;
const KEY_LABEL = "parley: telephony stream token, version 3";
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const CALL_KEY_BYTES = 8;
const SIGNATURE_HEX = 64;
const FORMAT = /^(?:[0-9a-f]{2})+$/;
const SECRET_LENGTH_MIN = 32;

const Content = v.tuple([
  v.string(),
  v.string(),
  v.string(),
  v.string(),
  v.string(),
  v.pipe(v.number(), v.safeInteger()),
  v.pipe(v.number(), v.safeInteger()),
  v.string(),
  v.optional(v.pipe(v.number(), v.safeInteger()), 0),
  v.optional(v.boolean(), false),
  v.optional(v.boolean(), false),
]);

/** Makes the key for the first stream of a call. */
export function newCallKey(): string {
  return randomBytes(CALL_KEY_BYTES).toString("base64url");
}

/** Mints and redeems stream tokens; their use is recorded in this process or through the primary process. */
export interface StreamTokenRegistry {
  mint(claims: StreamClaims): string;
  redeem(token: string, presented?: StreamPresented): MaybePromise<Redeemed>;
}

/** A token that is valid unless its nonce was used. */
interface GoodToken {
  readonly claims: StreamClaims;
  readonly nonce: string;
  readonly refusal?: undefined;
}

type ReadToken = GoodToken | { readonly refusal: TokenRefusal };

/** The record of the stream tokens that were used on this server. */
export function usedStreamNonces(clock: Clock, usedMax?: number): UsedNonces {
  return new UsedNonces({
    clock,
    keptMs: NONCE_KEPT_MS,
    ...(usedMax === undefined ? {} : { usedMax }),
  });
}

export interface StreamTokensOptions {
  /** At least 32 characters; the token key is derived from it. */
  readonly secret: string;
  readonly clock: Clock;
  readonly usedMax?: number;
}

/**
 * One-time tokens that connect a webhook's answer to its media stream. A token is valid for one minute, for one stream,
 * in this process. It contains only hexadecimal digits, since some vendors alter other characters.
 */
export class StreamTokens implements StreamTokenRegistry {
  readonly #key: Buffer;
  readonly #clock: Clock;
  readonly #used: UsedNonces;

  constructor({ secret, clock, usedMax }: StreamTokensOptions) {
    if (secret.length < SECRET_LENGTH_MIN) {
      throw new Error(`the signing secret must have at least ${SECRET_LENGTH_MIN} characters`);
    }
    this.#key = Buffer.from(hkdfSync("sha256", secret, "", KEY_LABEL, KEY_BYTES));
    this.#clock = clock;
    this.#used = usedStreamNonces(clock, usedMax);
  }

  get usedCount(): number {
    return this.#used.count;
  }

  /** Throws a RangeError for a claim longer than CLAIM_LENGTH_MAX or not plain ASCII; no real id is like that. */
  mint(claims: StreamClaims): string {
    const { vendor, orgId, agentId, callerRef, callKey, attempt, failedTransfers = 0 } = claims;
    const { dialsTransfers = false, ownAccount = false } = claims;
    for (const claim of [vendor, orgId, agentId, callerRef, callKey]) {
      if (claim.length > CLAIM_LENGTH_MAX || !/^[\x20-\x7e]*$/.test(claim)) {
        throw new RangeError(
          `an id in a stream token has at most ${CLAIM_LENGTH_MAX} plain characters`,
        );
      }
    }
    const expiresMs = this.#clock.epochMs() + STREAM_TOKEN_LIFETIME_MS;
    const nonce = randomBytes(NONCE_BYTES).toString("base64url");
    const write = (own: (id: string) => string) => {
      const ids = [vendor, own(orgId), own(agentId), callerRef, own(callKey)];
      const rest = [attempt, expiresMs, nonce];
      // Omitted if they have default values, so that an earlier release can read the token.
      const newer = [failedTransfers, dialsTransfers, ownAccount];
      while (newer.length > 0 && !newer.at(-1)) newer.pop();
      const all = [...ids, ...rest, ...newer];
      const content = Buffer.from(JSON.stringify(all));
      return content.toString("hex") + this.#sign(content).toString("hex");
    };
    const plain = write((id) => id);
    const token = plain.length <= PLAIN_TOKEN_LENGTH_MAX ? plain : write(packed);
    if (token.length > STREAM_TOKEN_LENGTH_MAX) {
      throw new RangeError("the ids together are too long for a stream token");
    }
    return token;
  }

  /**
   * Marks the token as used. A refused token stays unused: another party's wrong guess must not cost the caller the
   * call.
   */
  redeem(token: string, presented: StreamPresented = {}): Redeemed {
    const read = this.read(token, presented);
    if (read.refusal !== undefined) return read;
    const refusal = this.#used.use(read.nonce);
    return refusal === undefined ? { claims: read.claims } : { refusal };
  }

  /** Reads the token, whether or not it was used. */
  read(token: string, presented: StreamPresented = {}): ReadToken {
    if (token.length > STREAM_TOKEN_LENGTH_MAX || token.length <= SIGNATURE_HEX) {
      return { refusal: "malformed" };
    }
    if (!FORMAT.test(token)) return { refusal: "malformed" };
    const content = Buffer.from(token.slice(0, -SIGNATURE_HEX), "hex");
    const signature = Buffer.from(token.slice(-SIGNATURE_HEX), "hex");
    if (!timingSafeEqual(signature, this.#sign(content))) return { refusal: "forged" };
    const ids = v.parse(Content, JSON.parse(content.toString("utf8")));
    const [vendor, , , callerRef, , attempt, expiresMs, nonce] = ids;
    const [orgId, agentId, callKey] = [unpacked(ids[1]), unpacked(ids[2]), unpacked(ids[4])];
    const failedTransfers = ids[8];
    const leftMs = expiresMs - this.#clock.epochMs();
    if (leftMs <= 0) return { refusal: "expired" };
    if (leftMs > STREAM_TOKEN_LIFETIME_MS + CLOCK_SKEW_MAX_MS) return { refusal: "fromTheFuture" };
    if ((presented.vendor ?? vendor) !== vendor) return { refusal: "otherVendor" };
    if ((presented.agentId ?? agentId) !== agentId) return { refusal: "otherAgent" };
    // A token of a webhook without a call id is bound to no call, so the stream may name any.
    const isBound = callerRef !== "" && presented.callerRef !== undefined;
    if (isBound && presented.callerRef !== callerRef) return { refusal: "otherCall" };
    const claims = {
      vendor,
      orgId,
      agentId,
      callerRef,
      callKey,
      attempt,
      ...(failedTransfers !== 0 && { failedTransfers }),
      ...(ids[9] && { dialsTransfers: true }),
      ...(ids[10] && { ownAccount: true }),
    };
    return { claims, nonce };
  }

  #sign(content: Uint8Array): Buffer {
    return createHmac("sha256", this.#key).update(content).digest();
  }
}

/** Writes the UUID in one of our ids with 22 characters instead of 36. */
function packed(id: string): string {
  return id.replace(UUID, (uuid) => {
    return `~${Buffer.from(uuid.replaceAll("-", ""), "hex").toString("base64url")}`;
  });
}

function unpacked(id: string): string {
  return id.replace(PACKED_UUID, (_, base64: string) =>
    Buffer.from(base64, "base64url")
      .toString("hex")
      .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5"),
  );
}
