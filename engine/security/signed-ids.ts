import * as v from "valibot";
import type { Clock } from "../time/clock.js";
import { derivedUuid } from "./derived-uuid.js";
import { SignedText } from "./signed-text.js";

/** Some ids and a moment have under 400; a longer one is not looked at. */
const TOKEN_CHARACTERS_MAX = 1_024;

const Content = v.strictTuple([v.array(v.string()), v.number()]);

export interface SignedIdsOptions {
  /** The key is derived from it and the label, and is no key of anything else. */
  readonly secret: string;
  readonly label: string;
  readonly lifetimeMs: number;
  readonly clock: Clock;
}

/** Ids that another party carries for us in an address: anyone can read them, but no one can change them. */
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

  /** Undefined for a token that is forged, broken or expired. */
  verify(token: string): readonly string[] | undefined {
    const content = this.#text.read(token);
    if (content === undefined) return undefined;
    const [ids, expiresMs] = v.parse(Content, content);
    return expiresMs > this.#clock.epochMs() ? ids : undefined;
  }

  /** A UUID that only this server can tell from the ids, and always tells alike. */
  uuidOf(ids: readonly string[]): string {
    return derivedUuid(this.#text.signature(JSON.stringify(ids)));
  }
}
