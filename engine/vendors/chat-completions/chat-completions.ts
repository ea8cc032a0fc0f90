import * as v from "valibot";
import {
  type Completion,
  type CompletionRequest,
  type LanguageModel,
  VendorError,
} from "../contracts.js";
import type { StreamLimits } from "../transport/http-stream.js";
import { HttpVendor } from "../transport/http-vendor.js";
import { ServerSentEvents } from "../transport/server-sent-events.js";
import { OverlongLineError } from "../transport/text-lines.js";
import { parseAnswer, unreadable } from "../vendor-json.js";
import {
  bearer,
  requireApiKey,
  type VendorContext,
  type VendorSettings,
} from "../vendor-settings.js";
import { openAiMessages, promptCharsOf, toolsOffered } from "./chat-messages.js";
import { refuseOpenAi, streamedError } from "./openai-refusal.js";
import { ThoughtFilter } from "./thought-filter.js";
import { estimateTokens } from "./token-estimate.js";
import { ToolCalls } from "./tool-calls.js";

/** A reasoning model may think this long before its first word; the call's own watchdog acts earlier. */
const FIRST_BYTE_TIMEOUT_MS = 20_000;
const BETWEEN_BYTES_TIMEOUT_MS = 10_000;
/** A reply of 10,000 words takes about that long; a stream that never ends is cut here. */
const TOTAL_TIMEOUT_MS = 180_000;
/** 10,000 words, one a chunk of some 300 bytes, twice over. */
const REPLY_MAX_BYTES = 8 * 1024 * 1024;
/** A chunk holds a word or two; a thousandfold of that is not a chunk. */
const EVENT_MAX_CHARS = 256 * 1024;

/**
 * The hidden thoughts of a reasoning model count against the same limit as its reply. Without room for them a voice reply
 * of 200 tokens ends before its first word.
 */
export const REASONING_HEADROOM_TOKENS = 1_024;

const LIMITS: StreamLimits = {
  firstByteMs: FIRST_BYTE_TIMEOUT_MS,
  betweenBytesMs: BETWEEN_BYTES_TIMEOUT_MS,
  totalMs: TOTAL_TIMEOUT_MS,
  replyMaxBytes: REPLY_MAX_BYTES,
};

const usageSchema = v.nullish(
  v.object({ prompt_tokens: v.optional(v.number()), completion_tokens: v.optional(v.number()) }),
);

const toolCallSchema = v.object({
  index: v.nullish(v.number()),
  id: v.nullish(v.string()),
  function: v.nullish(v.object({ name: v.nullish(v.string()), arguments: v.nullish(v.string()) })),
});

/** Only what is read. Groq reports its usage and errors under `x_groq`. */
const chunkSchema = v.object({
  error: v.optional(v.unknown()),
  choices: v.optional(
    v.array(
      v.object({
        delta: v.nullish(
          v.object({
            content: v.nullish(v.string()),
            refusal: v.nullish(v.string()),
            tool_calls: v.nullish(v.array(toolCallSchema)),
          }),
        ),
        finish_reason: v.nullish(v.string()),
      }),
    ),
  ),
  usage: usageSchema,
  x_groq: v.nullish(v.object({ usage: usageSchema, error: v.nullish(v.string()) })),
});

/** What differs between the vendors that speak OpenAI's chat-completions protocol. */
export interface ChatDialect {
  readonly vendor: string;
  readonly publicUrl: string;
  readonly isKeyOptional?: true;
  /** The id of a tool's call as the vendor takes it; where this is missing it takes any. */
  readonly callIdOf?: ((id: string) => string) | undefined;
  /** The request's body without `model`, `messages`, `tools` and `stream`. */
  readonly parameters: (request: CompletionRequest) => Readonly<Record<string, unknown>>;
}

export class ChatCompletions implements LanguageModel {
  readonly #dialect: ChatDialect;
  readonly #vendor: HttpVendor;
  readonly #apiKey: string | undefined;

  constructor(dialect: ChatDialect, given: VendorSettings, context: VendorContext) {
    this.#dialect = dialect;
    this.#vendor = new HttpVendor(dialect.vendor, given, dialect.publicUrl, context);
    this.#apiKey =
      dialect.isKeyOptional === true ? given.apiKey : requireApiKey(dialect.vendor, given);
  }

  async complete(
    request: CompletionRequest,
    onToken: (text: string) => void,
    signal: AbortSignal,
  ): Promise<Completion> {
    const { vendor, parameters, callIdOf } = this.#dialect;
    const reply = new ChatReply(vendor, this.#apiKey, onToken, request.onToolUse);
    await this.#vendor.post(
      {
        path: "/chat/completions",
        headers: {
          ...bearer(this.#apiKey),
          "content-type": "application/json",
          accept: "text/event-stream",
        },
        body: JSON.stringify({
          model: request.modelId,
          messages: openAiMessages(request.messages, callIdOf),
          ...toolsOffered(request.tools),
          stream: true,
          ...parameters(request),
        }),
        limits: LIMITS,
        refuse: refuseOpenAi(vendor, this.#apiKey),
      },
      (chunk) => reply.write(chunk),
      signal,
    );
    return reply.end(request);
  }

  warm(): void {
    this.#vendor.warm();
  }
}

/** The state of one answer while its events come in. */
class ChatReply {
  readonly #vendor: string;
  readonly #apiKey: string | undefined;
  readonly #onToken: (text: string) => void;
  readonly #onToolUse: (() => void) | undefined;
  readonly #events: ServerSentEvents;
  readonly #toolCalls: ToolCalls;
  readonly #thoughts = new ThoughtFilter();
  #done = false;
  #ended = false;
  #finishReason: Completion["finishReason"] = "other";
  #promptTokens: number | undefined;
  #completionTokens: number | undefined;
  #chars = 0;

  constructor(
    vendor: string,
    apiKey: string | undefined,
    onToken: (text: string) => void,
    onToolUse: (() => void) | undefined,
  ) {
    this.#onToolUse = onToolUse;
    this.#vendor = vendor;
    this.#apiKey = apiKey;
    this.#onToken = onToken;
    this.#toolCalls = new ToolCalls(vendor);
    this.#events = new ServerSentEvents(EVENT_MAX_CHARS, (data) => this.#take(data));
  }

  write(chunk: Uint8Array): boolean {
    try {
      return this.#events.write(chunk);
    } catch (error) {
      throw error instanceof OverlongLineError ? unreadable(this.#vendor) : error;
    }
  }

  end(request: CompletionRequest): Completion {
    if (!this.#done) {
      this.#ended = true;
      this.#events.end();
    }
    if (!this.#done) {
      throw new VendorError(this.#vendor, "disconnected", `${this.#vendor}: the answer broke off`);
    }
    this.#say(this.#thoughts.end());
    const chars = this.#chars + this.#toolCalls.chars;
    return {
      finishReason: this.#finishReason,
      toolCalls: this.#toolCalls.finished(),
      promptTokens: this.#promptTokens ?? estimateTokens(promptCharsOf(request)),
      completionTokens: this.#completionTokens ?? estimateTokens(chars),
    };
  }

  #take(data: string): boolean {
    if (data.startsWith("[DONE]")) {
      this.#done = true;
      return true;
    }
    // Behind the end of the body only the end mark still counts.
    if (this.#ended) return false;
    const chunk = parseAnswer(this.#vendor, chunkSchema, data);
    const error = chunk.error ?? chunk.x_groq?.error;
    if (error !== undefined && error !== null) {
      throw streamedError(this.#vendor, error, this.#apiKey);
    }
    const usage = chunk.usage ?? chunk.x_groq?.usage;
    this.#promptTokens = usage?.prompt_tokens ?? this.#promptTokens;
    this.#completionTokens = usage?.completion_tokens ?? this.#completionTokens;
    const choice = chunk.choices?.[0];
    if (choice?.finish_reason != null) this.#finishReason = finishReasonOf(choice.finish_reason);
    for (const call of choice?.delta?.tool_calls ?? []) {
      this.#onToolUse?.();
      this.#toolCalls.addFragment({
        index: call.index ?? undefined,
        id: call.id ?? "",
        name: call.function?.name ?? "",
        argumentsJson: call.function?.arguments ?? "",
      });
    }
    const text = choice?.delta?.content ?? choice?.delta?.refusal ?? "";
    // Thoughts are paid for as words are.
    this.#chars += text.length;
    this.#say(this.#thoughts.take(text));
    return false;
  }

  #say(text: string): void {
    if (text !== "") this.#onToken(text);
  }
}

function finishReasonOf(reason: string): Completion["finishReason"] {
  return reason === "stop" || reason === "length" ? reason : "other";
}
