import {
  ChatCompletions,
  type ChatDialect,
  REASONING_HEADROOM_TOKENS,
} from "../chat-completions/chat-completions.js";
import type { CompletionRequest, LanguageModel } from "../contracts.js";
import type { VendorContext, VendorSettings } from "../vendor-settings.js";

/** Families whose thoughts would otherwise stand in the reply and be spoken. */
const THINKS_ALOUD = /qwen3|qwq|deepseek-r1/;

/** Families that keep their thoughts to a field of its own, which is not read, but think long unless told otherwise. */
const THINKS_APART = /gpt-oss/;

const DIALECT: ChatDialect = {
  vendor: "groq",
  publicUrl: "https://api.groq.com/openai/v1",
  // Its usage comes without being asked for.
  parameters: (request) => ({
    temperature: request.temperature,
    ...reasoningParameters(request),
  }),
};

export function groq(given: VendorSettings, context: VendorContext): LanguageModel {
  return new ChatCompletions(DIALECT, given, context);
}

function reasoningParameters({ modelId, maxTokens }: CompletionRequest) {
  const withHeadroom = maxTokens + REASONING_HEADROOM_TOKENS;
  if (THINKS_APART.test(modelId)) {
    return { max_completion_tokens: withHeadroom, reasoning_effort: "low" };
  }
  if (THINKS_ALOUD.test(modelId)) {
    return { max_completion_tokens: withHeadroom, reasoning_format: "hidden" };
  }
  return { max_completion_tokens: maxTokens };
}
