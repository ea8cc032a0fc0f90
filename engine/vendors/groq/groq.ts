import {
  ChatCompletions,
  type ChatDialect,
  REASONING_HEADROOM_TOKENS,
} from "../chat-completions/chat-completions.js";
import type { CompletionRequest } from "../contracts.js";
import { HTTP_PROTOCOLS } from "../setting-fields.js";
import { BASE_URL, type Vendor } from "../vendor.js";

const PUBLIC_URL = "https://api.groq.com/openai/v1";

/** Families whose thoughts would otherwise stand in the reply and be spoken. */
const THINKS_ALOUD = /qwen3|qwq|deepseek-r1/;

/** Families that keep their thoughts to a field of its own, which is not read, but think long unless told otherwise. */
const THINKS_APART = /gpt-oss/;

const DIALECT: ChatDialect = {
  vendor: "groq",
  publicUrl: PUBLIC_URL,
  // Its usage comes without being asked for.
  parameters: (request) => ({
    temperature: request.temperature,
    ...reasoningParameters(request),
  }),
};

export const GROQ: Vendor = {
  key: "groq",
  apiKey: { isRequired: true, variable: "GROQ_API_KEY" },
  address: { variable: "GROQ_BASE_URL", publicUrl: PUBLIC_URL, protocols: HTTP_PROTOCOLS },
  llm: {
    displayName: "Groq",
    models: [
      {
        modelId: "llama-3.1-8b-instant",
        label: "Llama 3.1 8B",
        description: "Fastest answers",
        plan: "free",
      },
      { modelId: "openai/gpt-oss-20b", label: "GPT-OSS 20B", plan: "starter" },
      { modelId: "llama-3.3-70b-versatile", label: "Llama 3.3 70B", plan: "starter" },
      { modelId: "openai/gpt-oss-120b", label: "GPT-OSS 120B", plan: "pro" },
    ],
    fields: {},
    settings: [BASE_URL],
    client: (given, context) => new ChatCompletions(DIALECT, given, context),
  },
};

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
