/** Tools that run beside the conversation: the agent speaks on, and their results enter it when they come. */

import type { ChatMessage } from "../vendors/contracts.js";
import { clearDeadline, setDeadline } from "./deadlines.js";
import type { ToolDoneEvent } from "./events.js";
import { type ConversationState, NO_BACKGROUND_TOOLS, type Turn } from "./state.js";
import { failureSentenceOf, withSaid } from "./tool-failure.js";

/** Results that no reply has used yet; of more, the newest are kept. */
const RESULTS_MAX = 8;

/** Takes the result of a tool in the background; false where the call is none. */
export function takeBackgroundResult(
  state: ConversationState,
  { turnId, callId, content, isFailed, atMs }: ToolDoneEvent,
): boolean {
  const { calls, results, isTurnDue, failure } = state.background;
  const done = calls.find((each) => each.turnId === turnId && each.call.id === callId);
  if (done === undefined) return false;
  // The call itself was answered when it began, so that its result stands behind a call of its own.
  const call = { ...done.call, id: `${callId}_result` };
  const exchange: readonly ChatMessage[] = [
    { role: "assistant", content: "", toolCalls: [call] },
    { role: "tool", toolCallId: call.id, content },
  ];
  const sentence = isFailed === true ? failureSentenceOf(state, call.name) : undefined;
  state.background = {
    calls: calls.filter((each) => each !== done),
    results: [...results, exchange].slice(-RESULTS_MAX),
    isTurnDue: isTurnDue || done.startsTurn || sentence !== undefined,
    isLastTry: false,
    failure: failure ?? (sentence === undefined ? undefined : { sentence, callId: call.id }),
  };
  if (state.background.isTurnDue) setDeadline(state, "backgroundResult", atMs);
  return true;
}

/** A reply is requested: it reads what has come. In a turn that has called tools it stands behind their calls. */
export function useBackgroundResults(state: ConversationState, turn: Turn): void {
  const { calls, results, isTurnDue } = state.background;
  if (results.length === 0 && !isTurnDue) return;
  if (turn.toolRounds > 0) turn.toolMessages = [...turn.toolMessages, ...results.flat()];
  else if (results.length > 0) {
    const { question = "", covered = "", messages = [], pending = [] } = state.toolsDone ?? {};
    state.toolsDone = { question, covered, messages: [...messages, ...results.flat()], pending };
  }
  state.background = { ...NO_BACKGROUND_TOOLS, calls };
  clearDeadline(state, "backgroundResult");
}

/** The sentence that the turn for a failed tool begins with; the LLM reads that it was said. */
export function takeFailure(state: ConversationState): string | undefined {
  const { failure, results } = state.background;
  if (failure === undefined) return undefined;
  const { callId, sentence } = failure;
  const told = results.map((exchange) =>
    exchange.map((message) =>
      message.role === "tool" && message.toolCallId === callId
        ? { ...message, content: withSaid(message.content, sentence) }
        : message,
    ),
  );
  state.background = { ...state.background, results: told, failure: undefined };
  return sentence;
}

/** Repeats results whose turn ended before the caller heard anything of it. */
export function retryResultTurn(state: ConversationState, turn: Turn, atMs: number): void {
  if (turn.resultTry !== "first") return;
  const isLastTry = state.background.results.length === 0;
  state.background = { ...state.background, isTurnDue: true, isLastTry };
  setDeadline(state, "backgroundResult", atMs);
}

/** Whether a turn that is due has nothing to tell any more: the caller has heard a reply that read the results. */
export function areResultsTold({ background, toolsDone }: ConversationState): boolean {
  return background.isLastTry && toolsDone === undefined;
}
