import { createPublicKey, type KeyObject, verify } from "node:crypto";
import { isRecent } from "../webhook-age.js";

export interface TelnyxSignedRequest {
  readonly body: Uint8Array;
  /** The header `telnyx-timestamp`: seconds since 1970. */
  readonly timestamp: string;
  /** The header `telnyx-signature-ed25519`: base64. */
  readonly signature: string;
  readonly nowMs: number;
}

const SIGNATURE_BYTES = 64;
const KEY_BYTES = 32;
/** What stands before the 32 bytes of an Ed25519 key in DER (RFC 8410). */
const DER_HEAD = Buffer.from("302a300506032b6570032100", "hex");

/** Whether the vendor signed timestamp and body with the key whose public half this is: 32 bytes in base64. */
export function isTelnyxSignature(publicKey: string, request: TelnyxSignedRequest): boolean {
  const { body, timestamp, nowMs } = request;
  const signature = Buffer.from(request.signature, "base64");
  if (signature.length !== SIGNATURE_BYTES || !isRecent(timestamp, nowMs)) return false;
  const signed = Buffer.concat([Buffer.from(`${timestamp}|`), body]);
  return verify(null, signed, keyOf(publicKey), signature);
}

function keyOf(publicKey: string): KeyObject {
  const bytes = Buffer.from(publicKey, "base64");
  if (bytes.length !== KEY_BYTES) throw new RangeError("the public key must have 32 bytes");
  return createPublicKey({ key: Buffer.concat([DER_HEAD, bytes]), format: "der", type: "spki" });
}
