import { randomBytes } from "node:crypto";
import * as v from "valibot";
import type { Clock } from "../time/clock.js";
import { SignedText } from "./signed-text.js";

/** What a page may do that holds the token. */
export interface ClientClaims {
  readonly orgId: string;
  readonly agentId: string;
  /** Undefined: as long as the agent and the plan allow. */
  readonly callMaxSec: number | undefined;
  /** Undefined: a page of any origin, and a program that has none. */
  readonly origin: string | undefined;
  /** What the agent's texts have in place of `{{name}}`. */
  readonly variables: Readonly<Record<string, string>>;
  /** What its calls have in place of the agent's own texts, voice and language. */
  readonly overrides?: Readonly<Record<string, string>> | undefined;
  /** Who has made it: it ends with them. */
  readonly apiKeyId?: string | undefined;
  readonly userId?: string | undefined;
}

/** Milliseconds since 1970 (UTC). */
export interface IssuedToken {
  readonly token: string;
  readonly expiresAtMs: number;
}

export interface ClientToken extends ClientClaims {
  /** Names this token among all. */
  readonly nonce: string;
  readonly expiresAtMs: number;
}

export type ClientTokenRefusal = "wrong" | "expired";

const KEY_LABEL = "parley: client token, version 1";
const NONCE_BYTES = 12;
/** An address with it has to pass every proxy, and uWebSockets.js takes 4 KiB of headers. */
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

/** Tokens that take the place of an API key in a page: good for calls with one agent, and only for a while. */
export class ClientTokens {
  readonly #text: SignedText;
  readonly #clock: Clock;

  constructor({ secret, clock }: { readonly secret: string; readonly clock: Clock }) {
    this.#text = new SignedText(secret, KEY_LABEL, CLIENT_TOKEN_CHARACTERS_MAX);
    this.#clock = clock;
  }

  /** Undefined when the claims are too long for an address. */
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
