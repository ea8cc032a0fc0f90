/** What a tool that has failed has the agent say. */

import type { ChatMessage } from "../vendors/contracts.js";
import type { ToolDoneEvent } from "./events.js";
import { isCallerSpeaking } from "./filler.js";
import { speakable } from "./sentences.js";
import type { ConversationState, Turn } from "./state.js";
import { toolNamed, toolNameOf } from "./tools.js";

/**
 * What the agent says because the tool of a turn has failed, once in a turn. Nothing while the caller speaks: the
 * LLM gets the failure in any case.
 */
export function takeFailureSentence(
  state: ConversationState,
  turn: Turn,
  { turnId, callId, isFailed, voiceAgoMs }: ToolDoneEvent,
): string | undefined {
  if (isFailed !== true || turn.failureSentence !== undefined || !turn.generating) return undefined;
  const name = toolNameOf(state, turn, { turnId, callId });
  const sentence = name === undefined ? undefined : failureSentenceOf(state, name);
  if (sentence === undefined || isCallerSpeaking(state, turn, voiceAgoMs)) return undefined;
  turn.failureSentence = sentence;
  return sentence;
}

/** The sentence of the tool with that name; undefined if it has none. */
export function failureSentenceOf(state: ConversationState, name: string): string | undefined {
  const tool = toolNamed(state, name);
  return tool !== undefined && "onFailure" in tool ? tool.onFailure : undefined;
}

/** The result of a failed tool for the LLM, so that it does not say the same again. */
export function withSaid(content: string, sentence: string): string {
  const result = objectIn(content) ?? { ok: false, error: content };
  return JSON.stringify({ ...result, alreadySaid: sentence });
}

/**
 * The turn is over, and its caller has heard `played`: a failure whose sentence is not part of it is still to be told,
 * so the LLM no longer reads that it was said.
 */
export function withdrawUnheardFailure(state: ConversationState, turn: Turn, played: string): void {
  const { failureSentence: sentence } = turn;
  if (sentence === undefined || played.includes(speakable(sentence))) return;
  const { toolsDone, background } = state;
  const corrected = (messages: readonly ChatMessage[]) =>
    messages.map((message) =>
      message.role === "tool"
        ? { ...message, content: withoutSaid(message.content, sentence) }
        : message,
    );
  turn.toolMessages = corrected(turn.toolMessages);
  if (toolsDone !== undefined) {
    state.toolsDone = { ...toolsDone, messages: corrected(toolsDone.messages) };
  }
  state.background = { ...background, results: background.results.map(corrected) };
}

function withoutSaid(content: string, sentence: string): string {
  const result = objectIn(content);
  if (result === undefined || !("alreadySaid" in result)) return content;
  const { alreadySaid, ...rest } = result;
  return alreadySaid === sentence ? JSON.stringify(rest) : content;
}

function objectIn(content: string): object | undefined {
  try {
    const result: unknown = JSON.parse(content);
    const isObject = typeof result === "object" && result !== null && !Array.isArray(result);
    return isObject ? result : undefined;
  } catch {
    return undefined;
  }
}
