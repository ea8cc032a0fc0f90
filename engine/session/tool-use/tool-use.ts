import type { ChatMessage, ToolCall } from "../../vendors/contracts.js";
import type { SessionEffect } from "../effects.js";
import { AGENT_HUNG_UP, type Ending } from "../ending.js";
import type { ReplyDoneEvent } from "../events.js";
import type { SessionState, SessionTool } from "../state.js";
import { isGrowing, isWaitingWord, splitterFor, type Turn } from "../turn.js";

/** How often a model may ask for tools before it has to answer; models have been seen to loop. */
const TOOL_ROUNDS_MAX = 4;
const TOOLS_AT_ONCE_MAX = 8;
const PUT_OFF = JSON.stringify({
  ok: false,
  error: "not done yet: first read what the other tools did, then ask for this alone",
});
/** A tool has its own, shorter time-out; this one is for a tool that never answers. */
const TOOLS_MAX_MS = 15_000;

/**
 * The model has asked for tools. Hanging up and transferring are terminal: what was said so far is heard, then the call
 * ends so, and nothing more is asked. The others are started, and the model goes on with what comes of them; with them,
 * what is terminal is put off, since the end would stop them at their work. Undefined when it has asked too often.
 */
export function useTools(
  state: SessionState,
  turn: Turn,
  { toolCalls = [], atMs }: ReplyDoneEvent,
  out: SessionEffect[],
): Turn | undefined {
  const toolOf = ({ name }: ToolCall) => state.settings.tools.find((tool) => tool.name === name);
  const endingFor = (call: ToolCall) => endingOf(toolOf(call));
  const asked = toolCalls.slice(0, TOOLS_AT_ONCE_MAX);
  const started = asked.filter((call) => endingFor(call) === undefined);
  const terminal = toolCalls.find((call) => endingFor(call) !== undefined);
  const ending = terminal && endingFor(terminal);
  const isOver = turn.toolRounds >= TOOL_ROUNDS_MAX;
  if (ending !== undefined && (started.length === 0 || isOver)) {
    return { ...turn, generating: false, ending };
  }
  if (isOver) return undefined;
  const keysToPress = started.filter((call) => toolOf(call)?.kind === "sendDigits");
  for (const call of started) {
    if (keysToPress.includes(call)) continue;
    // What has begun at a service ends there; the caller's page is there until the call ends.
    const until = toolOf(call)?.kind === "client" ? "callEnds" : "done";
    out.push({ type: "runTool", turnId: turn.id, call, until });
  }
  out.push({ type: "startTimer", timer: "stall", delayMs: TOOLS_MAX_MS });
  const said = turn.sentences.filter((sentence) => !isWaitingWord(sentence));
  const content = said.map((sentence) => sentence.text).join(" ");
  return {
    ...turn,
    splitter: splitterFor(state.settings),
    progressAtMs: atMs,
    toolRounds: turn.toolRounds + 1,
    toolsWaiting: started.map((call) => call.id),
    keyCallIds: keysToPress.map((call) => call.id),
    keysToPress,
    toolMessages: [
      ...turn.toolMessages,
      { role: "assistant", content, toolCalls: asked },
      ...asked.filter((call) => !started.includes(call)).map(putOff),
    ],
  };
}

/** Keys are heard behind what was said before them, so they are pressed when all of that has been sent. */
export function pressKeys(turn: Turn, atMs: number, out: SessionEffect[]): Turn {
  const { keysToPress, sentCount, sentences, generating } = turn;
  if (keysToPress.length === 0 || !generating) return turn;
  if (sentCount < sentences.length || isGrowing(turn)) return turn;
  for (const call of keysToPress) {
    out.push({ type: "runTool", turnId: turn.id, call, until: "turnEnds" });
  }
  return { ...turn, keysToPress: [], progressAtMs: atMs };
}

/** Keys of the agent's sound: nobody's words stop them, and it says nothing meanwhile. */
export function isAtKeys(turn: Turn, atMs: number): boolean {
  const { keyCallIds, keysToPress, toolsWaiting, ledger } = turn;
  const isPressing = keyCallIds.some((id) => toolsWaiting.includes(id));
  return isPressing && keysToPress.length === 0 && atMs >= ledger.endsAtMs;
}

/** So long the tools at work are waited for, whatever was said before; minus infinity where there are none. */
export function toolsDueMs({ toolsWaiting, progressAtMs, generating }: Turn): number {
  const isWaited = generating && toolsWaiting.length > 0;
  return isWaited ? progressAtMs + TOOLS_MAX_MS : Number.NEGATIVE_INFINITY;
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

function putOff({ id }: ToolCall): ChatMessage {
  return { role: "tool", toolCallId: id, content: PUT_OFF };
}

function endingOf(tool: SessionTool | undefined): Ending | undefined {
  if (tool?.kind === "hangup") return AGENT_HUNG_UP;
  if (tool?.kind !== "transfer") return undefined;
  const message = "the agent transferred the call";
  return { reason: "transferred", status: "completed", message, transferTo: tool.to };
}
