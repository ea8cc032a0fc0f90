import { estimateTokens } from "../chat-completions/token-estimate.js";
import {
  type Completion,
  type CompletionRequest,
  type LanguageModel,
  VendorError,
} from "../contracts.js";
import { asVendorError, type ChainLink } from "./chain.js";
import { Continuation, continued } from "./continuation.js";
import type { Patience } from "./patience.js";

export type ModelLink = ChainLink<LanguageModel>;

/** What one reply has come to so far, whoever has said it. */
export interface ReplySoFar {
  readonly request: CompletionRequest;
  readonly onToken: (text: string) => void;
  text: string;
  /** Tokens of requests that came to nothing; an estimate. */
  wastedTokens: number;
}

export interface AttemptParts {
  readonly link: ModelLink;
  readonly reply: ReplySoFar;
  readonly patience: Patience;
  /** It may take so long from one word to the next. */
  readonly tokenGapMs: number;
  /** Ends the attempt when another one has begun to speak. */
  readonly outpaced: AbortController;
  readonly mayBeEmpty: boolean;
  /** It says its first word, or begins to use a tool: from now on the reply is its own. */
  readonly onBegun: (attempt: ModelAttempt) => void;
}

/** One model asked for a reply, or for what is left of it. */
export class ModelAttempt {
  readonly link: ModelLink;
  readonly patience: Patience;
  /** Nothing of the reply had been said when it was asked. */
  readonly isFromStart: boolean;
  readonly completion: Promise<Completion>;
  readonly #parts: AttemptParts;
  #hasBegun = false;
  #failure: { readonly cause: unknown } | undefined;

  constructor(parts: AttemptParts) {
    this.#parts = parts;
    this.link = parts.link;
    this.patience = parts.patience;
    this.isFromStart = parts.reply.text === "";
    parts.link.breaker.asked();
    this.completion = this.#ask();
    // Who was asked ahead is looked at only when it is its turn.
    this.completion.catch((cause: unknown) => {
      this.#failure = { cause };
    });
  }

  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  get isOutpaced(): boolean {
    return this.#parts.outpaced.signal.aborted;
  }

  /** What it has failed with by now. */
  get failure(): { readonly cause: unknown } | undefined {
    return this.#failure;
  }

  outpace(): void {
    this.#parts.outpaced.abort();
  }

  faultOf(cause: unknown): VendorError {
    const { vendor } = this.link;
    if (!this.patience.isOver) return asVendorError(vendor, cause);
    const message = `${vendor}: gave nothing for ${Math.round(this.patience.quietMs)} ms`;
    return new VendorError(vendor, "timeout", message, { cause });
  }

  async #ask(): Promise<Completion> {
    const { reply, patience, mayBeEmpty } = this.#parts;
    const { vendor, modelId, client } = this.link;
    const { request } = reply;
    const before = reply.text;
    const rest = before === "" ? undefined : new Continuation(before);
    const messages = rest === undefined ? request.messages : continued(request.messages, before);
    const give = (text: string) => {
      if (text === "") return;
      reply.text += text;
      reply.onToken(text);
    };
    const take = (text: string) => {
      if (!this.#goesOn()) return;
      give(rest === undefined ? text : rest.take(text));
    };
    const completion = await client.complete(
      { ...request, modelId, messages, onToolUse: () => void this.#goesOn() },
      take,
      patience.signal,
    );
    give(rest?.end() ?? "");
    if (this.isOutpaced) throw new VendorError(vendor, "aborted", `${vendor}: was too late`);
    if (reply.text === "" && (completion.toolCalls ?? []).length === 0 && !mayBeEmpty) {
      throw new VendorError(vendor, "badAnswer", `${vendor}: an empty reply`);
    }
    this.#begin();
    const completionTokens = completion.completionTokens + estimateTokens(before.length);
    return { ...completion, completionTokens };
  }

  /** False when nobody waits for it any more. */
  #goesOn(): boolean {
    const { patience, tokenGapMs } = this.#parts;
    if (patience.signal.aborted) return false;
    this.#begin();
    patience.progress(tokenGapMs);
    return true;
  }

  #begin(): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    this.#parts.onBegun(this);
  }
}
