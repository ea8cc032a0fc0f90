import type { HistoryMessage } from "../../../storage/records.js";
import type { ChatMessage, ToolCall } from "../../vendors/contracts.js";
import type { ToolDoneEvent } from "../events.js";
import { turnMessages, withMessages } from "../kept-conversation.js";
import type { SessionState } from "../state.js";
import type { Turn } from "../turn.js";
import { toolsDueMs } from "./tool-use.js";

/** More than one turn can come to; of several, what the newest has come to is kept. */
const MESSAGES_MAX = 40;
/** The answer for keys that were stopped while they were pressed. */
const STOPPED = JSON.stringify({
  ok: false,
  error: "it was stopped before its answer came: it may have been done, or not",
});
/** Stands in place of the result of a tool that the caller spoke into, until that comes. */
const AT_WORK = JSON.stringify({
  ok: false,
  error: "it is still at work: its result has not come yet",
});

/** A request that a turn has begun and that goes on at its service, though the turn was stopped. */
interface PendingTool {
  readonly turnId: number;
  readonly callId: string;
  /** No reply waits for its result any longer. */
  readonly dueMs: number;
}

/** What the model has had done for a reply that the caller did not hear to its end: asked anew, it would have it done twice. */
export interface ToolsDone {
  /** The question before the first of the messages, and all of it before the last; empty once it stands in the history. */
  readonly asked: string;
  readonly covered: string;
  readonly messages: readonly ChatMessage[];
  /** In the order of their places in `messages`. */
  readonly pending: readonly PendingTool[];
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
  if (isHeard) return onlyPending(toolsDone);
  const own = withAnswers(turn);
  if (isOpen && own.length === 0) return toolsDone;
  const { asked, between } = isOpen
    ? openQuestion(toolsDone, turn.userText)
    : { asked: "", between: toolsDone?.messages ?? [] };
  const covered = isOpen ? turn.userText : "";
  const pending = pendingOf(turn);
  if (between.length + own.length > MESSAGES_MAX) {
    return { asked: covered, covered, messages: own, pending };
  }
  const messages = [...between, ...own];
  if (messages.length === 0) return undefined;
  return { asked, covered, messages, pending: [...(toolsDone?.pending ?? []), ...pending] };
}

/** How long a reply that begins waits for the results of tools that an earlier turn has begun; 0 where there are none. */
export function pendingToolsMs(
  { toolsDone }: Pick<SessionState, "toolsDone">,
  atMs: number,
): number {
  return Math.max(0, ...(toolsDone?.pending ?? []).map(({ dueMs }) => dueMs - atMs));
}

/** A tool of an earlier turn has answered: the model reads it in the place of its call. */
export function withLateResult(
  state: SessionState,
  { turnId, callId, content }: Pick<ToolDoneEvent, "turnId" | "callId" | "content">,
): SessionState {
  const { toolsDone } = state;
  if (toolsDone === undefined) return state;
  const { pending, messages } = toolsDone;
  const at = pending.findIndex((each) => each.turnId === turnId && each.callId === callId);
  if (at < 0) return state;
  const places = messages.flatMap((message, place) => (isAtWork(message) ? [place] : []));
  const told = messages.map((message, place) =>
    place === places[at] ? { ...message, content } : message,
  );
  const left = pending.filter((_, place) => place !== at);
  return { ...state, toolsDone: { ...toolsDone, messages: told, pending: left } };
}

function isAtWork(message: ChatMessage): boolean {
  return message.role === "tool" && message.content === AT_WORK;
}

/** What was heard needs no telling, but for the calls whose results are still to come. */
function onlyPending(toolsDone: ToolsDone | undefined): ToolsDone | undefined {
  if (toolsDone === undefined || toolsDone.pending.length === 0) return undefined;
  const { pending, messages } = toolsDone;
  const isPending = ({ id }: ToolCall) => pending.some(({ callId }) => callId === id);
  const left = messages.flatMap((message): readonly ChatMessage[] => {
    if (message.role !== "assistant") return isAtWork(message) ? [message] : [];
    const toolCalls = message.toolCalls?.filter(isPending) ?? [];
    return toolCalls.length === 0 ? [] : [{ ...message, toolCalls }];
  });
  return { asked: "", covered: "", messages: left, pending };
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
function withAnswers(turn: Turn): readonly ChatMessage[] {
  const told = turn.toolMessages.map((message) =>
    message.role === "assistant" ? { ...message, content: "" } : message,
  );
  const answers = turn.toolsWaiting.map(
    (toolCallId) =>
      ({
        role: "tool",
        toolCallId,
        content: isOfKeys(turn, toolCallId) ? STOPPED : AT_WORK,
      }) as const,
  );
  return [...told, ...answers];
}

function pendingOf(turn: Turn): readonly PendingTool[] {
  const dueMs = toolsDueMs(turn);
  return turn.toolsWaiting
    .filter((callId) => !isOfKeys(turn, callId))
    .map((callId) => ({ turnId: turn.id, callId, dueMs }));
}

/** Keys are the agent's own sound, and end with it. */
function isOfKeys({ keyCallIds }: Turn, callId: string): boolean {
  return keyCallIds.includes(callId);
}
