import type {
  Redeemed,
  StreamClaims,
  StreamPresented,
  StreamTokenDesk,
  StreamTokens,
} from "../security/stream-token.js";
import type { OwnerLink } from "./box-questions.js";

/** Stream tokens of a session process: each is good for one stream of the box. */
export class BoxStreamTokens implements StreamTokenDesk {
  readonly #tokens: StreamTokens;
  readonly #owner: OwnerLink;

  constructor(tokens: StreamTokens, owner: OwnerLink) {
    this.#tokens = tokens;
    this.#owner = owner;
  }

  mint(claims: StreamClaims): string {
    return this.#tokens.mint(claims);
  }

  async redeem(token: string, presented: StreamPresented = {}): Promise<Redeemed> {
    const read = this.#tokens.read(token, presented);
    if (read.refusal !== undefined) return read;
    const refusal = await this.#owner.ask("useNonce", read.nonce);
    return refusal === undefined ? { claims: read.claims } : { refusal };
  }
}
