import type { HistoryMessage } from "../../../storage/records.js";
import type { ChatMessage } from "../../vendors/contracts.js";
import { turnMessages, withMessages } from "../kept-conversation.js";
import type { SessionState } from "../state.js";
import type { Turn } from "../turn.js";

/** More than one turn can come to; of several, what the newest has come to is kept. */
const MESSAGES_MAX = 40;
/** The answer for a tool that was stopped at its work, which its service may have done all the same. */
const STOPPED = JSON.stringify({
  ok: false,
  error: "it was stopped before its answer came: it may have been done, or not",
});

/** What the model has had done for a reply that the caller did not hear to its end: asked anew, it would have it done twice. */
export interface ToolsDone {
  /** The question before the first of the messages, and all of it before the last; empty once it stands in the history. */
  readonly asked: string;
  readonly covered: string;
  readonly messages: readonly ChatMessage[];
}

interface Conversation {
  readonly history: readonly HistoryMessage[];
  readonly toolMessages: readonly ChatMessage[];
}

/** What the model is told for this turn, in the order in which it was said and done. */
export function conversationOf({ history, toolsDone }: SessionState, turn: Turn): Conversation {
  const { asked, between } = openQuestion(toolsDone, turn.userText);
  return {
    history: withMessages(history, turnMessages(asked, "")),
    toolMessages: [...between, ...turn.toolMessages],
  };
}

/** What of it the model is still to be told after this turn. `isOpen`: its question waits for the caller's next words. */
export function toolsDoneAfter(
  { toolsDone }: SessionState,
  turn: Turn,
  { isOpen, isHeard }: { readonly isOpen: boolean; readonly isHeard: boolean },
): ToolsDone | undefined {
  if (turn.kind !== "reply" && turn.kind !== "resumed") return toolsDone;
  if (isHeard) return undefined;
  const own = withAnswers(turn);
  if (isOpen && own.length === 0) return toolsDone;
  const { asked, between } = isOpen
    ? openQuestion(toolsDone, turn.userText)
    : { asked: "", between: toolsDone?.messages ?? [] };
  const covered = isOpen ? turn.userText : "";
  if (between.length + own.length > MESSAGES_MAX) return { asked: covered, covered, messages: own };
  const messages = [...between, ...own];
  return messages.length === 0 ? undefined : { asked, covered, messages };
}

/** The part of a question before all that was done, and what follows on it. */
function openQuestion(toolsDone: ToolsDone | undefined, userText: string) {
  if (toolsDone === undefined) return { asked: userText, between: [] };
  const { asked, covered, messages } = toolsDone;
  const isCovered = covered !== "" && userText.startsWith(covered);
  const rest = isCovered ? userText.slice(covered.length).trimStart() : userText;
  const more: readonly ChatMessage[] = rest === "" ? [] : [{ role: "user", content: rest }];
  return { asked: isCovered ? asked : "", between: [...messages, ...more] };
}

/** Vendors want an answer to each call; words that the caller may not have heard are left out. */
function withAnswers({ toolMessages, toolsWaiting }: Turn): readonly ChatMessage[] {
  const told = toolMessages.map((message) =>
    message.role === "assistant" ? { ...message, content: "" } : message,
  );
  const stopped = toolsWaiting.map(
    (toolCallId) => ({ role: "tool", toolCallId, content: STOPPED }) as const,
  );
  return [...told, ...stopped];
}
