import * as v from "valibot";
import {
  ToolsOffered,
  toolConversationFault,
  toolMessageFields,
} from "../language-model/simulated-language-model.js";
import { type ApiError, badRequest } from "./api-error.js";

/** The content of a message is text, or parts, of which only text counts. */
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
  tool_choice: v.optional(v.unknown()),
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
  reasoning_format: v.optional(v.nullable(v.string())),
});
export type ChatCompletionsRequest = v.InferOutput<typeof ChatCompletionsRequest>;

export function openAiRefusal(request: ChatCompletionsRequest): ApiError | undefined {
  const fault = toolConversationFault(request.messages);
  if (fault !== undefined) return badRequest(fault, "messages", null);
  if (request.stream_options != null && request.stream !== true) {
    return badRequest("stream_options is only allowed when stream is set", "stream_options", null);
  }
  return undefined;
}

export function groqRefusal(request: ChatCompletionsRequest): ApiError | undefined {
  const fault = toolConversationFault(request.messages);
  if (fault !== undefined) return badRequest(fault, "messages", null);
  if (request.n != null && request.n !== 1) return badRequest("n must be 1", "n", null);
  if (request.logprobs === true) return badRequest("logprobs is not supported", "logprobs", null);
  return undefined;
}
