import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto";
import * as v from "valibot";
import type { Clock } from "../time/clock.js";

/** Which placed call a request of the telephony vendor is about. */
export interface OutboundClaims {
  readonly callId: string;
  readonly orgId: string;
  readonly agentId: string;
}

/** The last of a call's reports comes when it ends, and the vendor ends calls after four hours. */
export const OUTBOUND_TOKEN_LIFETIME_MS = 5 * 60 * 60 * 1_000;
/** Three ids and a moment have under 300; a longer one is not looked at. */
const TOKEN_CHARACTERS_MAX = 1_024;
const KEY_LABEL = "parley: outbound call token, version 1";
const KEY_BYTES = 32;

const Content = v.strictTuple([v.string(), v.string(), v.string(), v.number()]);

/**
 * Takes the place of an API key in the addresses that the vendor is given for a placed call. It is good for that call's
 * answer and reports alone.
 */
export class OutboundTokens {
  readonly #key: Buffer;
  readonly #clock: Clock;

  /** The key is derived from `secret` and is no key of anything else. */
  constructor({ secret, clock }: { readonly secret: string; readonly clock: Clock }) {
    this.#key = Buffer.from(hkdfSync("sha256", secret, "", KEY_LABEL, KEY_BYTES));
    this.#clock = clock;
  }

  mint({ callId, orgId, agentId }: OutboundClaims): string {
    const expiresMs = this.#clock.epochMs() + OUTBOUND_TOKEN_LIFETIME_MS;
    const content = Buffer.from(JSON.stringify([callId, orgId, agentId, expiresMs]));
    const text = content.toString("base64url");
    return `${text}.${this.#sign(text).toString("base64url")}`;
  }

  /** Undefined for a token that is forged, broken or expired. */
  verify(token: string): OutboundClaims | undefined {
    if (token.length > TOKEN_CHARACTERS_MAX) return undefined;
    const [text = "", signature = ""] = token.split(".");
    const given = Buffer.from(signature, "base64url");
    const expected = this.#sign(text);
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
    const json: unknown = JSON.parse(Buffer.from(text, "base64url").toString("utf8"));
    const [callId, orgId, agentId, expiresMs] = v.parse(Content, json);
    return expiresMs > this.#clock.epochMs() ? { callId, orgId, agentId } : undefined;
  }

  #sign(text: string): Buffer {
    return createHmac("sha256", this.#key).update(text).digest();
  }
}
