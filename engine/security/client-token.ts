import { randomBytes } from "node:crypto";
import * as v from "valibot";
import type { Clock } from "../time/clock.js";
import { SignedText } from "./signed-text.js";

/** What a page with the token may do. */
export interface ClientClaims {
  readonly orgId: string;
  readonly agentId: string;
  /** Undefined: limited only by the agent and the plan. */
  readonly callMaxSec: number | undefined;
  /** Undefined: any page, and programs that send no origin. */
  readonly origin: string | undefined;
  /** Replace `{{name}}` in the agent's texts. */
  readonly variables: Readonly<Record<string, string>>;
  /** Replace the agent's own texts, voice and language in its calls. */
  readonly overrides?: Readonly<Record<string, string>> | undefined;
  /** The API key or user that created the token; the token ends with it. */
  readonly apiKeyId?: string | undefined;
  readonly userId?: string | undefined;
}

/** `expiresAtMs`: milliseconds since 1970 (UTC). */
export interface IssuedToken {
  readonly token: string;
  readonly expiresAtMs: number;
}

export interface ClientToken extends ClientClaims {
  /** Unique for each token. */
  readonly nonce: string;
  readonly expiresAtMs: number;
}

export type ClientTokenRefusal = "wrong" | "expired";

const KEY_LABEL = "parley: client token, version 1";
const NONCE_BYTES = 12;
/** A URL with the token has to pass every proxy, and uWebSockets.js accepts 4 KiB of headers. */
export const CLIENT_TOKEN_CHARACTERS_MAX = 2_048;

const Content = v.object({
  orgId: v.string(),
  agentId: v.string(),
  callMaxSec: v.optional(v.number()),
  origin: v.optional(v.string()),
  variables: v.optional(v.record(v.string(), v.string()), {}),
  overrides: v.optional(v.record(v.string(), v.string())),
  apiKeyId: v.optional(v.string()),
  userId: v.optional(v.string()),
  nonce: v.string(),
  expiresAtMs: v.number(),
});

/** Short-lived tokens that pages use instead of an API key, for calls with one agent. */
export class ClientTokens {
  readonly #text: SignedText;
  readonly #clock: Clock;

  constructor({ secret, clock }: { readonly secret: string; readonly clock: Clock }) {
    this.#text = new SignedText(secret, KEY_LABEL, CLIENT_TOKEN_CHARACTERS_MAX);
    this.#clock = clock;
  }

  /** Returns undefined if the claims are too long for a URL. */
  issue(claims: ClientClaims, ttlSec: number): IssuedToken | undefined {
    const expiresAtMs = this.#clock.epochMs() + ttlSec * 1_000;
    const nonce = randomBytes(NONCE_BYTES).toString("base64url");
    const token = this.#text.sign({ ...claims, nonce, expiresAtMs });
    return token.length > CLIENT_TOKEN_CHARACTERS_MAX ? undefined : { token, expiresAtMs };
  }

  read(token: string): ClientToken | ClientTokenRefusal {
    const content = this.#text.read(token);
    if (content === undefined) return "wrong";
    const { callMaxSec, origin, ...others } = v.parse(Content, content);
    if (others.expiresAtMs <= this.#clock.epochMs()) return "expired";
    return { callMaxSec, origin, ...others };
  }
}
