import type { SessionState } from "./state.js";

const CHARS_PER_TOKEN = 4;

/** A generation that was stopped is billed all the same, but the vendor does not say for how much. */
export function estimateTokens(state: SessionState, userText: string, replyChars: number): number {
  let chars = state.settings.systemPromptChars + userText.length + replyChars;
  for (const message of state.history) chars += message.content.length;
  return Math.ceil(chars / CHARS_PER_TOKEN);
}
