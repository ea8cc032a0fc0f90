/** Results of tools that stay in the conversation after the reply that used them was heard. */

import type { HistoryMessage, ToolExchange } from "../../storage/records.js";
import type { ChatMessage } from "../vendors/contracts.js";

/** Calls of tools in one conversation; the newest are kept. */
export const TOOL_EXCHANGES_MAX = 16;
/** Their names, arguments and results together: some 3,000 tokens. */
export const TOOL_EXCHANGES_CHARS_MAX = 12_000;
/** A longer result is cut when its reply is over. */
export const KEPT_RESULT_CHARS_MAX = 4_000;
const CUT_NOTE = " [cut]";

/** The calls among the messages that have a result, in the order of the results. */
export function toolExchanges(messages: readonly ChatMessage[]): readonly ToolExchange[] {
  const calls = new Map<string, Pick<ToolExchange, "name" | "argumentsJson">>();
  const exchanges: ToolExchange[] = [];
  for (const message of messages) {
    if (message.role === "assistant") {
      for (const { id, name, argumentsJson } of message.toolCalls ?? [])
        calls.set(id, { name, argumentsJson });
    }
    const call = message.role === "tool" ? calls.get(message.toolCallId) : undefined;
    if (call !== undefined) exchanges.push({ ...call, result: cut(message.content) });
  }
  return exchanges;
}

function cut(result: string): string {
  if (result.length <= KEPT_RESULT_CHARS_MAX) return result;
  return `${result.slice(0, KEPT_RESULT_CHARS_MAX - CUT_NOTE.length)}${CUT_NOTE}`;
}

/** The history with its newest tool calls, within the limits. */
export function withNewestTools(history: readonly HistoryMessage[]): readonly HistoryMessage[] {
  if (history.every(({ tools }) => tools === undefined)) return history;
  let count = 0;
  let chars = 0;
  const fits = ({ name, argumentsJson, result }: ToolExchange) => {
    count += 1;
    chars += name.length + argumentsJson.length + result.length;
    return count <= TOOL_EXCHANGES_MAX && chars <= TOOL_EXCHANGES_CHARS_MAX;
  };
  return history
    .toReversed()
    .map(({ role, content, tools = [] }) => {
      const kept = tools.toReversed().filter(fits).toReversed();
      return { role, content, ...(kept.length > 0 && { tools: kept }) };
    })
    .toReversed();
}

/**
 * The history as an LLM reads it: each tool call with its result stands before the words that followed from it. The ids
 * are new ones, since LLMs number the calls of each reply alike and some vendors refuse an id that occurs twice.
 * `hasTools`: without tools in the request some vendors refuse earlier calls, so that they are left out.
 */
export function historyForModel(
  history: readonly HistoryMessage[],
  hasTools: boolean,
): readonly ChatMessage[] {
  let count = 0;
  return history.flatMap(({ role, content, tools = [] }): readonly ChatMessage[] => {
    const exchanges = (hasTools ? tools : []).flatMap(({ name, argumentsJson, result }) => {
      count += 1;
      const id = `earlier_${count}`;
      return [
        { role: "assistant", content: "", toolCalls: [{ id, name, argumentsJson }] },
        { role: "tool", toolCallId: id, content: result },
      ] as const;
    });
    return [...exchanges, { role, content }];
  });
}
