import type { ChatMessage } from "../vendors/contracts.js";

/** Stands between the passages and the words that they were searched for. */
const WORDS_LABEL = "The caller's words:";

/**
 * Puts the note with passages before the last words of the caller, in the same message: some models' templates accept no
 * two messages of one role in a row. All before it is as in the request before, so that the vendor's cache has it.
 */
export function withPassages(
  conversation: readonly ChatMessage[],
  note: string,
): readonly ChatMessage[] {
  const at = conversation.findLastIndex(({ role }) => role === "user");
  const asked = conversation[at];
  if (note === "" || asked === undefined) return conversation;
  const content = `${note}\n\n${WORDS_LABEL}\n${asked.content}`;
  return conversation.with(at, { ...asked, content });
}
