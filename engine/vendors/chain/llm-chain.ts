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

/** The conversation, with the beginning of the reply that has been given out already. */
export function continued(messages: readonly ChatMessage[], given: string): readonly ChatMessage[] {
  return [...messages, { role: "assistant", content: given }, { role: "user", content: GO_ON }];
}

/**
 * Joins the rest of a reply to its beginning, which another model has said. A model writes the last word again, as it was asked,
 * or the whole reply or its last sentence, whatever it was asked: what is said already is taken off.
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
    // The longest first: the others are parts of it.
    this.#repeats = [whole, lastSentenceOf(whole), lastWord].filter((text) => text !== "");
  }

  /** What of it goes out now. */
  take(text: string): string {
    if (this.#isJoined) return text;
    this.#buffered += text;
    const said = this.#buffered.trimStart();
    if (said === "" || this.#repeats.some((repeat) => repeat !== said && repeat.startsWith(said))) {
      return "";
    }
    return this.#join();
  }

  /** No more comes: what is still held. */
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

/** The sentence that is not finished yet, without the blanks before it. */
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
  /** Tokens of requests that came to nothing; an estimate. */
  wastedTokens: number;
}

export interface AttemptParts {
  readonly link: ModelLink;
  readonly reply: ReplySoFar;
  readonly timeouts: ReplyTimeout;
  /** It may take so long from one word to the next. */
  readonly tokenGapMs: number;
  /** Ends the attempt when another one has begun to speak. */
  readonly outpaced: AbortController;
  readonly mayBeEmpty: boolean;
  /** It says its first word, or begins to use a tool: from now on the reply is its own. */
  readonly onStarted: (attempt: ModelAttempt) => void;
}

/** One LLM that is asked for a reply, or for the rest of one. */
export class ModelAttempt {
  readonly link: ModelLink;
  readonly timeouts: ReplyTimeout;
  /** Nothing of the reply had been said when it was asked. */
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
    // Who was asked ahead is looked at only when it is its turn.
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

  /** What it has failed with by now. */
  get failure(): { readonly cause: unknown } | undefined {
    return this.#failure;
  }

  outpace(): void {
    this.#parts.outpaced.abort();
  }

  faultOf(cause: unknown): VendorError {
    const { vendor } = this.link;
    if (!this.timeouts.isOver) return asVendorError(vendor, cause);
    const message = `${vendor}: gave nothing for ${Math.round(this.timeouts.quietMs)} ms`;
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

  /** False when nobody waits for it any more. */
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

/** What organizations have saved up, at most, for a time when their models are late more often. */
const SAVED_TOKENS_MAX = 50_000;
/** The organization whose model was asked first is forgotten first, with what it has saved. */
const ORGANIZATIONS_MAX = 10_000;

/** What the replies of one organization may cost on top, because two models are asked. */
export interface HedgeAllowance {
  /** These tokens were paid for without any hedging; a share of them may be spent. */
  used(tokens: number): void;
  /** False when the budget is too small: then no second LLM is asked. */
  spend(tokens: number): boolean;
}

/**
 * What may be spent, in all calls of the process, on asking another one too: at no time more than
 * `share` of the tokens that the organization's hedged agents have used.
 */
export class Hedging {
  readonly #share: number;
  readonly #saved = new Map<string, number>();

  /** `share` is from 0 (no hedging) to 1. */
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

interface RequestedReply {
  readonly request: CompletionRequest;
  readonly onToken: (text: string) => void;
  readonly signal: AbortSignal;
}

export interface LlmTimeouts {
  /** A language model may take so long to its first word, at most. */
  readonly firstTokenMs: number;
  /** And so long from one to the next. */
  readonly tokenGapMs: number;
}

export interface ModelTerms {
  readonly timeouts: LlmTimeouts;
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

  /** Who was asked ahead goes on; the last one is waited for as if it were alone. */
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

  /** The last one has none. Who has nobody behind it that is thought to work, or no hurry, has all the time that is set. */
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

  /** Has the next one asked too, if this one is later with its first word than it usually is. */
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
    // Leaving the first gains nothing any more: its fallback is already asked.
    first.timeouts.allow(firstTokenMs);
    this.#ahead = this.#start(link, firstTokenMs);
  }

  /** Nobody is asked ahead who would not be asked at once in the place of the first. */
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
    // At least so long: left out, the others would make a slow model look quick.
    times.record(late.link, late.timeouts.passedMs, tokens);
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

  /** Nobody waits any more. Who was quiet for too long by then is not asked first again. */
  #leave(attempt: ModelAttempt): void {
    const { link, timeouts } = attempt;
    if (attempt.isOutpaced) return;
    const { firstTokenMs, tokenGapMs } = this.#terms.timeouts;
    if (timeouts.quietMs < (attempt.hasStarted ? tokenGapMs : firstTokenMs))
      return link.breaker.abandoned();
    const error = new VendorError(link.vendor, "timeout", `${link.vendor}: gave nothing`);
    this.#chain.failed(link, error, { ms: Math.round(timeouts.passedMs), tokens: 0 });
  }

  #promptTokens(): number {
    return estimateTokens(promptCharsOf(this.#reply.request));
  }
}

/** A request that was taken is billed, whatever becomes of its answer. */
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
