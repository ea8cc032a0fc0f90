import { jwtVerify } from "jose";
import * as v from "valibot";
import { bodyHash } from "../body-hash.js";
import { isRecent, WEBHOOK_AGE_MAX_MS } from "../webhook-age.js";

export interface VonageSignedRequest {
  readonly body: Uint8Array;
  /** The header `Authorization`: `Bearer <JWT>`. */
  readonly authorization: string;
  readonly nowMs: number;
}

const BEARER = /^Bearer ([\w-]+\.[\w-]+\.[\w-]+)$/i;
const CLOCK_SKEW_MAX_SEC = WEBHOOK_AGE_MAX_MS / 1_000;
const Claims = v.object({ iat: v.number(), payload_hash: v.optional(v.string()) });

/**
 * Whether the account's signature secret signed the token, and the token this body: one without a hash
 * fits an empty body only
 * (https://developer.vonage.com/en/getting-started/concepts/webhooks#decoding-signed-webhooks). Never rejects.
 */
export async function isVonageSignature(
  secret: string,
  { body, authorization, nowMs }: VonageSignedRequest,
): Promise<boolean> {
  const token = BEARER.exec(authorization)?.[1];
  if (token === undefined) return false;
  try {
    const { payload } = await jwtVerify(token, Buffer.from(secret), {
      algorithms: ["HS256"],
      currentDate: new Date(nowMs),
      clockTolerance: CLOCK_SKEW_MAX_SEC,
    });
    const { iat, payload_hash: hash } = v.parse(Claims, payload);
    // The library would add the tolerance to the age, and a replay is not known for so long.
    if (!isRecent(String(Math.floor(iat)), nowMs)) return false;
    return hash === undefined ? body.length === 0 : hash.toLowerCase() === bodyHash(body);
  } catch {
    return false;
  }
}
