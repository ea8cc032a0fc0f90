/** What a tool that has failed has the agent say. */

import type { ToolDoneEvent } from "./events.js";
import { isCallerSpeaking } from "./filler.js";
import type { ConversationState, Turn } from "./state.js";
import { toolNamed, toolNameOf } from "./tools.js";

/**
 * What the agent says because the tool of a turn has failed, once in a turn. Nothing while the caller speaks: the
 * LLM gets the failure in any case.
 */
export function takeFailureSentence(
  state: ConversationState,
  turn: Turn,
  { callId, isFailed, voiceAgoMs }: ToolDoneEvent,
): string | undefined {
  if (isFailed !== true || turn.hasSaidFailure || !turn.generating) return undefined;
  const name = toolNameOf(state, turn, callId);
  const sentence = name === undefined ? undefined : failureSentenceOf(state, name);
  if (sentence === undefined || isCallerSpeaking(state, turn, voiceAgoMs)) return undefined;
  turn.hasSaidFailure = true;
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

function objectIn(content: string): object | undefined {
  try {
    const result: unknown = JSON.parse(content);
    const isObject = typeof result === "object" && result !== null && !Array.isArray(result);
    return isObject ? result : undefined;
  } catch {
    return undefined;
  }
}
