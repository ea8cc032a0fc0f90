import type { AgentLlm } from "../conversation/effect-runner.js";
import { estimatedTokensOf } from "../conversation/token-estimate.js";
import type { Logger } from "../log.js";
import type { Clock } from "../time/clock.js";
import { type ChatMessage, VendorError } from "../vendors/contracts.js";

const ANSWER_TIMEOUT_MS = 30_000;

export interface BackgroundRequest {
  readonly messages: readonly ChatMessage[];
  readonly maxTokens: number;
  /** Longer output of the LLM is dropped. */
  readonly charsMax: number;
}

export interface BackgroundCompletion {
  readonly text: string;
  readonly promptTokens: number;
  readonly completionTokens: number;
}

/** Requests a completion that no caller waits for, with a limit of half a minute. Rejects with a VendorError. */
export async function completeInBackground(
  llm: AgentLlm,
  { messages, maxTokens, charsMax }: BackgroundRequest,
  clock: Clock,
  signal: AbortSignal,
): Promise<BackgroundCompletion> {
  const abort = new AbortController();
  const stop = () => abort.abort();
  const cancel = clock.after(ANSWER_TIMEOUT_MS, stop);
  // An aborted signal no longer fires the event.
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop);
  let text = "";
  const { modelId } = llm;
  // null for an agent whose model accepts no temperature.
  const temperature = llm.temperature === null ? null : 0;
  const request = { modelId, messages, temperature, maxTokens, isBackground: true } as const;
  const take = (token: string) => {
    if (text.length < charsMax) text += token;
  };
  try {
    const completion = await llm.client.complete(request, take, abort.signal);
    const { promptTokens, completionTokens } = completion;
    return { text, promptTokens, completionTokens };
  } catch (error) {
    if (!abort.signal.aborted || signal.aborted) throw error;
    throw new VendorError(llm.vendor, "timeout", "no whole answer within 30 s");
  } finally {
    cancel();
    signal.removeEventListener("abort", stop);
  }
}

/** Concurrent requests about calls in progress; a call without a free place retries after its next turn. */
const ANSWERS_AT_ONCE_MAX = 4;
const ANSWER_TOKENS_MAX = 300;
const ANSWER_CHARS_MAX = 8_000;

/** The result of a background request, and its billed tokens. */
export interface BackgroundAnswer {
  /** Undefined if the request failed. */
  readonly text: string | undefined;
  readonly tokens: number;
}

/** Background requests to the LLMs of calls in progress; the calls' replies have priority. */
export class BackgroundLlm {
  readonly #clock: Clock;
  readonly #log: Logger;
  #count = 0;

  constructor(clock: Clock, log: Logger) {
    this.#clock = clock;
    this.#log = log;
  }

  /**
   * Undefined if too many of these requests are running; never rejects. A failed or aborted request counts as many
   * tokens as its text has.
   */
  async answer(
    callId: string,
    llm: AgentLlm,
    messages: readonly ChatMessage[],
    signal: AbortSignal,
  ): Promise<BackgroundAnswer | undefined> {
    if (this.#count >= ANSWERS_AT_ONCE_MAX) return undefined;
    this.#count += 1;
    const request = { messages, maxTokens: ANSWER_TOKENS_MAX, charsMax: ANSWER_CHARS_MAX };
    try {
      const answer = await completeInBackground(llm, request, this.#clock, signal);
      return { text: answer.text, tokens: answer.promptTokens + answer.completionTokens };
    } catch (error) {
      if (!signal.aborted) {
        // A vendor's error may quote the request.
        const fault = error instanceof VendorError ? error.fault : "unknown";
        this.#log.warn({ callId, fault }, "failed to summarize what was cut from the history");
      }
      return { text: undefined, tokens: estimatedTokensOf(messages) };
    } finally {
      this.#count -= 1;
    }
  }
}
