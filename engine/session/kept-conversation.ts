import type { HistoryMessage } from "../../storage/records.js";

/** The contract's bound on what is kept of a conversation, counted in messages. */
export const HISTORY_MESSAGES_MAX = 20;

/** What is kept of a longer conversation: its end, from something that the caller said. An answer to nothing misleads a model. */
export function historyWindow(history: readonly HistoryMessage[]): readonly HistoryMessage[] {
  if (history.length <= HISTORY_MESSAGES_MAX) return history;
  const kept = history.slice(-HISTORY_MESSAGES_MAX);
  return kept.slice(kept.findIndex((message) => message.role === "user"));
}

/** The conversation after these messages too, as much of it as is kept. */
export function withMessages(
  history: readonly HistoryMessage[],
  added: readonly HistoryMessage[],
): readonly HistoryMessage[] {
  return historyWindow(added.reduce(withMessage, history));
}

/** As `withMessages`, and what has left the window by it. */
export function keptAndCut(
  history: readonly HistoryMessage[],
  added: readonly HistoryMessage[],
): { kept: readonly HistoryMessage[]; cut: readonly HistoryMessage[] } {
  const all = added.reduce(withMessage, history);
  const kept = historyWindow(all);
  return { kept, cut: all.slice(0, all.length - kept.length) };
}

/** One question and its answer; of either what is not empty. */
export function turnMessages(userText: string, assistantText: string): readonly HistoryMessage[] {
  const both = [
    { role: "user", content: userText },
    { role: "assistant", content: assistantText },
  ] as const;
  return both.filter(({ content }) => content !== "");
}

export function joinWords(first: string, second: string): string {
  if (first === "") return second;
  return second === "" ? first : `${first} ${second}`;
}

/** Vendors want the roles to take turns: two messages of one role become one. */
function withMessage(
  history: readonly HistoryMessage[],
  { role, content }: HistoryMessage,
): readonly HistoryMessage[] {
  const last = history.at(-1);
  if (last?.role !== role) return [...history, { role, content }];
  return [...history.slice(0, -1), { role, content: joinWords(last.content, content) }];
}
