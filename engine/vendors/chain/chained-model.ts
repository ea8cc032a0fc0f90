import { promptCharsOf } from "../chat-completions/chat-messages.js";
import { estimateTokens } from "../chat-completions/token-estimate.js";
import {
  type Completion,
  type CompletionRequest,
  type LanguageModel,
  VendorError,
} from "../contracts.js";
import { asVendorError, type Chain, type ChainLink, worstOf } from "./chain.js";
import { Continuation, continued } from "./continuation.js";
import { Patience } from "./patience.js";

type ModelLink = ChainLink<LanguageModel>;

/** What one reply has come to so far, whoever has said it. */
interface ReplySoFar {
  text: string;
  /** Who is asked now has said something. */
  hasBegun: boolean;
  /** Tokens of requests that came to nothing; an estimate. */
  wastedTokens: number;
}

export interface ModelPatience {
  /** A language model may take so long to its first word. */
  readonly firstTokenMs: number;
  /** And so long from one to the next. */
  readonly tokenGapMs: number;
}

/**
 * Language models one behind the other. Who gives nothing for too long, before its first word or between two, is left, as is
 * who fails; the next one goes on behind the words that are given out. Nobody is left for want of anybody else.
 */
export class ChainedModel implements LanguageModel {
  readonly #chain: Chain<LanguageModel>;
  readonly #patience: ModelPatience;

  constructor(chain: Chain<LanguageModel>, patience: ModelPatience) {
    this.#chain = chain;
    this.#patience = patience;
  }

  /** Each vendor is asked for the model of its own: that of the request counts for nothing. */
  async complete(
    request: CompletionRequest,
    onToken: (text: string) => void,
    signal: AbortSignal,
  ): Promise<Completion> {
    const reply: ReplySoFar = { text: "", hasBegun: false, wastedTokens: 0 };
    const failures: VendorError[] = [];
    const links = this.#chain.candidates();
    for (const [index, link] of links.entries()) {
      const limitMs = index === links.length - 1 ? undefined : this.#patience.firstTokenMs;
      const patience = new Patience(this.#chain.clock, limitMs, signal);
      link.breaker.asked();
      reply.hasBegun = false;
      try {
        const completion = await this.#ask(link, request, reply, onToken, patience);
        this.#chain.answered(link);
        return completion;
      } catch (cause) {
        const error = this.#faultOf(link, cause, patience);
        if (signal.aborted) {
          this.#leave(link, reply, patience);
          throw error;
        }
        const tokens = isPaid(error) ? estimateTokens(promptCharsOf(request)) : 0;
        reply.wastedTokens += tokens;
        this.#chain.failed(link, error, { ms: Math.round(patience.passedMs), tokens });
        failures.push(error);
      } finally {
        patience.end();
      }
    }
    throw worstOf(failures);
  }

  warm(): void {
    this.#chain.next.client.warm();
  }

  async #ask(
    { vendor, modelId, client }: ModelLink,
    request: CompletionRequest,
    reply: ReplySoFar,
    onToken: (text: string) => void,
    patience: Patience,
  ): Promise<Completion> {
    const before = reply.text;
    const rest = before === "" ? undefined : new Continuation(before);
    const messages = rest === undefined ? request.messages : continued(request.messages, before);
    const give = (text: string) => {
      if (text === "") return;
      reply.text += text;
      onToken(text);
    };
    const goOn = () => {
      if (patience.signal.aborted) return;
      reply.hasBegun = true;
      patience.progress(this.#patience.tokenGapMs);
    };
    const take = (text: string) => {
      if (patience.signal.aborted) return;
      goOn();
      give(rest === undefined ? text : rest.take(text));
    };
    const completion = await client.complete(
      { ...request, modelId, messages, onToolUse: goOn },
      take,
      patience.signal,
    );
    give(rest?.end() ?? "");
    if (reply.text === "" && (completion.toolCalls ?? []).length === 0 && !this.#chain.isSingle) {
      throw new VendorError(vendor, "badAnswer", `${vendor}: an empty reply`);
    }
    const { promptTokens, completionTokens } = completion;
    return {
      ...completion,
      promptTokens: promptTokens + reply.wastedTokens,
      completionTokens: completionTokens + estimateTokens(before.length),
    };
  }

  #faultOf({ vendor }: ModelLink, cause: unknown, patience: Patience): VendorError {
    if (!patience.isOver) return asVendorError(vendor, cause);
    const message = `${vendor}: gave nothing for ${Math.round(patience.quietMs)} ms`;
    return new VendorError(vendor, "timeout", message, { cause });
  }

  /** Nobody waits any more. Who was quiet for too long by then is not asked first again. */
  #leave(link: ModelLink, { hasBegun }: ReplySoFar, patience: Patience): void {
    const { firstTokenMs, tokenGapMs } = this.#patience;
    const limitMs = hasBegun ? tokenGapMs : firstTokenMs;
    if (patience.quietMs < limitMs) return link.breaker.abandoned();
    const error = new VendorError(link.vendor, "timeout", `${link.vendor}: gave nothing`);
    this.#chain.failed(link, error, { ms: Math.round(patience.passedMs), tokens: 0 });
  }
}

/** A request that was taken is billed, whatever becomes of its answer. */
function isPaid({ fault }: VendorError): boolean {
  return fault === "timeout" || fault === "disconnected" || fault === "badAnswer";
}
