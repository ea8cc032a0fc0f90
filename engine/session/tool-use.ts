import type { ToolCall } from "../vendors/contracts.js";
import type { SessionEffect } from "./effects.js";
import { AGENT_HUNG_UP, type Ending } from "./ending.js";
import type { SessionState, SessionTool } from "./state.js";
import { isWaitingWord, splitterFor, type Turn } from "./turn.js";

/** How often a model may ask for tools before it has to answer; models have been seen to loop. */
const TOOL_ROUNDS_MAX = 4;
const TOOLS_AT_ONCE_MAX = 8;
/** A tool has its own, shorter time-out; this one is for a tool that never answers. */
const TOOLS_MAX_MS = 15_000;

/**
 * The model has asked for tools. Hanging up and transferring are terminal: what was said so far is heard, then the call
 * ends so, and nothing more is asked. The others are started, and the model goes on with what comes of them. Undefined when it has asked too often.
 */
export function useTools(
  state: SessionState,
  turn: Turn,
  calls: readonly ToolCall[],
  out: SessionEffect[],
): Turn | undefined {
  const { tools } = state.settings;
  for (const call of calls) {
    const ending = endingOf(tools.find((tool) => tool.name === call.name));
    if (ending !== undefined) return { ...turn, generating: false, ending };
  }
  if (turn.toolRounds >= TOOL_ROUNDS_MAX) return undefined;
  const started = calls.slice(0, TOOLS_AT_ONCE_MAX);
  for (const call of started) out.push({ type: "runTool", turnId: turn.id, call });
  out.push({ type: "startTimer", timer: "stall", delayMs: TOOLS_MAX_MS });
  const said = turn.sentences.filter((sentence) => !isWaitingWord(sentence));
  const content = said.map((sentence) => sentence.text).join(" ");
  return {
    ...turn,
    splitter: splitterFor(state.settings),
    toolRounds: turn.toolRounds + 1,
    toolsWaiting: started.map((call) => call.id),
    toolMessages: [...turn.toolMessages, { role: "assistant", content, toolCalls: started }],
  };
}

/** A tool has answered; undefined when it was not waited for any more. */
export function withToolResult(turn: Turn, callId: string, content: string): Turn | undefined {
  if (!turn.toolsWaiting.includes(callId)) return undefined;
  return {
    ...turn,
    toolsWaiting: turn.toolsWaiting.filter((waiting) => waiting !== callId),
    toolMessages: [...turn.toolMessages, { role: "tool", toolCallId: callId, content }],
  };
}

function endingOf(tool: SessionTool | undefined): Ending | undefined {
  if (tool?.kind === "hangup") return AGENT_HUNG_UP;
  if (tool?.kind !== "transfer") return undefined;
  const message = "the agent transferred the call";
  return { reason: "transferred", status: "completed", message, transferTo: tool.to };
}
