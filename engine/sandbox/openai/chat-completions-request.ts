import * as v from "valibot";
import {
  ToolsOffered,
  toolConversationFault,
  toolMessageFields,
} from "../language-model/tool-offer.js";
import { type ApiError, badRequest } from "./api-error.js";

/** The content of a message is text, or parts of which the text ones count. */
export const MessageContent = v.union([
  v.string(),
  v.pipe(
    v.array(v.looseObject({ type: v.string(), text: v.optional(v.string()) })),
    v.transform((parts) => parts.map(({ text }) => text ?? "").join("")),
  ),
  v.pipe(
    v.null(),
    v.transform(() => ""),
  ),
]);

export const ChatCompletionsRequest = v.looseObject({
  model: v.pipe(v.string(), v.minLength(1)),
  messages: v.pipe(
    v.array(
      v.looseObject({
        role: v.picklist(["system", "developer", "user", "assistant", "tool"]),
        content: v.optional(MessageContent, ""),
        ...toolMessageFields,
      }),
    ),
    v.minLength(1),
  ),
  tools: v.optional(v.nullable(v.pipe(ToolsOffered, v.minLength(1)))),
  stream: v.optional(v.nullable(v.boolean())),
  stream_options: v.optional(
    v.nullable(
      v.looseObject({
        include_usage: v.optional(v.boolean()),
        include_obfuscation: v.optional(v.boolean()),
      }),
    ),
  ),
  temperature: v.optional(v.nullable(v.pipe(v.number(), v.minValue(0), v.maxValue(2)))),
  max_tokens: v.optional(v.nullable(v.pipe(v.number(), v.integer(), v.minValue(1)))),
  max_completion_tokens: v.optional(v.nullable(v.pipe(v.number(), v.integer(), v.minValue(1)))),
  n: v.optional(v.nullable(v.pipe(v.number(), v.integer()))),
  logprobs: v.optional(v.nullable(v.boolean())),
  reasoning_effort: v.optional(v.nullable(v.string())),
});
export type ChatCompletionsRequest = v.InferOutput<typeof ChatCompletionsRequest>;

/** Models that reason take neither a temperature nor the old name of the limit. */
export const REASONING_MODEL = /^(?:o\d|gpt-5)/;

/** They use no functions here while they think. */
const THINKS_WITHOUT_TOOLS = /^gpt-5\.(?:[2-9]|\d\d)(?!.*chat)/;
/** Those of them that think unless they are told not to. */
const THINKS_UNASKED = /^gpt-5\.(?:[6-9]|\d\d)/;

export function openAiRefusal(request: ChatCompletionsRequest): ApiError | undefined {
  const fault = toolConversationFault(request.messages);
  if (fault !== undefined) return badRequest(fault, "messages", null);
  if (request.stream_options != null && request.stream !== true) {
    return badRequest("stream_options is only allowed when stream is set", "stream_options", null);
  }
  if (!REASONING_MODEL.test(request.model)) return undefined;
  if (request.max_tokens != null) {
    const message = "max_tokens is not supported with this model: use max_completion_tokens";
    return badRequest(message, "max_tokens", "unsupported_parameter");
  }
  if (request.temperature != null && request.temperature !== 1) {
    return badRequest("this model takes temperature 1 only", "temperature", "unsupported_value");
  }
  return thoughtRefusal(request);
}

function thoughtRefusal({ model, tools, reasoning_effort }: ChatCompletionsRequest) {
  if (tools == null || !THINKS_WITHOUT_TOOLS.test(model)) return undefined;
  const effort = reasoning_effort ?? (THINKS_UNASKED.test(model) ? "medium" : "none");
  if (effort === "none") return undefined;
  const message =
    `Function tools with reasoning_effort are not supported for ${model} in /v1/chat/completions. ` +
    "To use function tools, use /v1/responses or set reasoning_effort to 'none'.";
  return badRequest(message, "reasoning_effort", null);
}

export function groqRefusal(request: ChatCompletionsRequest): ApiError | undefined {
  const fault = toolConversationFault(request.messages);
  if (fault !== undefined) return badRequest(fault, "messages", null);
  if (request.n != null && request.n !== 1) return badRequest("n must be 1", "n", null);
  if (request.logprobs === true) return badRequest("logprobs is not supported", "logprobs", null);
  return undefined;
}
