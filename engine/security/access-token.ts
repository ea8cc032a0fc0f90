import { createSecretKey, type KeyObject } from "node:crypto";
import { errors, jwtVerify, SignJWT } from "jose";
import { LRUCache } from "lru-cache";
import * as v from "valibot";
import type { Clock } from "../time/clock.js";

const ALGORITHM = "HS256";
const SECRET_LENGTH_MIN = 32;
const LIFETIME_FORMAT = /^([1-9]\d{0,5})([smhdw])$/;
const UNIT_SEC: ReadonlyMap<string, number> = new Map([
  ["s", 1],
  ["m", 60],
  ["h", 3_600],
  ["d", 86_400],
  ["w", 604_800],
]);

/** A user sends the same token for an hour, and checking its signature costs more than the rest of most requests. */
export const VERIFIED_TOKENS_MAX = 5_000;

const AccessClaims = v.object({
  userId: v.string(),
  orgId: v.string(),
  email: v.string(),
  /** Identifies the password at the time of signing; tokens signed by other programs have none. */
  passwordMark: v.optional(v.string()),
  /** Seconds since 1970. */
  iat: v.number(),
  exp: v.number(),
});
export type AccessClaims = Readonly<v.InferOutput<typeof AccessClaims>>;

export interface AccessTokensOptions {
  /** A secret of at least 32 characters. */
  readonly secret: string;
  /** Earlier secrets: tokens signed with them are valid until they expire; new tokens are never signed with them. */
  readonly oldSecrets?: readonly string[];
  /** A whole number and a unit: `45s`, `30m`, `1h`, `7d`, `2w`. */
  readonly expiresIn: string;
  readonly clock: Clock;
}

/** The dashboard's sign-in tokens: JWTs signed with HS256. */
export class AccessTokens {
  readonly #key: KeyObject;
  readonly #oldKeys: readonly KeyObject[];
  readonly #lifetimeSec: number;
  readonly #verified = new LRUCache<string, AccessClaims>({ max: VERIFIED_TOKENS_MAX });
  readonly #clock: Clock;

  constructor({ secret, oldSecrets = [], expiresIn, clock }: AccessTokensOptions) {
    this.#key = keyOf(secret);
    this.#oldKeys = oldSecrets.map(keyOf);
    this.#lifetimeSec = lifetimeSec(expiresIn);
    this.#clock = clock;
  }

  async issue(subject: Omit<AccessClaims, "iat" | "exp">): Promise<string> {
    const issuedAtSec = Math.floor(this.#clock.epochMs() / 1_000);
    const { userId, orgId, email, passwordMark } = subject;
    return new SignJWT({ userId, orgId, email, passwordMark })
      .setProtectedHeader({ alg: ALGORITHM, typ: "JWT" })
      .setIssuedAt(issuedAtSec)
      .setExpirationTime(issuedAtSec + this.#lifetimeSec)
      .sign(this.#key);
  }

  /** Returns the claims of a valid token; undefined for any other text. */
  async verify(token: string): Promise<AccessClaims | undefined> {
    const known = this.#verified.get(token);
    if (known !== undefined) return this.#hasExpired(known) ? undefined : known;
    try {
      const claims = v.safeParse(AccessClaims, await this.#payloadOf(token));
      if (!claims.success) return undefined;
      this.#verified.set(token, claims.output);
      return claims.output;
    } catch (error) {
      if (error instanceof errors.JOSEError) return undefined;
      throw error;
    }
  }

  /** As in the library, a token is no longer valid in the second of `exp`. */
  #hasExpired({ exp }: AccessClaims): boolean {
    return exp <= Math.floor(this.#clock.epochMs() / 1_000);
  }

  /** Tries older keys only after a wrong signature, since any other fault is the same under every key. */
  async #payloadOf(token: string): Promise<unknown> {
    const currentDate = new Date(this.#clock.epochMs());
    let refusal: unknown;
    for (const key of [this.#key, ...this.#oldKeys]) {
      try {
        return (await jwtVerify(token, key, { algorithms: [ALGORITHM], currentDate })).payload;
      } catch (error) {
        if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error;
        refusal = error;
      }
    }
    throw refusal;
  }
}

function keyOf(secret: string): KeyObject {
  if (secret.length < SECRET_LENGTH_MIN) {
    throw new Error(`a signing secret must have at least ${SECRET_LENGTH_MIN} characters`);
  }
  return createSecretKey(secret, "utf8");
}

function lifetimeSec(expiresIn: string): number {
  const [, count, unit = ""] = LIFETIME_FORMAT.exec(expiresIn) ?? [];
  const unitSec = UNIT_SEC.get(unit);
  if (unitSec === undefined) {
    throw new Error("a token lifetime is a whole number and a unit, for example 30m, 1h or 7d");
  }
  return Number(count) * unitSec;
}
