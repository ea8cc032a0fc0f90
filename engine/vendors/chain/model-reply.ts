import type { CancelTimer } from "../../time/clock.js";
import { promptCharsOf } from "../chat-completions/chat-messages.js";
import { estimateTokens } from "../chat-completions/token-estimate.js";
import {
  type Completion,
  type CompletionRequest,
  type LanguageModel,
  VendorError,
} from "../contracts.js";
import type { AnswerTimes } from "./answer-times.js";
import { type Chain, worstOf } from "./chain.js";
import type { HedgeAllowance } from "./hedging.js";
import { ModelAttempt, type ModelLink, type ReplySoFar } from "./model-attempt.js";
import { Patience } from "./patience.js";

interface AskedReply {
  readonly request: CompletionRequest;
  readonly onToken: (text: string) => void;
  readonly signal: AbortSignal;
}

export interface ModelPatience {
  /** A language model may take so long to its first word, at most. */
  readonly firstTokenMs: number;
  /** And so long from one to the next. */
  readonly tokenGapMs: number;
}

export interface ModelTerms {
  readonly patience: ModelPatience;
  /** Where it is kept how long the models take. */
  readonly times: AnswerTimes;
  /** Left out where nobody else is to be asked when the first is late. */
  readonly allowance?: HedgeAllowance | undefined;
}

const NOTHING_TO_CANCEL: CancelTimer = () => undefined;

/** One reply, whichever of the chain's models says it. */
export class ModelReply {
  readonly #chain: Chain<LanguageModel>;
  readonly #terms: ModelTerms;
  readonly #reply: ReplySoFar;
  readonly #signal: AbortSignal;
  /** Who has not been asked yet; behind them who was only late. */
  readonly #waiting: ModelLink[];
  /** Who was asked although the current one had not failed; once in a reply. */
  #ahead: ModelAttempt | undefined;
  #current: ModelAttempt | undefined;
  #hasHedged = false;
  #cancelHedge = NOTHING_TO_CANCEL;

  constructor(
    chain: Chain<LanguageModel>,
    terms: ModelTerms,
    { request, onToken, signal }: AskedReply,
  ) {
    this.#chain = chain;
    this.#terms = terms;
    this.#reply = { request, onToken, text: "", wastedTokens: 0 };
    this.#signal = signal;
    this.#waiting = [...chain.candidates()];
  }

  async complete(): Promise<Completion> {
    const failures: VendorError[] = [];
    for (let attempt = this.#next(); attempt !== undefined; attempt = this.#next()) {
      this.#current = attempt;
      this.#hedge(attempt);
      try {
        const completion = await attempt.completion;
        this.#chain.answered(attempt.link);
        return this.#billed(completion);
      } catch (cause) {
        if (this.#signal.aborted) {
          this.#leave(attempt);
          if (this.#ahead !== undefined) this.#leave(this.#ahead);
          throw attempt.faultOf(cause);
        }
        if (attempt.isOutpaced) this.#waiting.push(attempt.link);
        else failures.push(this.#failed(attempt, cause));
      } finally {
        this.#cancelHedge();
        attempt.patience.end();
      }
    }
    throw worstOf(failures);
  }

  /** Who was asked ahead goes on; the last one is waited for as if it were alone. */
  #next(): ModelAttempt | undefined {
    const ahead = this.#ahead;
    this.#ahead = undefined;
    if (ahead !== undefined) {
      if (this.#waiting.length === 0) ahead.patience.lift();
      return ahead;
    }
    const link = this.#waiting.shift();
    if (link === undefined) return undefined;
    return this.#begin(link, this.#firstTokenLimitMs(link));
  }

  /** The last one has none. Who has nobody behind it that is thought to work, or no hurry, has all the time that is set. */
  #firstTokenLimitMs(link: ModelLink): number | undefined {
    if (this.#waiting.length === 0) return undefined;
    const { patience, times } = this.#terms;
    const isHurried = this.#reply.request.unhurried !== true;
    if (!isHurried || this.#standIn() === undefined) return patience.firstTokenMs;
    return times.givenUpAfterMs(link, patience.firstTokenMs, this.#promptTokens());
  }

  #begin(link: ModelLink, limitMs: number | undefined): ModelAttempt {
    const outpaced = new AbortController();
    const mayHedge = this.#terms.allowance !== undefined && !this.#chain.isSingle;
    const signal = mayHedge ? AbortSignal.any([this.#signal, outpaced.signal]) : this.#signal;
    return new ModelAttempt({
      link,
      reply: this.#reply,
      patience: new Patience(this.#chain.clock, limitMs, signal),
      tokenGapMs: this.#terms.patience.tokenGapMs,
      outpaced,
      mayBeEmpty: this.#chain.isSingle,
      onBegun: (attempt) => this.#begun(attempt),
    });
  }

  /** Has the next one asked too, if this one is later with its first word than it usually is. */
  #hedge(first: ModelAttempt): void {
    const { times, allowance } = this.#terms;
    const { request } = this.#reply;
    const isLate = first.isFromStart && !first.hasBegun && request.unhurried !== true;
    if (allowance === undefined || !isLate || this.#hasHedged) return;
    if (this.#standIn() === undefined) return;
    const lateAfterMs = times.lateAfterMs(first.link, this.#promptTokens());
    if (lateAfterMs === undefined) return;
    const askAhead = () => this.#askAhead(first, allowance);
    this.#cancelHedge = this.#chain.clock.after(lateAfterMs, askAhead);
  }

  #askAhead(first: ModelAttempt, allowance: HedgeAllowance): void {
    const link = this.#standIn();
    if (link === undefined || first.failure !== undefined) return;
    this.#hasHedged = true;
    if (!allowance.spend(this.#promptTokens())) return this.#chain.hedged("withheld", 0);
    this.#chain.hedged("asked", 0);
    this.#waiting.shift();
    const { firstTokenMs } = this.#terms.patience;
    // Nothing would be won by leaving the first any more: who stands in for it is asked already.
    first.patience.allow(firstTokenMs);
    this.#ahead = this.#begin(link, firstTokenMs);
  }

  /** Nobody is asked ahead who would not be asked at once in the place of the first. */
  #standIn(): ModelLink | undefined {
    const [link] = this.#waiting;
    return link !== undefined && this.#chain.trusts(link) ? link : undefined;
  }

  #begun(attempt: ModelAttempt): void {
    this.#cancelHedge();
    const { times } = this.#terms;
    const tokens = this.#promptTokens();
    if (attempt.isFromStart) times.took(attempt.link, attempt.patience.passedMs, tokens);
    const [first, ahead] = [this.#current, this.#ahead];
    if (ahead === undefined || first === undefined) return;
    const late = attempt === ahead ? first : ahead;
    if (late.failure !== undefined) return;
    late.outpace();
    // At least so long: left out, the others would make a slow model look quick.
    times.took(late.link, late.patience.passedMs, tokens);
    late.link.breaker.abandoned();
    this.#reply.wastedTokens += tokens;
    this.#chain.hedged(attempt === ahead ? "won" : "lost", tokens);
  }

  #billed(completion: Completion): Completion {
    const { promptTokens, completionTokens } = completion;
    this.#terms.allowance?.used(promptTokens + completionTokens);
    const ahead = this.#ahead;
    // It broke off while the first one was still waited for.
    if (ahead?.failure !== undefined && !ahead.isOutpaced) {
      this.#failed(ahead, ahead.failure.cause);
    }
    return { ...completion, promptTokens: promptTokens + this.#reply.wastedTokens };
  }

  #failed(attempt: ModelAttempt, cause: unknown): VendorError {
    const { link, patience } = attempt;
    const error = attempt.faultOf(cause);
    const promptTokens = this.#promptTokens();
    const tokens = isPaid(error) ? promptTokens : 0;
    this.#reply.wastedTokens += tokens;
    const isLate = attempt.isFromStart && !attempt.hasBegun && patience.isOver;
    if (isLate) this.#terms.times.took(link, patience.passedMs, promptTokens);
    this.#chain.failed(link, error, { ms: Math.round(patience.passedMs), tokens });
    return error;
  }

  /** Nobody waits any more. Who was quiet for too long by then is not asked first again. */
  #leave(attempt: ModelAttempt): void {
    const { link, patience } = attempt;
    if (attempt.isOutpaced) return;
    const { firstTokenMs, tokenGapMs } = this.#terms.patience;
    if (patience.quietMs < (attempt.hasBegun ? tokenGapMs : firstTokenMs))
      return link.breaker.abandoned();
    const error = new VendorError(link.vendor, "timeout", `${link.vendor}: gave nothing`);
    this.#chain.failed(link, error, { ms: Math.round(patience.passedMs), tokens: 0 });
  }

  #promptTokens(): number {
    return estimateTokens(promptCharsOf(this.#reply.request));
  }
}

/** A request that was taken is billed, whatever becomes of its answer. */
function isPaid({ fault }: VendorError): boolean {
  return fault === "timeout" || fault === "disconnected" || fault === "badAnswer";
}
