import { createHmac } from "node:crypto";

/** The prefix of every secret of Standard Webhooks; base64 follows it. */
export const WEBHOOK_SECRET_PREFIX = "whsec_";

/** The header `webhook-signature` of Standard Webhooks: one signature for each secret. */
export function webhookSignature(
  secrets: readonly { readonly secret: string }[],
  { id, timestampSec, body }: { id: string; timestampSec: number; body: string },
): string {
  return secrets
    .map(({ secret }) => {
      const key = Buffer.from(secret.slice(WEBHOOK_SECRET_PREFIX.length), "base64");
      const signed = createHmac("sha256", key).update(`${id}.${timestampSec}.${body}`);
      return `v1,${signed.digest("base64")}`;
    })
    .join(" ");
}
