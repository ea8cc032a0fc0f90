/** What organizations have saved up, at most, for a time when their models are late more often. */
const SAVED_TOKENS_MAX = 50_000;
/** The organization whose model was asked first is forgotten first, with what it has saved. */
const ORGANIZATIONS_MAX = 10_000;

/** What the replies of one organization may cost on top, because two models are asked. */
export interface HedgeAllowance {
  /** These tokens were paid for without any hedging; a share of them may be spent. */
  used(tokens: number): void;
  /** False when there is not enough left: then nobody else is asked. */
  spend(tokens: number): boolean;
}

/**
 * What may be spent, in all calls of the process, on asking another one too: at no time more than
 * `share` of the tokens that the organization's hedged agents have used.
 */
export class Hedging {
  readonly #share: number;
  readonly #saved = new Map<string, number>();

  /** `share` is from 0 (nobody is asked ahead) to 1. */
  constructor(share: number) {
    this.#share = share;
  }

  /** For the calls of one organization. */
  of(orgId: string): HedgeAllowance {
    return {
      used: (tokens) => this.#save(orgId, this.#savedBy(orgId) + tokens * this.#share),
      spend: (tokens) => {
        const left = this.#savedBy(orgId) - tokens;
        if (left < 0 || this.#share === 0) return false;
        this.#save(orgId, left);
        return true;
      },
    };
  }

  #savedBy(orgId: string): number {
    return this.#saved.get(orgId) ?? 0;
  }

  #save(orgId: string, tokens: number): void {
    const [first] = this.#saved.keys();
    const isNew = !this.#saved.has(orgId);
    if (isNew && this.#saved.size >= ORGANIZATIONS_MAX && first !== undefined) {
      this.#saved.delete(first);
    }
    this.#saved.set(orgId, Math.min(SAVED_TOKENS_MAX, tokens));
  }
}
