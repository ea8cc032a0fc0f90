import type { ApiError } from "./api-error.js";
import type { ChatCompletionsRequest } from "./chat-completions-request.js";
import { googleError } from "./model-rules.js";

const THINKS = /gemini-(?:2\.5-(?:pro|flash(?!-lite))|[3-9]|(?:flash|pro)-latest)/;
const THINKS_ALWAYS = /gemini-2\.5-pro/;

/** A question that is not easy; unasked they think as long as they like. */
const THOUGHT_TOKENS: Readonly<Record<string, number>> = { none: 0, minimal: 100, low: 900 };
const UNASKED_THOUGHT_TOKENS = 4_000;

/** What Google's models think before they speak: it counts against the limit of the reply. */
export function thoughtTokensOf({ model, reasoning_effort }: ChatCompletionsRequest): number {
  if (!THINKS.test(model)) return 0;
  return THOUGHT_TOKENS[reasoning_effort ?? ""] ?? UNASKED_THOUGHT_TOKENS;
}

export function geminiRefusal(request: ChatCompletionsRequest): ApiError | undefined {
  if (request.reasoning_effort !== "none" || !THINKS_ALWAYS.test(request.model)) return undefined;
  return googleError("Budget 0 is invalid. This model only works in thinking mode.");
}
