import * as v from "valibot";
import type { Clock } from "../time/clock.js";
import { derivedUuid } from "./derived-uuid.js";
import { SignedText } from "./signed-text.js";

/** A token of some ids and a time has fewer than 400 characters; a text above this limit is refused. */
const TOKEN_CHARACTERS_MAX = 1_024;

const Content = v.strictTuple([v.array(v.string()), v.number()]);

export interface SignedIdsOptions {
  /** The key is derived from the secret and the label, so that each label has its own key. */
  readonly secret: string;
  readonly label: string;
  readonly lifetimeMs: number;
  readonly clock: Clock;
}

/** Ids that another party returns to us in a URL: anyone can read them, but no one can change them. */
export class SignedIds {
  readonly #text: SignedText;
  readonly #clock: Clock;
  readonly #lifetimeMs: number;

  constructor({ secret, label, lifetimeMs, clock }: SignedIdsOptions) {
    this.#text = new SignedText(secret, label, TOKEN_CHARACTERS_MAX);
    this.#lifetimeMs = lifetimeMs;
    this.#clock = clock;
  }

  mint(ids: readonly string[]): string {
    return this.#text.sign([ids, this.#clock.epochMs() + this.#lifetimeMs]);
  }

  /** Returns undefined if the token is forged, malformed or expired. */
  verify(token: string): readonly string[] | undefined {
    const content = this.#text.read(token);
    if (content === undefined) return undefined;
    const [ids, expiresMs] = v.parse(Content, content);
    return expiresMs > this.#clock.epochMs() ? ids : undefined;
  }

  /** Derives a UUID from the ids; only this server can compute it, and the same ids give the same UUID. */
  uuidOf(ids: readonly string[]): string {
    return derivedUuid(this.#text.signature(JSON.stringify(ids)));
  }
}
