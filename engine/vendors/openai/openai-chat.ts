import * as v from "valibot";
import {
  ChatCompletions,
  type ChatDialect,
  REASONING_HEADROOM_TOKENS,
} from "../chat-completions/chat-completions.js";
import type { CompletionRequest, LanguageModel } from "../contracts.js";
import { choice } from "../setting-fields.js";
import { parseSettings, type VendorContext, type VendorSettings } from "../vendor-settings.js";

export const OPENAI_URL = "https://api.openai.com/v1";

export const OPENAI_FIELDS = {
  reasoningEffort: v.optional(choice(["none", "minimal", "low", "medium", "high"]), "low"),
};

/** Families that think before they speak: they refuse a temperature other than their own. */
const REASONING_MODEL = /^(?:o\d|gpt-5(?!.*chat))/;

/** Those of them that refuse functions while they think. */
const THINKS_WITHOUT_TOOLS = /^gpt-5\.(?:[2-9]|\d\d)/;

export function openAi(given: VendorSettings, context: VendorContext): LanguageModel {
  const { reasoningEffort } = parseSettings("openai", OPENAI_FIELDS, given);
  const dialect: ChatDialect = {
    vendor: "openai",
    publicUrl: OPENAI_URL,
    parameters: (request) => ({
      stream_options: { include_usage: true },
      ...(REASONING_MODEL.test(request.modelId)
        ? reasoningParameters(request, reasoningEffort)
        : {
            max_completion_tokens: request.maxTokens,
            temperature: request.temperature,
          }),
    }),
  };
  return new ChatCompletions(dialect, given, context);
}

function reasoningParameters(
  { modelId, maxTokens, tools = [] }: CompletionRequest,
  effort: string,
) {
  const mayThink = tools.length === 0 || !THINKS_WITHOUT_TOOLS.test(modelId);
  return {
    max_completion_tokens: maxTokens + REASONING_HEADROOM_TOKENS,
    reasoning_effort: mayThink ? effort : "none",
  };
}
