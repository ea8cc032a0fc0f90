import { createHmac, timingSafeEqual } from "node:crypto";
import { isRecent } from "../webhook-age.js";

export interface JambonzSignedRequest {
  readonly body: Uint8Array;
  /** The header `Jambonz-Signature`: `t=<seconds>,v1=<hex>`, with one or more of the second. */
  readonly signature: string;
  readonly nowMs: number;
}

const PARTS_MAX = 8;
const DIGEST = /^[0-9a-f]{64}$/;

/** Whether the account's webhook secret signed time and body: HMAC-SHA256 over `<seconds>.<body>`. */
export function isJambonzSignature(secret: string, request: JambonzSignedRequest): boolean {
  const timestamp = jambonzTimestamp(request.signature);
  if (!isRecent(timestamp, request.nowMs)) return false;
  const expected = createHmac("sha256", secret)
    .update(`${timestamp}.`)
    .update(request.body)
    .digest();
  return valuesIn(request.signature, "v1").some(
    (digest) => DIGEST.test(digest) && timingSafeEqual(Buffer.from(digest, "hex"), expected),
  );
}

/** The seconds of the header that are signed. */
export function jambonzTimestamp(signature: string): string {
  return valuesIn(signature, "t")[0] ?? "";
}

function valuesIn(signature: string, name: string): readonly string[] {
  const parts = signature.split(",").slice(0, PARTS_MAX);
  return parts.flatMap((part) =>
    part.startsWith(`${name}=`) ? [part.slice(name.length + 1)] : [],
  );
}
