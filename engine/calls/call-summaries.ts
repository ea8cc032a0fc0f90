import type { CallStore } from "../../storage/calls/call-store.js";
import type { Logger } from "../log.js";
import type { AgentLlm } from "../session/effect-surroundings.js";
import { estimatedTokensOf } from "../session/token-estimate.js";
import { parseSummary, summaryMessages } from "../speech/call-summary.js";
import type { Clock } from "../time/clock.js";
import { type ChatMessage, VendorError } from "../vendors/contracts.js";

/** Summaries are worth less than the replies of calls in progress, so they get few of the vendor's requests. */
const SUMMARIES_AT_ONCE_MAX = 4;
/** Ended calls that wait for a summary; beyond it calls keep their transcript and go without one. */
const SUMMARIES_WAITING_MAX = 1_000;
const SUMMARY_TIMEOUT_MS = 30_000;
const SUMMARY_TOKENS_MAX = 300;
const SUMMARY_CHARS_MAX = 8_000;

/** Summaries of calls in progress, made at the same time; a call that finds no room tries again after its next turn. */
const LIVE_SUMMARIES_AT_ONCE_MAX = 4;

/** What an LLM has answered in the background, and what that is billed as. */
export interface BackgroundAnswer {
  /** Undefined when the request has failed. */
  readonly text: string | undefined;
  readonly tokens: number;
}

export interface SummaryTask {
  readonly orgId: string;
  readonly callId: string;
  readonly llm: AgentLlm;
}

/** Has ended calls summed up by the language model of their own agent, off the path of every call. */
export class CallSummaries {
  readonly #calls: CallStore;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #waiting: SummaryTask[] = [];
  readonly #underWay = new Set<Promise<void>>();
  readonly #abort = new AbortController();
  #liveCount = 0;

  constructor(calls: CallStore, clock: Clock, log: Logger) {
    this.#calls = calls;
    this.#clock = clock;
    this.#log = log;
  }

  /**
   * Asks the LLM of a call in progress, behind its replies. Undefined where too many such requests are under way; never rejects,
   * and a request that failed or was aborted counts as many tokens as its text has.
   */
  async answer(
    callId: string,
    llm: AgentLlm,
    messages: readonly ChatMessage[],
    signal: AbortSignal,
  ): Promise<BackgroundAnswer | undefined> {
    if (this.#liveCount >= LIVE_SUMMARIES_AT_ONCE_MAX) return undefined;
    this.#liveCount += 1;
    try {
      return await this.#ask(llm, messages, signal);
    } catch (error) {
      if (!signal.aborted) {
        // The error of a vendor may quote what it was sent.
        const fault = error instanceof VendorError ? error.fault : "unknown";
        this.#log.warn({ callId, fault }, "what was cut from the history could not be summarized");
      }
      return { text: undefined, tokens: estimatedTokensOf(messages) };
    } finally {
      this.#liveCount -= 1;
    }
  }

  get waitingCount(): number {
    return this.#waiting.length;
  }

  add(task: SummaryTask): void {
    if (this.#abort.signal.aborted || this.#waiting.length >= SUMMARIES_WAITING_MAX) {
      this.#log.warn({ callId: task.callId }, "the call goes without a summary: too many wait");
      return;
    }
    this.#waiting.push(task);
    this.#next();
  }

  /** Lets those under way finish until `timeoutMs`; what waits behind them is given up, and logged. */
  async close(timeoutMs: number): Promise<void> {
    let cancel = () => {};
    const deadline = new Promise<void>((resolve) => {
      cancel = this.#clock.after(timeoutMs, resolve);
    });
    await Promise.race([this.#idle(), deadline]);
    cancel();
    if (this.#waiting.length > 0) {
      this.#log.warn(
        { count: this.#waiting.length },
        "calls go without a summary: the server stops",
      );
    }
    this.#waiting.length = 0;
    this.#abort.abort();
    await Promise.all(this.#underWay);
  }

  async #idle(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
  }

  #next(): void {
    while (this.#underWay.size < SUMMARIES_AT_ONCE_MAX) {
      const task = this.#waiting.shift();
      if (task === undefined) return;
      const work = this.#summarize(task)
        .catch((error: unknown) => {
          this.#log.warn({ callId: task.callId, error }, "the call could not be summarized");
        })
        .finally(() => {
          this.#underWay.delete(work);
          this.#next();
        });
      this.#underWay.add(work);
    }
  }

  async #summarize({ orgId, callId, llm }: SummaryTask): Promise<void> {
    const call = await this.#calls.findById(orgId, callId);
    if (call === undefined || !call.transcript.some((message) => message.role === "user")) return;
    const { text } = await this.#ask(llm, summaryMessages(call.transcript), this.#abort.signal);
    const summary = parseSummary(text);
    if (summary.summary === undefined && summary.sentiment === undefined) {
      throw new Error("the model's answer holds no summary");
    }
    await this.#calls.saveSummary(callId, summary);
  }

  async #ask(
    llm: AgentLlm,
    messages: readonly ChatMessage[],
    signal: AbortSignal,
  ): Promise<{ text: string; tokens: number }> {
    const abort = new AbortController();
    const stop = () => abort.abort();
    const cancel = this.#clock.after(SUMMARY_TIMEOUT_MS, stop);
    // A signal that is aborted already calls nobody.
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop);
    let answer = "";
    const { modelId } = llm;
    // An agent whose model takes none says so.
    const temperature = llm.temperature === null ? null : 0;
    const maxTokens = SUMMARY_TOKENS_MAX;
    const request = { modelId, messages, temperature, maxTokens, unhurried: true } as const;
    try {
      const { promptTokens, completionTokens } = await llm.client.complete(
        request,
        (text) => {
          if (answer.length < SUMMARY_CHARS_MAX) answer += text;
        },
        abort.signal,
      );
      return { text: answer, tokens: promptTokens + completionTokens };
    } finally {
      cancel();
      signal.removeEventListener("abort", stop);
    }
  }
}
