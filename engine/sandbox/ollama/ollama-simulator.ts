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
import { ToolsOffered } from "../language-model/tool-offer.js";
import type { SandboxContext, Simulator } from "../simulator.js";

const VERSION = "0.12.0";

const ChatRequest = v.looseObject({
  model: v.pipe(v.string(), v.minLength(1)),
  messages: v.optional(
    v.array(
      v.looseObject({
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
      }),
    ),
    [],
  ),
  tools: v.optional(ToolsOffered, []),
  stream: v.optional(v.boolean(), true),
  options: v.optional(
    v.looseObject({
      temperature: v.optional(v.number()),
      num_predict: v.optional(v.pipe(v.number(), v.integer())),
    }),
    {},
  ),
});
type ChatRequest = v.InferOutput<typeof ChatRequest>;

const FAULT_ANSWERS: Partial<Record<ChatFault, readonly [status: number, error: string]>> = {
  unauthorized: [401, "unauthorized"],
  badRequest: [400, "invalid request"],
  notFound: [404, "model not found, try pulling it first"],
  rateLimited: [503, "server busy, please try again. maximum pending requests exceeded"],
  quotaExceeded: [503, "server busy, please try again. maximum pending requests exceeded"],
  overloaded: [503, "server busy, please try again. maximum pending requests exceeded"],
  serverError: [500, "llama runner process has terminated"],
};

/** Ollama's own API: `POST /api/chat` in lines of JSON, without a key. */
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
        exchange.answerJson(200, {
          models: [{ name: "llama3.2:latest", model: "llama3.2:latest" }],
        });
        return;
      case "POST /api/chat":
        await this.#chat(exchange);
        return;
      default:
        exchange.answerText(404, "404 page not found");
    }
  }

  async #chat(exchange: Exchange): Promise<void> {
    const { journal, faults } = this.#context;
    const request = journal.nextRequest();
    const atNs = process.hrtime.bigint();
    exchange.whenAborted(() => journal.record("ollama", "aborted", request));
    const parsed = v.safeParse(ChatRequest, await exchange.readJson());
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
    body: ChatRequest,
    fault: ChatFault | undefined,
  ): Promise<void> {
    const dialect = lineDialect(body.model, request);
    const offered = body.tools.map((tool) => tool.function);
    if (body.messages.length === 0) {
      exchange.answerJson(200, { ...line(body.model, ""), done: true, done_reason: "load" });
      return;
    }
    const limit = body.options.num_predict ?? -1;
    const reply = composeReply(body.messages, offered, limit > 0 ? limit : undefined, fault);
    if (body.stream) {
      await streamReply(this.#context, "ollama", request, exchange, dialect, reply, fault);
      return;
    }
    if (fault === "stallBeforeFirstByte") await exchange.stall();
    await exchange.pause(this.#context.faults.ollama.firstTokenMs ?? 0);
    const calls = reply.toolCalls.map((call, position) => wholeCall(call, request, position));
    const whole = line(body.model, reply.tokens.join(""), calls);
    exchange.answerJson(200, { ...whole, ...ending(reply) });
  }
}

function lineDialect(model: string, request: number): StreamDialect {
  const write = (body: object): string => `${JSON.stringify(body)}\n`;
  return {
    contentType: "application/x-ndjson",
    headers: {},
    opening: () => "",
    token: (text) => write({ ...line(model, text), done: false }),
    toolCall: (call, position) => {
      const calls = [wholeCall(call, request, position)];
      return [write({ ...line(model, "", calls), done: false })];
    },
    closing: (reply, isWhole) => (isWhole ? write({ ...line(model, ""), ...ending(reply) }) : ""),
    error: () => write({ error: "the sandbox was told to fail here" }),
    filler: () => write({ ...line(model, ""), done: false }),
  };
}

function line(model: string, content: string, calls: readonly object[] = []): object {
  const message = {
    role: "assistant",
    content,
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
  return { model, created_at: new Date().toISOString(), message };
}

function wholeCall(call: SimulatedToolCall, request: number, index: number): object {
  const called = { index, name: call.name, arguments: call.arguments };
  return { id: `call_${request}_${index}`, function: called };
}

/** Counters that are zero are left out, as the real server leaves them out. */
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
