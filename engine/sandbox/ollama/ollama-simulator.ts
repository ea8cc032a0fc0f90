import * as v from "valibot";
import type { Exchange } from "../exchange.js";
import { type ChatFault, takeFault } from "../faults.js";
import {
  composeReply,
  type Reply,
  type SimulatedToolCall,
  type StreamDialect,
  streamReply,
} from "../language-model/reply-stream.js";
import {
  type ChatMessage,
  type OfferedTool,
  ToolsOffered,
} from "../language-model/simulated-language-model.js";
import type { SandboxContext, Simulator } from "../simulator.js";

/** One line of a response, or the whole of it, without the fields that end it. */
export type AnswerLine = (model: string, text: string, calls: readonly object[]) => object;

export function chatLine(model: string, content: string, calls: readonly object[]): object {
  const message = {
    role: "assistant",
    content,
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
  return { model, created_at: new Date().toISOString(), message };
}

export function generateLine(model: string, response: string): object {
  return { model, created_at: new Date().toISOString(), response };
}

/** Lines of JSON, one per token; arguments of tools are objects. */
export function lineDialect(model: string, request: number, line: AnswerLine): StreamDialect {
  const write = (body: object): string => `${JSON.stringify(body)}\n`;
  const part = (text: string, calls: readonly object[] = []): string =>
    write({ ...line(model, text, calls), done: false });
  return {
    contentType: "application/x-ndjson",
    headers: {},
    opening: () => "",
    token: (text) => part(text),
    toolCall: (call, position) => [part("", [wholeCall(call, request, position)])],
    closing: (reply, isWhole) =>
      isWhole ? write({ ...line(model, "", []), ...ending(reply) }) : "",
    error: () => write({ error: "the sandbox was told to fail here" }),
    filler: () => part(""),
  };
}

/** The response to a request without `stream`. */
export function wholeAnswer(
  model: string,
  request: number,
  line: AnswerLine,
  reply: Reply,
): object {
  const calls = reply.toolCalls.map((call, position) => wholeCall(call, request, position));
  return { ...line(model, reply.tokens.join(""), calls), ...ending(reply) };
}

function wholeCall(call: SimulatedToolCall, request: number, index: number): object {
  const called = { index, name: call.name, arguments: call.arguments };
  return { id: `call_${request}_${index}`, function: called };
}

/** Zero counters are omitted, as by the real server. */
function ending({ finishReason, promptTokens, completionTokens }: Reply): object {
  const durations = { total_duration: 12_000_000, load_duration: 1_000_000 };
  return {
    done: true,
    done_reason: finishReason === "length" ? "length" : "stop",
    ...durations,
    prompt_eval_count: promptTokens,
    prompt_eval_duration: 2_000_000,
    ...(completionTokens === 0 ? {} : { eval_count: completionTokens, eval_duration: 9_000_000 }),
  };
}

const MODIFIED_AT = "2026-01-01T00:00:00.000000001Z";
const SIZE_BYTES = 2_019_393_189;
const DIGEST = "a80c4f17acd55265feec403c7aef86be0c25983ab279d83f3bcd3abbcb5b8b72";
const NAMES = ["llama3.2:latest", "qwen3:8b"];

const details = {
  parent_model: "",
  format: "gguf",
  family: "llama",
  families: ["llama"],
  parameter_size: "3.2B",
  quantization_level: "Q4_K_M",
};

/** `GET /api/tags`. The list is only for clients that request it: chat accepts any name. */
export function listedModels(): object {
  return { models: NAMES.map(listed) };
}

/** `GET /api/ps`: all are loaded. */
export function runningModels(): object {
  const expires_at = new Date(Date.now() + 300_000).toISOString();
  const models = NAMES.map((name) => {
    const { modified_at: _modified, ...model } = listed(name);
    return { ...model, expires_at, size_vram: SIZE_BYTES, context_length: 4096 };
  });
  return { models };
}

/** `POST /api/show`. */
export function shownModel(name: string): object {
  return {
    modelfile: `FROM ${name}`,
    parameters: "num_ctx 4096",
    template: "{{ .Prompt }}",
    details,
    model_info: { "general.architecture": "llama", "llama.context_length": 131_072 },
    capabilities: ["completion", "tools"],
    modified_at: MODIFIED_AT,
  };
}

function listed(name: string) {
  return { name, model: name, modified_at: MODIFIED_AT, size: SIZE_BYTES, digest: DIGEST, details };
}

/** The common fields of both generating endpoints. */
export interface GenerationRequest {
  readonly model: string;
  /** Empty if only the model is to be loaded. */
  readonly messages: readonly ChatMessage[];
  readonly offered: readonly OfferedTool[];
  readonly stream: boolean;
  /** Undefined: no limit. */
  readonly tokensMax: number | undefined;
  readonly line: AnswerLine;
}

const chatRequestOf = {
  model: v.pipe(v.string(), v.minLength(1)),
  stream: v.optional(v.boolean(), true),
  options: v.optional(
    v.looseObject({
      temperature: v.optional(v.number()),
      num_predict: v.optional(v.pipe(v.number(), v.integer())),
    }),
    {},
  ),
};

const Message = v.looseObject({
  role: v.string(),
  content: v.optional(v.string(), ""),
  tool_calls: v.optional(
    v.array(
      v.looseObject({
        function: v.looseObject({
          name: v.string(),
          arguments: v.record(v.string(), v.unknown()),
        }),
      }),
    ),
  ),
});

/** The body of `POST /api/chat`. */
export const ChatRequest = v.pipe(
  v.looseObject({
    ...chatRequestOf,
    messages: v.optional(v.array(Message), []),
    tools: v.optional(ToolsOffered, []),
  }),
  v.transform(({ model, messages, tools, stream, options }): GenerationRequest => {
    const offered = tools.map((tool) => tool.function);
    const tokensMax = limitOf(options.num_predict);
    return { model, messages, offered, stream, tokensMax, line: chatLine };
  }),
);

/** The body of `POST /api/generate`. */
export const GenerateRequest = v.pipe(
  v.looseObject({
    ...chatRequestOf,
    prompt: v.optional(v.string(), ""),
    system: v.optional(v.string(), ""),
  }),
  v.transform(({ model, prompt, system, stream, options }): GenerationRequest => {
    const tokensMax = limitOf(options.num_predict);
    const instruction = system === "" ? [] : [{ role: "system", content: system }];
    const messages = prompt === "" ? [] : [...instruction, { role: "user", content: prompt }];
    return { model, messages, offered: [], stream, tokensMax, line: generateLine };
  }),
);

/** -1, the vendor's default, is no limit. */
function limitOf(predictMax = -1): number | undefined {
  return predictMax > 0 ? predictMax : undefined;
}

const VERSION = "0.12.0";
const BUSY = "server busy, please try again. maximum pending requests exceeded";

const FAULT_ANSWERS: Partial<Record<ChatFault, readonly [status: number, error: string]>> = {
  unauthorized: [401, "unauthorized"],
  forbidden: [403, "forbidden"],
  badRequest: [400, "invalid request"],
  notFound: [404, "model not found, try pulling it first"],
  rateLimited: [503, BUSY],
  quotaExceeded: [503, BUSY],
  overloaded: [503, BUSY],
  serverError: [500, "llama runner process has terminated"],
};

/** The field names from before 2024 still work. */
const ShowRequest = v.union([
  v.pipe(
    v.looseObject({ model: v.pipe(v.string(), v.minLength(1)) }),
    v.transform(({ model }) => model),
  ),
  v.pipe(
    v.looseObject({ name: v.pipe(v.string(), v.minLength(1)) }),
    v.transform(({ name }) => name),
  ),
]);

/** Ollama's own API, without a key: responses are lines of JSON. */
export class OllamaSimulator implements Simulator {
  readonly #context: SandboxContext;

  constructor(context: SandboxContext) {
    this.#context = context;
  }

  async handleRequest(exchange: Exchange): Promise<void> {
    switch (`${exchange.request.method} ${exchange.url.pathname}`) {
      case "GET /":
        exchange.answerText(200, "Ollama is running");
        return;
      case "GET /api/version":
        exchange.answerJson(200, { version: VERSION });
        return;
      case "GET /api/tags":
        exchange.answerJson(200, listedModels());
        return;
      case "GET /api/ps":
        exchange.answerJson(200, runningModels());
        return;
      case "POST /api/show":
        await this.#show(exchange);
        return;
      case "POST /api/chat":
        await this.#generate(exchange, ChatRequest);
        return;
      case "POST /api/generate":
        await this.#generate(exchange, GenerateRequest);
        return;
      default:
        exchange.answerText(404, "404 page not found");
    }
  }

  async #show(exchange: Exchange): Promise<void> {
    const name = v.safeParse(ShowRequest, await exchange.readJson());
    const fault = takeFault(this.#context.faults, "ollama", ["notFound", "serverError"]);
    const refusal = fault === undefined ? undefined : FAULT_ANSWERS[fault];
    if (refusal !== undefined) exchange.answerJson(refusal[0], { error: refusal[1] });
    else if (name.success) exchange.answerJson(200, shownModel(name.output));
    else exchange.answerJson(400, { error: "model is required" });
  }

  async #generate(
    exchange: Exchange,
    schema: typeof ChatRequest | typeof GenerateRequest,
  ): Promise<void> {
    const { journal, faults } = this.#context;
    const request = journal.nextRequest();
    const atNs = process.hrtime.bigint();
    exchange.whenAborted(() => journal.record("ollama", "aborted", request));
    const parsed = v.safeParse(schema, await exchange.readJson());
    const said = parsed.success ? parsed.output.messages.at(-1)?.content : undefined;
    journal.record("ollama", "request", request, said, atNs);
    const fault = takeFault(faults, "ollama");
    const refusal = fault === undefined ? undefined : FAULT_ANSWERS[fault];
    if (refusal !== undefined) {
      exchange.answerJson(refusal[0], { error: refusal[1] });
      journal.record("ollama", "fault", request, String(refusal[0]));
    } else if (!parsed.success) exchange.answerJson(400, { error: parsed.issues[0].message });
    else await this.#answer(exchange, request, parsed.output, fault);
  }

  async #answer(
    exchange: Exchange,
    request: number,
    { model, messages, offered, stream, tokensMax, line }: GenerationRequest,
    fault: ChatFault | undefined,
  ): Promise<void> {
    if (messages.length === 0) {
      exchange.answerJson(200, { ...line(model, "", []), done: true, done_reason: "load" });
      return;
    }
    const reply = composeReply(messages, offered, tokensMax, fault);
    if (stream) {
      const dialect = lineDialect(model, request, line);
      await streamReply(this.#context, "ollama", request, exchange, dialect, reply, fault);
      return;
    }
    if (fault === "stallBeforeFirstByte") await exchange.stall();
    await exchange.pause(this.#context.faults.ollama.firstTokenMs ?? 0);
    exchange.answerJson(200, wholeAnswer(model, request, line, reply));
  }
}
