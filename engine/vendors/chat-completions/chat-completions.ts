import * as v from "valibot";
import {
  type Completion,
  type CompletionRequest,
  type LanguageModel,
  VendorError,
} from "../contracts.js";
import { LearnedParameters, type ProviderVersion } from "../learned-parameters.js";
import { languageAbilities, type ReasoningEffort } from "../model-catalog.js";
import type { StreamLimits } from "../transport/http-stream.js";
import { HttpVendor } from "../transport/http-vendor.js";
import { OverlongLineError, ServerSentEvents } from "../transport/text-stream.js";
import { parseAnswer, unreadable } from "../vendor-json.js";
import {
  bearer,
  parseSettings,
  requireApiKey,
  type VendorContext,
  type VendorSettings,
} from "../vendor-settings.js";
import { openAiMessages, promptCharsOf, toolsOffered } from "./chat-messages.js";
import {
  chatParameters,
  correctionFor,
  type FoundCorrection,
  type ParameterCorrection,
  REASONING_FIELDS,
  type RequestRefusal,
  TOOL_CHOICE,
} from "./chat-parameters.js";
import { refuseOpenAi, streamedError } from "./openai-refusal.js";
import { estimateTokens } from "./token-estimate.js";
import { ToolCalls, thoughtFields } from "./tool-calls.js";

const BEGINNING = "<think>";
const END = "</think>";

/**
 * Blanks before the first word are withheld until it is clear what they belong to; more blanks than this count as
 * text.
 */
const LEADING_BLANKS_MAX_CHARS = 64;

/**
 * Removes reasoning from the beginning of a reply, up to its end tag, for a server that does not separate it.
 * Buffers at most a fragment of a tag. Only the request's token limit bounds the reasoning; a reply whose
 * reasoning never ends is empty.
 */
export class ThoughtFilter {
  #phase: "undecided" | "thinking" | "behind thoughts" | "speaking" = "undecided";
  #buffered = "";

  /** Returns what to speak of this text and of the text withheld before. */
  take(text: string): string {
    switch (this.#phase) {
      case "undecided":
        return this.#decide(this.#buffered + text);
      case "thinking":
        return this.#skipThoughts(this.#buffered + text);
      case "behind thoughts":
        return this.#skipBlanks(text);
      case "speaking":
        return text;
    }
  }

  /** The end of the text: returns what to speak of the withheld text. */
  end(): string {
    return this.#phase === "undecided" ? this.#buffered : "";
  }

  #decide(text: string): string {
    const words = text.trimStart();
    if (words.startsWith(BEGINNING)) {
      this.#phase = "thinking";
      return this.#skipThoughts(words.slice(BEGINNING.length));
    }
    if (BEGINNING.startsWith(words) && text.length <= LEADING_BLANKS_MAX_CHARS) {
      this.#buffered = text;
      return "";
    }
    this.#phase = "speaking";
    return text;
  }

  #skipThoughts(text: string): string {
    const at = text.indexOf(END);
    if (at >= 0) {
      this.#phase = "behind thoughts";
      return this.#skipBlanks(text.slice(at + END.length));
    }
    // Keeps what may be a fragment of a tag.
    this.#buffered = text.slice(-(END.length - 1));
    return "";
  }

  #skipBlanks(text: string): string {
    const words = text.trimStart();
    if (words !== "") this.#phase = "speaking";
    return words;
  }
}

/** A reasoning model may think this long before its first word; the call's own watchdog acts earlier. */
const FIRST_BYTE_TIMEOUT_MS = 20_000;
const BETWEEN_BYTES_TIMEOUT_MS = 10_000;
/** A reply of 10,000 words takes about this long; an endless stream is cut here. */
const TOTAL_TIMEOUT_MS = 180_000;
/** 10,000 words, one in each chunk of some 300 bytes, twice over. */
const REPLY_MAX_BYTES = 8 * 1024 * 1024;
/** A chunk holds a word or two; anything a thousand times larger is not a chunk. */
const EVENT_MAX_CHARS = 256 * 1024;

const LIMITS: StreamLimits = {
  firstByteMs: FIRST_BYTE_TIMEOUT_MS,
  betweenBytesMs: BETWEEN_BYTES_TIMEOUT_MS,
  totalMs: TOTAL_TIMEOUT_MS,
  replyMaxBytes: REPLY_MAX_BYTES,
};

const usageSchema = v.nullish(
  v.object({ prompt_tokens: v.optional(v.number()), completion_tokens: v.optional(v.number()) }),
);

/** Additional fields are the vendor's own, which it may require back. */
const toolCallSchema = v.looseObject({
  index: v.nullish(v.number()),
  id: v.nullish(v.string()),
  type: v.nullish(v.string()),
  function: v.nullish(
    v.looseObject({ name: v.nullish(v.string()), arguments: v.nullish(v.string()) }),
  ),
});

/** Only the fields that are used. Groq reports its usage and errors under `x_groq`. */
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
            ...thoughtFields,
          }),
        ),
        finish_reason: v.nullish(v.string()),
      }),
    ),
  ),
  usage: usageSchema,
  x_groq: v.nullish(v.object({ usage: usageSchema, error: v.nullish(v.string()) })),
});

/** The differences between vendors that use OpenAI's chat-completions protocol. */
export interface ChatDialect {
  readonly vendor: string;
  readonly publicUrl: string;
  readonly isKeyOptional?: true;
  /** Converts a tool call id to one that the vendor accepts; omitted if it accepts any. */
  readonly callIdOf?: ((id: string) => string) | undefined;
  /** Sent with every request, whatever the model. */
  readonly common?: Readonly<Record<string, unknown>>;
}

export class ChatCompletions implements LanguageModel {
  readonly #dialect: ChatDialect;
  readonly #vendor: HttpVendor;
  readonly #context: VendorContext;
  readonly #provider: ProviderVersion;
  readonly #learned: LearnedParameters;
  readonly #apiKey: string | undefined;
  readonly #effort: ReasoningEffort | undefined;

  constructor(dialect: ChatDialect, given: VendorSettings, context: VendorContext) {
    this.#dialect = dialect;
    this.#context = context;
    this.#vendor = new HttpVendor(dialect.vendor, given, dialect.publicUrl, context);
    this.#apiKey =
      dialect.isKeyOptional === true ? given.apiKey : requireApiKey(dialect.vendor, given);
    this.#effort = parseSettings(dialect.vendor, REASONING_FIELDS, given).reasoningEffort;
    this.#provider = given.provider ?? { id: this.#vendor.address, version: 0 };
    this.#learned = context.learned ?? new LearnedParameters();
  }

  /** After a refusal that names a parameter, one more request omits it or uses a value that the model accepts. */
  async complete(
    request: CompletionRequest,
    onToken: (text: string) => void,
    signal: AbortSignal,
  ): Promise<Completion> {
    const { modelId, tools = [] } = request;
    const corrections = this.#learned.of(this.#provider, modelId);
    const parameters = this.#parametersFor(request, corrections);
    const hasTools = tools.length > 0;
    let found: FoundCorrection | undefined;
    let hasBegun = false;
    try {
      return await this.#request(request, parameters, signal, {
        onToken: (text) => {
          hasBegun = true;
          onToken(text);
        },
        onRefused: (refusal) => {
          found = correctionFor(refusal, { parameters, hasTools });
        },
      });
    } catch (error) {
      if (found === undefined || hasBegun || signal.aborted) throw error;
    }
    const { correction, isForGood } = found;
    const corrected = this.#parametersFor(request, [...corrections, correction]);
    const atMs = this.#context.clock.epochMs();
    return this.#request(request, corrected, signal, {
      onToken,
      onAccepted: () => {
        if (isForGood) this.#learned.add(this.#provider, { ...correction, modelId, atMs });
      },
    });
  }

  warm(): void {
    this.#vendor.warm();
  }

  #parametersFor(request: CompletionRequest, corrections: readonly ParameterCorrection[]) {
    const { vendor, common = {} } = this.#dialect;
    return chatParameters(request, { vendor, effort: this.#effort, common, corrections });
  }

  async #request(
    request: CompletionRequest,
    parameters: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
    { onToken, onRefused, onAccepted }: AnswerListener,
  ): Promise<Completion> {
    const { vendor, callIdOf } = this.#dialect;
    const { modelId, messages, tools, toolChoice, onToolUse } = request;
    const mayOffer = toolChoice !== "none" || TOOL_CHOICE in parameters;
    // A model's signature is not valid for another model.
    const origin = `${this.#vendor.address} ${modelId}`;
    const { signsToolCalls } = languageAbilities(vendor, modelId);
    const reply = new ChatReply({
      vendor,
      origin,
      apiKey: this.#apiKey,
      onToken,
      onToolUse,
      onRefused,
    });
    await this.#vendor.post(
      {
        path: "/chat/completions",
        headers: {
          ...bearer(this.#apiKey),
          "content-type": "application/json",
          accept: "text/event-stream",
        },
        body: JSON.stringify({
          model: modelId,
          messages: openAiMessages(messages, { origin, callIdOf, signsToolCalls }),
          ...(mayOffer ? toolsOffered(tools) : {}),
          stream: true,
          ...parameters,
        }),
        limits: LIMITS,
        refuse: refuseOpenAi(vendor, this.#apiKey, onRefused),
      },
      (chunk) => reply.write(chunk),
      signal,
    );
    const completion = reply.end(request);
    onAccepted?.();
    return completion;
  }
}

interface AnswerListener {
  readonly onToken: (text: string) => void;
  readonly onRefused?: (refusal: RequestRefusal) => void;
  readonly onAccepted?: () => void;
}

interface ReplyParts {
  readonly vendor: string;
  /** Identifies the model that the opaque parts of its tool calls belong to. */
  readonly origin: string;
  readonly apiKey: string | undefined;
  readonly onToken: (text: string) => void;
  readonly onToolUse: (() => void) | undefined;
  readonly onRefused: ((refusal: RequestRefusal) => void) | undefined;
}

/** The state of one response while its events arrive. */
class ChatReply {
  readonly #parts: ReplyParts;
  readonly #vendor: string;
  readonly #events: ServerSentEvents;
  readonly #toolCalls: ToolCalls;
  readonly #thoughts = new ThoughtFilter();
  #done = false;
  #ended = false;
  #finishReason: Completion["finishReason"] = "other";
  #promptTokens: number | undefined;
  #completionTokens: number | undefined;
  #chars = 0;

  constructor(parts: ReplyParts) {
    this.#parts = parts;
    this.#vendor = parts.vendor;
    this.#toolCalls = new ToolCalls(parts.vendor, parts.origin);
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
    this.#emitText(this.#thoughts.end());
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
    // After the end of the body only the end mark still counts.
    if (this.#ended) return false;
    const chunk = parseAnswer(this.#vendor, chunkSchema, data);
    const error = chunk.error ?? chunk.x_groq?.error;
    if (error !== undefined && error !== null) {
      const { apiKey, onRefused } = this.#parts;
      throw streamedError(this.#vendor, error, apiKey, onRefused);
    }
    const usage = chunk.usage ?? chunk.x_groq?.usage;
    this.#promptTokens = usage?.prompt_tokens ?? this.#promptTokens;
    this.#completionTokens = usage?.completion_tokens ?? this.#completionTokens;
    const choice = chunk.choices?.[0];
    if (choice?.finish_reason != null) this.#finishReason = finishReasonOf(choice.finish_reason);
    if (choice?.delta != null) this.#toolCalls.addThoughts(choice.delta);
    for (const call of choice?.delta?.tool_calls ?? []) {
      this.#parts.onToolUse?.();
      const { index, id, type: _type, function: called, ...ofCall } = call;
      const { name, arguments: argumentsJson, ...ofFunction } = called ?? {};
      this.#toolCalls.addFragment({
        index: index ?? undefined,
        id: id ?? "",
        name: name ?? "",
        argumentsJson: argumentsJson ?? "",
        ofCall,
        ofFunction,
      });
    }
    const text = choice?.delta?.content ?? choice?.delta?.refusal ?? "";
    // Reasoning is billed like words.
    this.#chars += text.length;
    this.#emitText(this.#thoughts.take(text));
    return false;
  }

  #emitText(text: string): void {
    if (text !== "") this.#parts.onToken(text);
  }
}

function finishReasonOf(reason: string): Completion["finishReason"] {
  return reason === "stop" || reason === "length" ? reason : "other";
}
