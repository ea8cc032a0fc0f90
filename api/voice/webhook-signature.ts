import type { WebhookKeys } from "../../engine/calls/telephony-settings.js";
import { Failure } from "../../engine/failure.js";
import { isJambonzSignature } from "../../engine/security/jambonz-signature.js";
import { isPlivoSignature } from "../../engine/security/plivo-signature.js";
import { isTelnyxSignature } from "../../engine/security/telnyx-signature.js";
import { isTwilioSignature } from "../../engine/security/twilio-signature.js";
import { isVonageSignature } from "../../engine/security/vonage-signature.js";
import type { Clock } from "../../engine/time/clock.js";
import type { IncomingRequest } from "../http/endpoint.js";

export interface SignatureOptions {
  readonly publicBaseUrl: string | undefined;
  /** Of the vendors that have one here, a signature is demanded. */
  readonly webhookKeys: WebhookKeys;
  readonly clock: Clock;
}

interface SignedWebhook {
  /** As the vendor knows it, with its query. */
  readonly url: string;
  readonly body: Buffer;
  readonly nowMs: number;
  readonly header: (name: string) => string;
}

interface Scheme {
  /** How the vendor's documentation writes it. */
  readonly header: string;
  readonly check: (key: string, webhook: SignedWebhook) => boolean | Promise<boolean>;
}

const SCHEMES: Readonly<Record<keyof WebhookKeys, Scheme>> = {
  twilio: {
    header: "X-Twilio-Signature",
    check: (key, { url, body, header }) => {
      const signature = header("x-twilio-signature");
      return isTwilioSignature(key, { url, fields: formOf(body), signature });
    },
  },
  signalwire: {
    header: "X-SignalWire-Signature",
    check: (key, { url, body, header }) => {
      const signature = header("x-signalwire-signature") || header("x-twilio-signature");
      return isTwilioSignature(key, { url, fields: formOf(body), signature });
    },
  },
  plivo: {
    header: "X-Plivo-Signature-V3",
    check: (key, { url, body, header }) => {
      const nonce = header("x-plivo-signature-v3-nonce");
      const ours = header("x-plivo-signature-v3");
      const signatures = `${ours},${header("x-plivo-signature-ma-v3")}`;
      return isPlivoSignature(key, { url, fields: formOf(body), nonce, signatures });
    },
  },
  telnyx: {
    header: "telnyx-signature-ed25519",
    check: (key, { body, nowMs, header }) => {
      const timestamp = header("telnyx-timestamp");
      const signature = header("telnyx-signature-ed25519");
      return isTelnyxSignature(key, { body, timestamp, signature, nowMs });
    },
  },
  vonage: {
    header: "Authorization",
    check: (key, { body, nowMs, header }) =>
      isVonageSignature(key, { body, authorization: header("authorization"), nowMs }),
  },
  jambonz: {
    header: "Jambonz-Signature",
    check: (key, { body, nowMs, header }) =>
      isJambonzSignature(key, { body, signature: header("jambonz-signature"), nowMs }),
  },
};

/** What an endpoint has to keep of a request, so that its signature can be checked. */
export const SIGNATURE_HEADERS: readonly string[] = [
  "host",
  "authorization",
  "x-twilio-signature",
  "x-signalwire-signature",
  "x-plivo-signature-v3",
  "x-plivo-signature-ma-v3",
  "x-plivo-signature-v3-nonce",
  "telnyx-signature-ed25519",
  "telnyx-timestamp",
  "jambonz-signature",
];

/** Rejects with a Failure when the vendor did not sign this. The endpoint keeps SIGNATURE_HEADERS. */
export async function demandSignature(
  vendor: string,
  request: IncomingRequest,
  path: string,
  body: Buffer,
  { publicBaseUrl, webhookKeys, clock }: SignatureOptions,
): Promise<void> {
  if (!isSigner(vendor)) return;
  const key = webhookKeys[vendor];
  if (key === undefined) return;
  const base = (publicBaseUrl ?? `https://${request.header("host")}`).replace(/\/$/, "");
  const webhook: SignedWebhook = {
    url: `${base}${path}${request.queryString === "" ? "" : `?${request.queryString}`}`,
    body,
    nowMs: clock.epochMs(),
    header: (name) => request.header(name),
  };
  const { header, check } = SCHEMES[vendor];
  if (await check(key, webhook)) return;
  throw new Failure("forbidden", `${header} does not fit the request`);
}

function isSigner(vendor: string): vendor is keyof WebhookKeys {
  return Object.hasOwn(SCHEMES, vendor);
}

function formOf(body: Buffer): URLSearchParams {
  return new URLSearchParams(body.toString("utf8"));
}
