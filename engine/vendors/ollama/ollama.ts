import * as v from "valibot";
import { ollamaMessages, promptCharsOf, toolsOffered } from "../chat-completions/chat-messages.js";
import { estimateTokens } from "../chat-completions/token-estimate.js";
import { ToolCalls } from "../chat-completions/tool-calls.js";
import {
  type Completion,
  type CompletionRequest,
  type LanguageModel,
  VendorError,
} from "../contracts.js";
import { offeredModels } from "../model-catalog.js";
import { Embeddings } from "../openai-protocol/embeddings.js";
import { HTTP_PROTOCOLS, text, wholeNumber } from "../setting-fields.js";
import type { RefusedAnswer, StreamLimits } from "../transport/http-stream.js";
import { HttpVendor } from "../transport/http-vendor.js";
import { LineSplitter, OverlongLineError } from "../transport/text-stream.js";
import { BASE_URL, setting, type Vendor } from "../vendor.js";
import { faultOfStatus, reasonOf, refusal, vendorTextOf } from "../vendor-fault.js";
import { parseAnswer, tryParse, unreadable } from "../vendor-json.js";
import { parseSettings, type VendorContext, type VendorSettings } from "../vendor-settings.js";

const VENDOR = "ollama";
const PUBLIC_URL = "http://127.0.0.1:11434";

const CONTEXT_TOKENS_MIN = 256;
/** Ten times the context of the largest model. */
const CONTEXT_TOKENS_MAX = 10_000_000;
const DURATION = /^-?(?:\d+(?:\.\d+)?(?:ms|s|m|h))+$/;
const DURATION_WORDS = 'a duration such as "10m", or a number of seconds';

const OLLAMA_FIELDS = {
  /** How long the model stays in memory after a reply, in Ollama's notation; unloading costs the next caller seconds. */
  keepAlive: v.optional(
    v.union([text(DURATION, DURATION_WORDS), v.number()], `expected ${DURATION_WORDS}`),
    "10m",
  ),
  contextTokens: v.optional(wholeNumber(CONTEXT_TOKENS_MIN, CONTEXT_TOKENS_MAX)),
};

export const OLLAMA: Vendor = {
  key: VENDOR,
  apiKey: { isRequired: false },
  address: { variable: "OLLAMA_BASE_URL", publicUrl: PUBLIC_URL, protocols: HTTP_PROTOCOLS },
  llm: {
    displayName: "Ollama",
    models: offeredModels(VENDOR, "llm"),
    fields: OLLAMA_FIELDS,
    settings: [setting("contextTokens", "Size of the context, tokens", "number"), BASE_URL],
    client: (given, context) => new Ollama(given, context),
  },
  embeddings: (given, context) => {
    const dialect = { vendor: VENDOR, publicUrl: PUBLIC_URL, isKeyRequired: false };
    return new Embeddings({ ...dialect, path: "/v1/embeddings" }, given, context);
  },
};

/** The first request loads the model without sending a byte; a timeout would abort the load, again and again. */
const FIRST_BYTE_TIMEOUT_MS = 180_000;
/** The wait for bytes is long, since other calls wait in Ollama's queue. */
const BETWEEN_BYTES_TIMEOUT_MS = 30_000;
const TOTAL_TIMEOUT_MS = 600_000;
/** 10,000 words, one a line of some 200 bytes, several times over. */
const REPLY_MAX_BYTES = 8 * 1024 * 1024;
/** A line holds a word or two; the last one may hold the context's token numbers too. */
const LINE_MAX_CHARS = 1024 * 1024;

const LIMITS: StreamLimits = {
  firstByteMs: FIRST_BYTE_TIMEOUT_MS,
  betweenBytesMs: BETWEEN_BYTES_TIMEOUT_MS,
  totalMs: TOTAL_TIMEOUT_MS,
  replyMaxBytes: REPLY_MAX_BYTES,
};

/** Additional fields are the model's own, which it may require back. */
const toolCallSchema = v.looseObject({
  id: v.optional(v.string(), ""),
  function: v.looseObject({
    index: v.optional(v.number()),
    name: v.string(),
    arguments: v.optional(v.record(v.string(), v.unknown()), {}),
  }),
});

const lineSchema = v.object({
  error: v.optional(v.string()),
  message: v.optional(
    v.object({
      content: v.optional(v.string(), ""),
      tool_calls: v.optional(v.array(toolCallSchema), []),
    }),
  ),
  done: v.optional(v.boolean(), false),
  done_reason: v.optional(v.string()),
  prompt_eval_count: v.optional(v.number()),
  eval_count: v.optional(v.number()),
});

const refusalSchema = v.object({ error: v.string() });

/** A local LLM server; no key. */
class Ollama implements LanguageModel {
  readonly #vendor: HttpVendor;
  readonly #settings: v.InferOutput<v.ObjectSchema<typeof OLLAMA_FIELDS, undefined>>;

  constructor(given: VendorSettings, context: VendorContext) {
    this.#vendor = new HttpVendor(VENDOR, given, PUBLIC_URL, context);
    this.#settings = parseSettings(VENDOR, OLLAMA_FIELDS, given);
  }

  async complete(
    request: CompletionRequest,
    onToken: (text: string) => void,
    signal: AbortSignal,
  ): Promise<Completion> {
    const origin = `${this.#vendor.address} ${request.modelId}`;
    const reply = new OllamaReply(onToken, origin);
    await this.#vendor.post(
      {
        path: "/api/chat",
        headers: { "content-type": "application/json", accept: "application/x-ndjson" },
        body: JSON.stringify({
          model: request.modelId,
          messages: ollamaMessages(request.messages, { origin }),
          // Ollama has no `tool_choice`, and accepts earlier tool calls without the tools.
          ...(request.toolChoice === "none" ? {} : toolsOffered(request.tools)),
          stream: true,
          think: false,
          keep_alive: this.#settings.keepAlive,
          options: {
            temperature: request.temperature ?? undefined,
            num_predict: request.maxTokens,
            num_ctx: this.#settings.contextTokens,
          },
        }),
        limits: LIMITS,
        refuse,
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

/** The state of one response while its lines arrive. */
class OllamaReply {
  readonly #onToken: (text: string) => void;
  readonly #lines = new LineSplitter(LINE_MAX_CHARS);
  readonly #toolCalls: ToolCalls;
  readonly #onLine = (line: string): boolean => this.#take(line);
  #last: v.InferOutput<typeof lineSchema> | undefined;
  #chars = 0;

  constructor(onToken: (text: string) => void, origin: string) {
    this.#onToken = onToken;
    this.#toolCalls = new ToolCalls(VENDOR, origin);
  }

  write(chunk: Uint8Array): boolean {
    try {
      return this.#lines.write(chunk, this.#onLine);
    } catch (error) {
      throw error instanceof OverlongLineError ? unreadable(VENDOR) : error;
    }
  }

  end(request: CompletionRequest): Completion {
    const rest = this.#last === undefined ? this.#lines.end() : undefined;
    // A broken connection may leave half a line.
    if (rest !== undefined && tryParse(lineSchema, rest)?.value.done === true) this.#take(rest);
    if (this.#last === undefined) {
      throw new VendorError(VENDOR, "disconnected", `${VENDOR}: the answer broke off`);
    }
    const chars = this.#chars + this.#toolCalls.chars;
    const { done_reason, prompt_eval_count, eval_count } = this.#last;
    return {
      finishReason: done_reason === "stop" || done_reason === "length" ? done_reason : "other",
      toolCalls: this.#toolCalls.finished(),
      promptTokens: prompt_eval_count ?? estimateTokens(promptCharsOf(request)),
      completionTokens: eval_count ?? estimateTokens(chars),
    };
  }

  #take(line: string): boolean {
    if (line.trim() === "") return false;
    const parsed = parseAnswer(VENDOR, lineSchema, line);
    if (parsed.error !== undefined) {
      const detail = { code: undefined, message: parsed.error };
      const words = [`${VENDOR} broke off`, reasonOf(detail)].filter(Boolean).join(": ");
      const vendorText = vendorTextOf(detail, undefined);
      throw new VendorError(VENDOR, "unavailable", words, { vendorText });
    }
    for (const { id, function: called, ...ofCall } of parsed.message?.tool_calls ?? []) {
      const { index: _index, name, arguments: given, ...ofFunction } = called;
      const argumentsJson = JSON.stringify(given);
      this.#toolCalls.addWhole({ id, name, argumentsJson, ofCall, ofFunction });
    }
    const words = parsed.message?.content ?? "";
    if (words !== "") {
      this.#chars += words.length;
      this.#onToken(words);
    }
    if (parsed.done) this.#last = parsed;
    return parsed.done;
  }
}

function refuse(answer: RefusedAnswer): VendorError {
  const message = tryParse(refusalSchema, answer.body)?.value.error;
  const detail = { code: undefined, message };
  return refusal(VENDOR, faultOfStatus(answer.status), answer, detail, undefined);
}
