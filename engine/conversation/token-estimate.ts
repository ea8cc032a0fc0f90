import type { ChatMessage } from "../vendors/contracts.js";
import type { ConversationState, Turn } from "./state.js";

const CHARS_PER_TOKEN = 4;

/**
 * A generation that was stopped is billed, but the vendor does not report how much. `ownChars`: its passages and its text.
 */
export function estimateTokens(
  state: ConversationState,
  userText: string,
  ownChars: number,
): number {
  let chars = state.settings.systemPromptChars + userText.length + ownChars;
  for (const message of state.record.history) chars += message.content.length;
  return Math.ceil(chars / CHARS_PER_TOKEN);
}

/** The same for a request of its own. */
export function estimatedTokensOf(messages: readonly ChatMessage[]): number {
  const chars = messages.reduce((sum, { content }) => sum + (content?.length ?? 0), 0);
  return Math.ceil(chars / CHARS_PER_TOKEN);
}

/** Estimated tokens of an aborted reply. Zero once the vendor has reported usage, and while tools are running. */
export function estimatedTokens(state: ConversationState, turn: Turn): number {
  if (
    !turn.generating ||
    turn.kind !== "reply" ||
    turn.toolsWaiting.length > 0 ||
    turn.waitsForTools
  ) {
    return 0;
  }
  return estimateTokens(state, turn.userText, turn.passagesChars + turn.replyChars);
}

/** Counts a generation that ends without the vendor's own usage. */
export function countStoppedReply(state: ConversationState, turn: Turn): void {
  const tokens = estimatedTokens(state, turn);
  if (tokens === 0) return;
  state.record.metrics = {
    ...state.record.metrics,
    totalTokens: state.record.metrics.totalTokens + tokens,
  };
}
