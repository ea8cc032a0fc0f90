import * as v from "valibot";
import type { Exchange } from "../exchange.js";
import { type ChatFault, takeFault } from "../faults.js";
import { composeReply, streamReply } from "../language-model/reply-stream.js";
import { isGoodKey, type SandboxContext, type Simulator } from "../simulator.js";
import { chatDialect } from "./chat-completions-dialect.js";
import {
  type ApiError,
  badRequest,
  ChatCompletionsRequest,
  groqRefusal,
  openAiRefusal,
} from "./chat-completions-request.js";

type Vendor = "openai" | "groq";

const UNAUTHORIZED: ApiError = {
  status: 401,
  message: "Incorrect API key provided.",
  type: "invalid_request_error",
  code: "invalid_api_key",
};

const FAULT_ERRORS: Partial<Record<ChatFault, ApiError>> = {
  unauthorized: UNAUTHORIZED,
  badRequest: badRequest("The sandbox was told to refuse this.", "model", "unsupported_value"),
  notFound: {
    status: 404,
    message: "The model does not exist.",
    type: "invalid_request_error",
    code: "model_not_found",
  },
  rateLimited: {
    status: 429,
    message: "Rate limit reached. Please try again in 1s.",
    type: "tokens",
    code: "rate_limit_exceeded",
    headers: { "retry-after": "1" },
  },
  quotaExceeded: {
    status: 429,
    message: "You exceeded your current quota.",
    type: "insufficient_quota",
    code: "insufficient_quota",
  },
  serverError: { status: 500, message: "Internal error.", type: "server_error", code: null },
  overloaded: { status: 503, message: "Overloaded.", type: "server_error", code: null },
};

/** `POST /chat/completions` as OpenAI and Groq speak it, each with its own limits, chunks and usage. */
export class ChatCompletionsSimulator implements Simulator {
  readonly #context: SandboxContext;
  readonly #vendor: Vendor;

  constructor(context: SandboxContext, vendor: Vendor) {
    this.#context = context;
    this.#vendor = vendor;
  }

  async handleRequest(exchange: Exchange): Promise<void> {
    const { journal, faults } = this.#context;
    const request = journal.nextRequest();
    const atNs = process.hrtime.bigint();
    exchange.whenAborted(() => journal.record(this.#vendor, "aborted", request));
    if (exchange.request.method !== "POST" || exchange.url.pathname !== "/chat/completions") {
      this.#refuse(exchange, request, { ...UNAUTHORIZED, status: 404, message: "Unknown URL." });
      return;
    }
    const parsed = v.safeParse(ChatCompletionsRequest, await exchange.readJson());
    const said = parsed.success ? parsed.output.messages.at(-1)?.content : undefined;
    journal.record(this.#vendor, "request", request, said, atNs);
    const fault = takeFault(faults, this.#vendor);
    const refusal = this.#refusal(exchange, fault);
    if (refusal !== undefined) this.#refuse(exchange, request, refusal);
    else if (parsed.success) await this.#answer(exchange, request, parsed.output, fault);
    else {
      const issue = parsed.issues[0];
      const param = v.getDotPath(issue) ?? "body";
      this.#refuse(exchange, request, badRequest(issue.message, param, null));
    }
  }

  #refusal(exchange: Exchange, fault: ChatFault | undefined): ApiError | undefined {
    if (!isGoodKey(this.#context, exchange.bearer)) return UNAUTHORIZED;
    return fault === undefined ? undefined : FAULT_ERRORS[fault];
  }

  async #answer(
    exchange: Exchange,
    request: number,
    body: ChatCompletionsRequest,
    fault: ChatFault | undefined,
  ): Promise<void> {
    const refusal = this.#vendor === "groq" ? groqRefusal(body) : openAiRefusal(body);
    if (refusal !== undefined) {
      this.#refuse(exchange, request, refusal);
      return;
    }
    const offered = body.tools?.map((tool) => tool.function) ?? [];
    const tokensMax = body.max_completion_tokens ?? body.max_tokens ?? undefined;
    const reply = composeReply(body.messages, offered, tokensMax, fault);
    const dialect = chatDialect(this.#vendor, body, request);
    if (body.stream === true) {
      await streamReply(this.#context, this.#vendor, request, exchange, dialect, reply, fault);
      return;
    }
    if (fault === "stallBeforeFirstByte") await exchange.stall();
    await exchange.pause(this.#context.faults[this.#vendor].firstTokenMs ?? 0);
    if (fault === "garbageJson") exchange.answerText(200, '{"id":"chatcmpl-', {});
    else exchange.answerJson(200, dialect.whole(reply), dialect.headers);
    this.#context.journal.record(this.#vendor, "lastByte", request);
  }

  #refuse(exchange: Exchange, request: number, error: ApiError): void {
    const { status, headers = {}, message, type, code, param } = error;
    const body =
      this.#vendor === "groq"
        ? { error: { message, type, ...(code === null ? {} : { code }) } }
        : { error: { message, type, param: param ?? null, code } };
    exchange.answerJson(status, body, { "x-request-id": `req_${request}`, ...headers });
    this.#context.journal.record(this.#vendor, "fault", request, String(status));
  }
}
