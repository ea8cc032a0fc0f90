import { createHash, createHmac, generateKeyPairSync, randomUUID, sign } from "node:crypto";
import webhooks from "twilio/lib/webhooks/webhooks.js";

/** Every vendor with a shared secret has this one. */
export const KEY = "what the vendor signs with";

const FORM = new URLSearchParams({ CallSid: "CA1", CallUUID: "c1", From: "+15550001111" });
const JSON_BODY = JSON.stringify({ call_sid: "c1", uuid: "u1", from: "15550001111" });
const telnyx = generateKeyPairSync("ed25519");
const TELNYX_PUBLIC_KEY = telnyx.publicKey
  .export({ format: "der", type: "spki" })
  .subarray(-32)
  .toString("base64");

/** What a vendor adds to its request. */
export type SignedHeaders = Readonly<Record<string, string>>;

export interface Signer {
  readonly body: string;
  /** `atSec`: when it says that it was signed, in seconds since 1970. */
  readonly sign: (url: string, body: string, atSec?: number) => SignedHeaders;
  /** Whether the signature holds its time, so that an old one is known. */
  readonly isDated: boolean;
}

const now = () => Math.floor(Date.now() / 1_000);
const base64url = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");

const twilioSignature = (url: string, body: string) =>
  webhooks.getExpectedTwilioSignature(KEY, url, Object.fromEntries(new URLSearchParams(body)));

/** As each vendor's documentation says, apart from the code under test. */
export const SIGNERS: Readonly<Record<string, Signer>> = {
  twilio: {
    isDated: false,
    body: FORM.toString(),
    sign: (url, body) => ({ "x-twilio-signature": twilioSignature(url, body) }),
  },
  signalwire: {
    isDated: false,
    body: FORM.toString(),
    sign: (url, body) => ({ "x-signalwire-signature": twilioSignature(url, body) }),
  },
  plivo: {
    isDated: false,
    body: FORM.toString(),
    sign: (url, body) => {
      const query = [...new URL(url).searchParams].map((pair) => pair.join("=")).sort();
      const fields = [...new URLSearchParams(body)].map((pair) => pair.join("")).sort();
      const nonce = randomUUID();
      const text = `${url.split("?")[0]}?${query.join("&")}.${fields.join("")}.${nonce}`;
      return {
        "x-plivo-signature-v3": createHmac("sha256", KEY).update(text).digest("base64"),
        "x-plivo-signature-v3-nonce": nonce,
      };
    },
  },
  telnyx: {
    isDated: true,
    body: FORM.toString(),
    sign: (_url, body, atSec = now()) => {
      const timestamp = String(atSec);
      const signature = sign(null, Buffer.from(`${timestamp}|${body}`), telnyx.privateKey);
      return {
        "telnyx-timestamp": timestamp,
        "telnyx-signature-ed25519": signature.toString("base64"),
      };
    },
  },
  vonage: {
    isDated: true,
    body: JSON_BODY,
    sign: (_url, body, atSec = now()) => {
      const payload_hash = createHash("sha256").update(body).digest("hex");
      const claims = base64url({ iat: atSec, payload_hash });
      const signed = `${base64url({ alg: "HS256" })}.${claims}`;
      const signature = createHmac("sha256", KEY).update(signed).digest("base64url");
      return { authorization: `Bearer ${signed}.${signature}` };
    },
  },
  jambonz: {
    isDated: true,
    body: JSON_BODY,
    sign: (_url, body, atSec = now()) => {
      const timestamp = String(atSec);
      const digest = createHmac("sha256", KEY).update(`${timestamp}.${body}`).digest("hex");
      return { "jambonz-signature": `t=${timestamp},v1=${digest}` };
    },
  },
};

/** What a server is told so that it knows who has signed. */
export const SIGNING_KEYS = {
  TWILIO_AUTH_TOKEN: KEY,
  SIGNALWIRE_SIGNING_KEY: KEY,
  PLIVO_AUTH_TOKEN: KEY,
  TELNYX_PUBLIC_KEY,
  VONAGE_SIGNATURE_SECRET: KEY,
  JAMBONZ_WEBHOOK_SECRET: KEY,
};
