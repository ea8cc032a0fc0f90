import type { WebhookIdentity } from "./answered-webhooks.js";

/** A webhook as it came, for whoever checks its signature. */
export interface SignedWebhook {
  /** As the vendor knows it, with its query. */
  readonly url: string;
  readonly body: Buffer;
  readonly nowMs: number;
  /** The value of a header by its lower-case name; empty when it was not sent. */
  readonly header: (name: string) => string;
}

export interface SignatureScheme {
  /** The header that carries the signature, as the vendor's documentation writes it. */
  readonly header: string;
  /** The headers that `check` reads, in lower case. */
  readonly headerNames: readonly string[];
  /** Whether the signature covers the address's query; if not, the query cannot be trusted. */
  readonly signsQuery: boolean;
  /** Tells a webhook from all others; only asked once `check` has found it signed. */
  readonly identity: (webhook: SignedWebhook) => WebhookIdentity;
  /** Whether the vendor signed this with `key`; never rejects because of what was sent. */
  readonly check: (key: string, webhook: SignedWebhook) => boolean | Promise<boolean>;
}

/** The fields of a form body. */
export function formOf(body: Buffer): URLSearchParams {
  return new URLSearchParams(body.toString("utf8"));
}
