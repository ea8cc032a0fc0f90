import type { Completion, CompletionRequest, LanguageModel } from "../contracts.js";
import type { Chain } from "./chain.js";
import { ModelReply, type ModelTerms } from "./model-reply.js";

/**
 * Language models one behind the other. Who gives nothing for too long, before its first word or between two, is left, as is
 * who fails; the next one goes on behind the words that are given out. Nobody is left for want of anybody else. Where there
 * is an allowance, the next one is asked too when the first is later than usual, and who begins first goes on alone.
 */
export class ChainedModel implements LanguageModel {
  readonly #chain: Chain<LanguageModel>;
  readonly #terms: ModelTerms;

  constructor(chain: Chain<LanguageModel>, terms: ModelTerms) {
    this.#chain = chain;
    this.#terms = terms;
  }

  /** Each vendor is asked for the model of its own: that of the request counts for nothing. */
  complete(
    request: CompletionRequest,
    onToken: (text: string) => void,
    signal: AbortSignal,
  ): Promise<Completion> {
    return new ModelReply(this.#chain, this.#terms, { request, onToken, signal }).complete();
  }

  warm(): void {
    this.#chain.next.client.warm();
  }
}
