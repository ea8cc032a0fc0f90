import * as v from "valibot";
import type { Exchange } from "../exchange.js";
import { type ChatFault, takeFault } from "../faults.js";
import { composeReply, streamReply } from "../language-model/reply-stream.js";
import type { SandboxContext, Simulator } from "../simulator.js";
import { lineDialect, wholeAnswer } from "./line-dialect.js";
import { listedModels, runningModels, shownModel } from "./ollama-models.js";
import { ChatRequest, GenerateRequest, type GenerationRequest } from "./ollama-request.js";

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

/** The fields that named a model before 2024 are still taken. */
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

/** Ollama's own API, without a key: answers come in lines of JSON. */
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
