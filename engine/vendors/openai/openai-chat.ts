import { ChatCompletions, type ChatDialect } from "../chat-completions/chat-completions.js";
import type { LanguageModel } from "../contracts.js";
import type { VendorContext, VendorSettings } from "../vendor-settings.js";

export const OPENAI_URL = "https://api.openai.com/v1";

const DIALECT: ChatDialect = {
  vendor: "openai",
  publicUrl: OPENAI_URL,
  common: { stream_options: { include_usage: true } },
};

export function openAi(given: VendorSettings, context: VendorContext): LanguageModel {
  return new ChatCompletions(DIALECT, given, context);
}
