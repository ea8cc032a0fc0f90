import * as v from "valibot";
import { type ChatFault, takeFault } from "../faults.js";
import {
  composeReply,
  type Reply,
  type SimulatedToolCall,
  type StreamDialect,
  streamReply,
} from "../language-model/reply-stream.js";
import { type ApiError, badRequest, refusalOf, refuse } from "./api-error.js";
import type { ApiRequest } from "./api-request.js";
import { ChatCompletionsRequest, groqRefusal, openAiRefusal } from "./chat-completions-request.js";
import {
  googleError,
  groqModelRefusal,
  isMistral,
  mistralCallId,
  mistralRefusal,
  modelRefusal,
  retiredModelRefusal,
  rulesOf,
  signatureRefusal,
  signed,
  strangeFieldRefusal,
} from "./model-rules.js";
import { answerWhole } from "./whole-answer.js";

const THINKS = /gemini-(?:2\.5-(?:pro|flash(?!-lite))|[3-9]|(?:flash|pro)-latest)/;
const THINKS_ALWAYS = /gemini-2\.5-pro/;

/** For a question that is not easy; by default they reason as long as they like. */
const THOUGHT_TOKENS: Readonly<Record<string, number>> = { none: 0, minimal: 100, low: 900 };
const UNASKED_THOUGHT_TOKENS = 4_000;

/** The reasoning of Google's models: it counts against the limit of the reply. */
export function thoughtTokensOf({ model, reasoning_effort }: ChatCompletionsRequest): number {
  if (!THINKS.test(model)) return 0;
  return THOUGHT_TOKENS[reasoning_effort ?? ""] ?? UNASKED_THOUGHT_TOKENS;
}

export function geminiRefusal(request: ChatCompletionsRequest): ApiError | undefined {
  if (request.reasoning_effort !== "none" || !THINKS_ALWAYS.test(request.model)) return undefined;
  return googleError("Budget 0 is invalid. This model only works in thinking mode.");
}

/** OpenAI's arguments come in pieces of about this length. */
const ARGUMENTS_PIECE_CHARACTERS = 6;

export interface ChatDialect extends StreamDialect {
  /** The complete response, for a request without `stream`. */
  whole(reply: Reply): object;
}

/** Server-sent events of `chat.completion.chunk` objects; Groq always reports usage, in `x_groq`. */
export function chatDialect(
  vendor: "openai" | "groq",
  request: ChatCompletionsRequest,
  id: number,
  /** Additional fields of the first tool call. */
  signature: object = {},
): ChatDialect {
  const isGroq = vendor === "groq";
  const wantsUsage = request.stream_options?.include_usage === true;
  const wantsPadding = !isGroq && request.stream_options?.include_obfuscation !== false;
  const idOf = (position: number) =>
    isMistral(request) ? mistralCallId(id, position) : `call_${id}_${position}`;
  const common = {
    id: `chatcmpl-${id}`,
    created: Math.floor(Date.now() / 1000),
    model: request.model,
    system_fingerprint: "fp_sandbox",
  };
  const chunk = (delta: object, finishReason: string | null, more: object = {}): string =>
    event({
      ...common,
      object: "chat.completion.chunk",
      ...(isGroq ? {} : { service_tier: "default" }),
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }],
      ...(wantsUsage && !isGroq ? { usage: null } : {}),
      ...(wantsPadding ? { obfuscation: "aB3xY" } : {}),
      ...more,
    });
  const openingDelta = { role: "assistant", content: "", ...(isGroq ? {} : { refusal: null }) };
  return {
    contentType: isGroq ? "text/event-stream" : "text/event-stream; charset=utf-8",
    headers: limitHeaders(id),
    opening: () => chunk(openingDelta, null, isGroq ? { x_groq: { id: `req_${id}` } } : {}),
    token: (text) => chunk({ content: text }, null),
    toolCall: (call, position) => {
      const deltas = isGroq ? [wholeCall(call, idOf(position))] : callPieces(call, idOf(position));
      return deltas.map((delta, piece) => {
        const extra = position === 0 && piece === 0 ? signature : {};
        return chunk({ tool_calls: [{ index: position, ...delta, ...extra }] }, null);
      });
    },
    closing: (reply, isWhole) => {
      const groqUsage = { x_groq: { id: `req_${id}`, usage: usageOf(reply, true) } };
      const last = chunk({}, finishReasonOf(reply), isGroq ? groqUsage : {});
      const usage = { ...common, object: "chat.completion.chunk", choices: [] };
      const asked = wantsUsage ? event({ ...usage, usage: usageOf(reply, isGroq) }) : "";
      return isWhole ? `${last}${asked}data: [DONE]\n\n` : last;
    },
    error: () => event({ error: midStreamError(isGroq) }),
    filler: () => `: keep-alive\r\n\r\n${chunk({ content: "" }, null)}`,
    whole: (reply) => ({
      ...common,
      object: "chat.completion",
      choices: [
        {
          index: 0,
          message: wholeMessage(reply, idOf, signature),
          logprobs: null,
          finish_reason: finishReasonOf(reply),
        },
      ],
      usage: usageOf(reply, isGroq),
    }),
  };
}

function wholeMessage(
  { tokens, toolCalls }: Reply,
  idOf: (position: number) => string,
  signature: object,
): object {
  if (toolCalls.length === 0) return { role: "assistant", content: tokens.join("") };
  return {
    role: "assistant",
    content: tokens.length === 0 ? null : tokens.join(""),
    tool_calls: toolCalls.map((call, position) => ({
      ...wholeCall(call, idOf(position)),
      ...(position === 0 ? signature : {}),
    })),
  };
}

function wholeCall({ name, argumentsJson }: SimulatedToolCall, id: string) {
  const called = { name, arguments: argumentsJson };
  return { id, type: "function", function: called };
}

/** The first names the call, the others contain its arguments. */
function callPieces(call: SimulatedToolCall, id: string): readonly object[] {
  const first = wholeCall({ ...call, argumentsJson: "" }, id);
  const pieces: object[] = [first];
  for (let at = 0; at < call.argumentsJson.length; at += ARGUMENTS_PIECE_CHARACTERS) {
    const text = call.argumentsJson.slice(at, at + ARGUMENTS_PIECE_CHARACTERS);
    pieces.push({ function: { arguments: text } });
  }
  return pieces;
}

function finishReasonOf({ finishReason }: Reply): string {
  return finishReason === "toolCalls" ? "tool_calls" : finishReason;
}

function midStreamError(isGroq: boolean): object {
  const message = "The sandbox was told to fail here.";
  if (!isGroq) return { message, type: "server_error", param: null, code: null };
  const type = "invalid_request_error";
  return { message, type, code: "tool_use_failed", failed_generation: "", status_code: 400 };
}

function event(body: object): string {
  return `data: ${JSON.stringify(body)}\n\n`;
}

function usageOf({ promptTokens, completionTokens }: Reply, isGroq: boolean): object {
  const usage = {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  };
  if (isGroq) {
    return {
      queue_time: 0.001,
      prompt_time: 0.002,
      completion_time: 0.01,
      total_time: 0.012,
      ...usage,
    };
  }
  return {
    ...usage,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: 0,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

function limitHeaders(id: number): Record<string, string> {
  return {
    "x-request-id": `req_${id}`,
    "x-ratelimit-limit-requests": "10000",
    "x-ratelimit-remaining-requests": "9999",
    "x-ratelimit-reset-requests": "8.64s",
    "x-ratelimit-limit-tokens": "200000",
    "x-ratelimit-remaining-tokens": "199000",
    "x-ratelimit-reset-tokens": "6m0s",
  };
}

/** `POST /chat/completions` of OpenAI and Groq, each with its own limits, chunks and usage. */
export async function answerChatCompletion(request: ApiRequest): Promise<void> {
  const { context, vendor, exchange, id, receivedNs } = request;
  const parsed = v.safeParse(ChatCompletionsRequest, await exchange.readJson());
  const said = parsed.success ? parsed.output.messages.at(-1)?.content : undefined;
  context.journal.record(vendor, "request", id, said, receivedNs);
  const fault = takeFault(context.faults, vendor);
  const refusal = refusalOf(request, fault);
  if (refusal !== undefined) refuse(request, refusal);
  else if (parsed.success) await answer(request, parsed.output, fault);
  else {
    const issue = parsed.issues[0];
    refuse(request, badRequest(issue.message, v.getDotPath(issue) ?? "body", null));
  }
}

async function answer(
  request: ApiRequest,
  body: ChatCompletionsRequest,
  fault: ChatFault | undefined,
): Promise<void> {
  const { context, vendor, exchange, id } = request;
  const isOpenAi = vendor === "openai" && context.isOpen !== true;
  const isStrict = isOpenAi && context.faults.openai.strictModels === true;
  const rules = vendor === "groq" ? undefined : rulesOf(body.model, isStrict);
  const refusal =
    retiredModelRefusal(vendor, body.model) ??
    (vendor === "groq"
      ? (groqRefusal(body) ?? groqModelRefusal(body) ?? strangeFieldRefusal(body, "groq"))
      : (openAiRefusal(body) ??
        (rules && modelRefusal(body, rules)) ??
        signatureRefusal(body, rules) ??
        geminiRefusal(body) ??
        mistralRefusal(body) ??
        (isOpenAi ? strangeFieldRefusal(body, "openai") : undefined)));
  if (refusal !== undefined) {
    refuse(request, refusal);
    return;
  }
  const mayUse = body.tool_choice !== "none";
  const offered = (mayUse && body.tools?.map((tool) => tool.function)) || [];
  const limit = body.max_completion_tokens ?? body.max_tokens ?? undefined;
  const tokensMax = limit === undefined ? undefined : Math.max(0, limit - thoughtTokensOf(body));
  const reply = composeReply(body.messages, offered, tokensMax, fault);
  const dialect = chatDialect(vendor, body, id, signed(rules, id));
  if (body.stream === true) {
    await streamReply(context, vendor, id, exchange, dialect, reply, fault);
    return;
  }
  await answerWhole(request, fault, dialect.whole(reply), dialect.headers);
}
