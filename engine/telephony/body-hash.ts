import { createHash } from "node:crypto";

/** SHA-256 of a webhook's body in lower-case hexadecimal, as vendors write it into what they sign. */
export function bodyHash(body: Uint8Array): string {
  return createHash("sha256").update(body).digest("hex");
}
