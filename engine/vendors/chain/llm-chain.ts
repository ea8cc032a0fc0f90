import type { CancelTimer } from "../../time/clock.js";
import { promptCharsOf } from "../chat-completions/chat-messages.js";
import { estimateTokens } from "../chat-completions/token-estimate.js";
import {
  type ChatMessage,
  type Completion,
  type CompletionRequest,
  type LanguageModel,
  VendorError,
} from "../contracts.js";
import type { AnswerTimes } from "./answer-times.js";
import { asVendorError, type Chain, type ChainLink, worstOf } from "./chain.js";
import { ReplyTimeout } from "./chain-timeouts.js";

const SENTENCE_END = /[.!?…。！？]["'”’)\]]*\s+/gu;

/**
 * The request to the next LLM after another failed in the middle of its reply; models of all vendors accept it as a
 * user message. The last word may be incomplete, and only a model that repeats it shows that.
 */
export const GO_ON =
  "[Your reply broke off. Go on with it: write its last word once more, and then what comes next. Repeat nothing else of it, and say nothing about this.]";

/** The conversation, with the beginning of the reply that was already passed on. */
export function continued(messages: readonly ChatMessage[], given: string): readonly ChatMessage[] {
  return [...messages, { role: "assistant", content: given }, { role: "user", content: GO_ON }];
}

/**
 * Joins the rest of a reply to its beginning, which came from another LLM. An LLM repeats the last word, as
 * requested, or the whole reply or its last sentence: the repeated text is removed.
 */
export class Continuation {
  readonly #previousText: string;
  readonly #repeats: readonly string[];
  #buffered = "";
  #isJoined = false;

  constructor(given: string) {
    this.#previousText = given;
    const whole = given.trim();
    const lastWord = whole.slice(whole.search(/\S+$/u));
    // Longest first: the others are parts of it.
    this.#repeats = [whole, lastSentenceOf(whole), lastWord].filter((text) => text !== "");
  }

  /** Returns the text that can be passed on now. */
  take(text: string): string {
    if (this.#isJoined) return text;
    this.#buffered += text;
    const said = this.#buffered.trimStart();
    if (said === "" || this.#repeats.some((repeat) => repeat !== said && repeat.startsWith(said))) {
      return "";
    }
    return this.#join();
  }

  /** No more text follows: returns the withheld text. */
  end(): string {
    return this.#isJoined || this.#buffered === "" ? "" : this.#join();
  }

  #join(): string {
    this.#isJoined = true;
    const said = this.#buffered.trimStart();
    const repeat = this.#repeats.find((each) => said.startsWith(each));
    if (repeat !== undefined) return said.slice(repeat.length);
    const isGlued = /\S$/u.test(this.#previousText) && /^[\p{L}\p{N}]/u.test(this.#buffered);
    return isGlued ? ` ${this.#buffered}` : this.#buffered;
  }
}

/** The unfinished sentence, without leading blanks. */
function lastSentenceOf(text: string): string {
  let beginsAt = 0;
  for (const match of text.matchAll(SENTENCE_END)) beginsAt = match.index + match[0].length;
  return text.slice(beginsAt);
}

export type ModelLink = ChainLink<LanguageModel>;

/** The state of one reply so far, whichever LLM wrote it. */
export interface ReplySoFar {
  readonly request: CompletionRequest;
  readonly onToken: (text: string) => void;
  text: string;
  /** The estimated tokens of failed requests. */
  wastedTokens: number;
}

export interface AttemptParts {
  readonly link: ModelLink;
  readonly reply: ReplySoFar;
  readonly timeouts: ReplyTimeout;
  /** The maximum time between two tokens. */
  readonly tokenGapMs: number;
  /** Ends the attempt when another one has started to answer. */
  readonly outpaced: AbortController;
  readonly mayBeEmpty: boolean;
  /** The first token or tool call arrived: from now on this attempt owns the reply. */
  readonly onStarted: (attempt: ModelAttempt) => void;
}

/** One LLM request for a reply, or for the rest of one. */
export class ModelAttempt {
  readonly link: ModelLink;
  readonly timeouts: ReplyTimeout;
  /** Nothing of the reply had been passed on when it was requested. */
  readonly isFromStart: boolean;
  readonly completion: Promise<Completion>;
  readonly #parts: AttemptParts;
  #hasStarted = false;
  #failure: { readonly cause: unknown } | undefined;

  constructor(parts: AttemptParts) {
    this.#parts = parts;
    this.link = parts.link;
    this.timeouts = parts.timeouts;
    this.isFromStart = parts.reply.text === "";
    parts.link.breaker.onRequest();
    this.completion = this.#request();
    // The result of a preemptive attempt is read only when it is used.
    this.completion.catch((cause: unknown) => {
      this.#failure = { cause };
    });
  }

  get hasStarted(): boolean {
    return this.#hasStarted;
  }

  get isOutpaced(): boolean {
    return this.#parts.outpaced.signal.aborted;
  }

  /** Its failure, if it has failed by now. */
  get failure(): { readonly cause: unknown } | undefined {
    return this.#failure;
  }

  outpace(): void {
    this.#parts.outpaced.abort();
  }

  faultOf(cause: unknown): VendorError {
    const { vendor } = this.link;
    if (!this.timeouts.isOver) return asVendorError(vendor, cause);
    const message = `${vendor}: returned nothing for ${Math.round(this.timeouts.quietMs)} ms`;
    return new VendorError(vendor, "timeout", message, { cause });
  }

  async #request(): Promise<Completion> {
    const { reply, timeouts, mayBeEmpty } = this.#parts;
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
      if (!this.#isContinuation()) return;
      give(rest === undefined ? text : rest.take(text));
    };
    const completion = await client.complete(
      { ...request, modelId, messages, onToolUse: () => void this.#isContinuation() },
      take,
      timeouts.signal,
    );
    give(rest?.end() ?? "");
    if (this.isOutpaced) throw new VendorError(vendor, "aborted", `${vendor}: was too late`);
    if (reply.text === "" && (completion.toolCalls ?? []).length === 0 && !mayBeEmpty) {
      throw new VendorError(vendor, "badAnswer", `${vendor}: an empty reply`);
    }
    this.#start();
    const completionTokens = completion.completionTokens + estimateTokens(before.length);
    return { ...completion, completionTokens };
  }

  /** False when the attempt is no longer needed. */
  #isContinuation(): boolean {
    const { timeouts, tokenGapMs } = this.#parts;
    if (timeouts.signal.aborted) return false;
    this.#start();
    timeouts.progress(tokenGapMs);
    return true;
  }

  #start(): void {
    if (this.#hasStarted) return;
    this.#hasStarted = true;
    this.#parts.onStarted(this);
  }
}

/** The maximum budget that an organization can save up for times when its models are late more often. */
const SAVED_TOKENS_MAX = 50_000;
/** The least recently used organization is dropped first, with its saved budget. */
const ORGANIZATIONS_MAX = 10_000;

/** The budget of one organization for requests to a second model. */
export interface HedgeAllowance {
  /** Tokens that were paid for without hedging; a share of them may be spent. */
  used(tokens: number): void;
  /** False when the budget is too small: then no second LLM is asked. */
  spend(tokens: number): boolean;
}

/**
 * The hedging budget of all calls of the process: at most `share` of the tokens that the organization's hedged
 * agents have used.
 */
export class Hedging {
  readonly #share: number;
  readonly #saved = new Map<string, number>();

  /** `share` is from 0 (no hedging) to 1. */
  constructor(share: number) {
    this.#share = share;
  }

  /** The budget of one organization's calls. */
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

interface RequestedReply {
  readonly request: CompletionRequest;
  readonly onToken: (text: string) => void;
  readonly signal: AbortSignal;
}

export interface LlmTimeouts {
  /** The maximum time to the first token. */
  readonly firstTokenMs: number;
  /** The maximum time between two tokens. */
  readonly tokenGapMs: number;
}

export interface ModelTerms {
  readonly timeouts: LlmTimeouts;
  /** Records how long the models take. */
  readonly times: AnswerTimes;
  /** Omitted if no second model is requested when the first is late. */
  readonly allowance?: HedgeAllowance | undefined;
}

const NOTHING_TO_CANCEL: CancelTimer = () => undefined;

/** One reply, whichever of the chain's models generates it. */
export class ModelReply {
  readonly #chain: Chain<LanguageModel>;
  readonly #terms: ModelTerms;
  readonly #reply: ReplySoFar;
  readonly #signal: AbortSignal;
  /** Models that were not requested yet, followed by those that were only late. */
  readonly #waiting: ModelLink[];
  /** The attempt that was started although the current one had not failed; at most one per reply. */
  #ahead: ModelAttempt | undefined;
  #current: ModelAttempt | undefined;
  #hasHedged = false;
  #cancelHedge = NOTHING_TO_CANCEL;

  constructor(
    chain: Chain<LanguageModel>,
    terms: ModelTerms,
    { request, onToken, signal }: RequestedReply,
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
        attempt.timeouts.end();
      }
    }
    throw worstOf(failures);
  }

  /** The preemptive attempt continues; the last one has no alternative, so its wait is that of a single model. */
  #next(): ModelAttempt | undefined {
    const ahead = this.#ahead;
    this.#ahead = undefined;
    if (ahead !== undefined) {
      if (this.#waiting.length === 0) ahead.timeouts.lift();
      return ahead;
    }
    const link = this.#waiting.shift();
    if (link === undefined) return undefined;
    return this.#start(link, this.#firstTokenLimitMs(link));
  }

  /**
   * The last model has no limit. A model without a working successor, or without hurry, has the full configured
   * time.
   */
  #firstTokenLimitMs(link: ModelLink): number | undefined {
    if (this.#waiting.length === 0) return undefined;
    const { timeouts, times } = this.#terms;
    const isHurried = this.#reply.request.isBackground !== true;
    if (!isHurried || this.#fallBack() === undefined) return timeouts.firstTokenMs;
    return times.timeoutMs(link, timeouts.firstTokenMs, this.#promptTokens());
  }

  #start(link: ModelLink, limitMs: number | undefined): ModelAttempt {
    const outpaced = new AbortController();
    const mayHedge = this.#terms.allowance !== undefined && !this.#chain.isSingle;
    const signal = mayHedge ? AbortSignal.any([this.#signal, outpaced.signal]) : this.#signal;
    return new ModelAttempt({
      link,
      reply: this.#reply,
      timeouts: new ReplyTimeout(this.#chain.clock, limitMs, signal),
      tokenGapMs: this.#terms.timeouts.tokenGapMs,
      outpaced,
      mayBeEmpty: this.#chain.isSingle,
      onStarted: (attempt) => this.#started(attempt),
    });
  }

  /** Also requests the next model if this one is later than usual with its first token. */
  #hedge(first: ModelAttempt): void {
    const { times, allowance } = this.#terms;
    const { request } = this.#reply;
    const isLate = first.isFromStart && !first.hasStarted && request.isBackground !== true;
    if (allowance === undefined || !isLate || this.#hasHedged) return;
    if (this.#fallBack() === undefined) return;
    const lateAfterMs = times.lateAfterMs(first.link, this.#promptTokens());
    if (lateAfterMs === undefined) return;
    const askAhead = () => this.#startHedge(first, allowance);
    this.#cancelHedge = this.#chain.clock.after(lateAfterMs, askAhead);
  }

  #startHedge(first: ModelAttempt, allowance: HedgeAllowance): void {
    const link = this.#fallBack();
    if (link === undefined || first.failure !== undefined) return;
    this.#hasHedged = true;
    if (!allowance.spend(this.#promptTokens())) return this.#chain.hedged("withheld", 0);
    this.#chain.hedged("asked", 0);
    this.#waiting.shift();
    const { firstTokenMs } = this.#terms.timeouts;
    // Leaving the first model gains nothing any more: its fallback is already requested.
    first.timeouts.allow(firstTokenMs);
    this.#ahead = this.#start(link, firstTokenMs);
  }

  /** Only a model that would directly replace the first one is requested ahead. */
  #fallBack(): ModelLink | undefined {
    const [link] = this.#waiting;
    return link !== undefined && this.#chain.trusts(link) ? link : undefined;
  }

  #started(attempt: ModelAttempt): void {
    this.#cancelHedge();
    const { times } = this.#terms;
    const tokens = this.#promptTokens();
    if (attempt.isFromStart) times.record(attempt.link, attempt.timeouts.passedMs, tokens);
    const [first, ahead] = [this.#current, this.#ahead];
    if (ahead === undefined || first === undefined) return;
    const late = attempt === ahead ? first : ahead;
    if (late.failure !== undefined) return;
    late.outpace();
    // A lower bound: without it, the other times would make a slow model look fast.
    times.record(late.link, late.timeouts.passedMs, tokens);
    late.link.breaker.abandoned();
    this.#reply.wastedTokens += tokens;
    this.#chain.hedged(attempt === ahead ? "won" : "lost", tokens);
  }

  #billed(completion: Completion): Completion {
    const { promptTokens, completionTokens } = completion;
    this.#terms.allowance?.used(promptTokens + completionTokens);
    const ahead = this.#ahead;
    // The second attempt failed while the first one was still awaited.
    if (ahead?.failure !== undefined && !ahead.isOutpaced) {
      this.#failed(ahead, ahead.failure.cause);
    }
    return { ...completion, promptTokens: promptTokens + this.#reply.wastedTokens };
  }

  #failed(attempt: ModelAttempt, cause: unknown): VendorError {
    const { link, timeouts } = attempt;
    const error = attempt.faultOf(cause);
    const promptTokens = this.#promptTokens();
    const tokens = isPaid(error) ? promptTokens : 0;
    this.#reply.wastedTokens += tokens;
    const isLate = attempt.isFromStart && !attempt.hasStarted && timeouts.isOver;
    if (isLate) this.#terms.times.record(link, timeouts.passedMs, promptTokens);
    this.#chain.failed(link, error, { ms: Math.round(timeouts.passedMs), tokens });
    return error;
  }

  /** The attempt is no longer needed. A model that was silent for too long by then is not tried first again. */
  #leave(attempt: ModelAttempt): void {
    const { link, timeouts } = attempt;
    if (attempt.isOutpaced) return;
    const { firstTokenMs, tokenGapMs } = this.#terms.timeouts;
    if (timeouts.quietMs < (attempt.hasStarted ? tokenGapMs : firstTokenMs))
      return link.breaker.abandoned();
    const error = new VendorError(link.vendor, "timeout", `${link.vendor}: returned nothing`);
    this.#chain.failed(link, error, { ms: Math.round(timeouts.passedMs), tokens: 0 });
  }

  #promptTokens(): number {
    return estimateTokens(promptCharsOf(this.#reply.request));
  }
}

/** An accepted request is billed, whatever the outcome. */
function isPaid({ fault }: VendorError): boolean {
  return fault === "timeout" || fault === "disconnected" || fault === "badAnswer";
}

/**
 * A chain of LLMs. The chain leaves an LLM that fails, or that returns nothing for too long before its first token or
 * between two tokens; the next LLM continues after the text that was already used. The last LLM of the chain is never
 * left. With a hedging budget, the next LLM is asked too when the first is later than usual, and the first to start
 * continues alone.
 */
export class ChainedModel implements LanguageModel {
  readonly #chain: Chain<LanguageModel>;
  readonly #terms: ModelTerms;

  constructor(chain: Chain<LanguageModel>, terms: ModelTerms) {
    this.#chain = chain;
    this.#terms = terms;
  }

  /** Each vendor uses its own model; the request's model is ignored. */
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
