import { randomBytes } from "node:crypto";
import * as v from "valibot";
import type { CredentialCipher } from "../security/credential-cipher.js";
import { WEBHOOK_SECRET_PREFIX } from "../security/standard-webhooks.js";

/** Standard Webhooks takes 24 to 64. */
const SECRET_BYTES = 32;

/** A secret that signs; an old one does so until it expires. */
export interface WebhookSecret {
  readonly secret: string;
  /** null: until it is replaced. */
  readonly expiresAtMs: number | null;
}

const Sealed = v.object({
  secrets: v.array(v.object({ secret: v.string(), expiresAtMs: v.nullable(v.number()) })),
});

export function newWebhookSecret(): string {
  return `${WEBHOOK_SECRET_PREFIX}${randomBytes(SECRET_BYTES).toString("base64")}`;
}

export function sealSecrets(secrets: readonly WebhookSecret[], cipher: CredentialCipher): string {
  return cipher.seal({ secrets });
}

/** Those that sign now, the newest first. Throws when none of the keys opens them. */
export function openSecrets(
  sealed: string,
  cipher: CredentialCipher,
  nowMs: number,
): readonly WebhookSecret[] {
  return v
    .parse(Sealed, cipher.open(sealed))
    .secrets.filter(({ expiresAtMs }) => expiresAtMs === null || expiresAtMs > nowMs);
}
