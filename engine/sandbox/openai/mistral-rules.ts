import type { ApiError } from "./api-error.js";
import type { ChatCompletionsRequest } from "./chat-completions-request.js";
import { extraForbidden, strangeFieldRefusal } from "./model-rules.js";

const MISTRAL_MODEL = /^(?:mistral|ministral|magistral|codestral)-/;
/** It refuses fields that it does not know, such as OpenAI's newer name of the limit. */
const KNOWN_FIELDS: ReadonlySet<string> = new Set([
  "model",
  "messages",
  "tools",
  "tool_choice",
  "parallel_tool_calls",
  "stream",
  "temperature",
  "top_p",
  "max_tokens",
  "stop",
  "n",
  "random_seed",
  "response_format",
  "reasoning_effort",
]);
const CALL_ID = /^[a-zA-Z0-9]{9}$/;

export function isMistral({ model }: ChatCompletionsRequest): boolean {
  return MISTRAL_MODEL.test(model);
}

/** Mistral takes ids of tool calls as it makes them itself, and no others; it has no `error` around what it says. */
export function mistralRefusal(request: ChatCompletionsRequest): ApiError | undefined {
  if (!isMistral(request)) return undefined;
  const unknown = Object.keys(request).find((key) => !KNOWN_FIELDS.has(key));
  if (unknown !== undefined) return extraForbidden(["body", unknown]);
  const strange = strangeFieldRefusal(request, "mistral");
  if (strange !== undefined) return strange;
  const ids = request.messages.flatMap(({ tool_calls, tool_call_id }) => [
    ...(tool_calls ?? []).map(({ id }) => id),
    ...(tool_call_id === undefined ? [] : [tool_call_id]),
  ]);
  const odd = ids.find((id) => !CALL_ID.test(id));
  if (odd === undefined) return undefined;
  const message = `Tool call id was ${odd} but must be a-z, A-Z, 0-9, with a length of 9.`;
  return { status: 400, message, type: "invalid_function_call", code: "3280", isBare: true };
}

export function mistralCallId(id: number, position: number): string {
  return `c${String(id % 1_000_000).padStart(6, "0")}${String(position).padStart(2, "0")}`;
}
