import type { HistoryMessage, ToolExchange } from "../../storage/records.js";
import type { ChatMessage, ToolCall } from "../vendors/contracts.js";
import { AGENT_HUNG_UP, BRIEFING_CHARACTERS_MAX, type Ending } from "./call-end.js";
import { setDeadline } from "./deadlines.js";
import type { ConversationEffect } from "./effects.js";
import type { ReplyDoneEvent, ToolDoneEvent } from "./events.js";
import {
  type BackgroundCall,
  type ConversationState,
  type ConversationTool,
  isFiller,
  isGrowing,
  type PendingTool,
  splitterFor,
  type ToolsDone,
  type Turn,
  turnMessages,
  withMessages,
} from "./state.js";
import { toolExchanges } from "./tool-history.js";

/**
 * How often an LLM may call tools before it has to answer; LLMs have been seen to loop. Turns that a tool's result has
 * started count together with the turn that called it.
 */
const TOOL_ROUNDS_MAX = 4;
const TOOLS_AT_ONCE_MAX = 8;
const PUT_OFF = JSON.stringify({
  ok: false,
  error: "not done yet: read the results of the other tools first, then call this one alone",
});
/** The result of a tool in the background, so that the LLM can speak on. */
const IN_BACKGROUND = JSON.stringify({
  ok: true,
  status: "started",
  note: "It runs in the background. Its result comes later: do not make it up, and do not start it again.",
});
/** Whether a result says only that the tool runs in the background. */
export function isStartedResult(result: string): boolean {
  return result === IN_BACKGROUND;
}

/** A tool has its own, shorter time-out; this one is for a tool that never answers. */
const TOOLS_MAX_MS = 15_000;

/**
 * Starts the tools that the LLM has called. Hanging up and transferring are terminal: the text so far is played,
 * then the call ends, and nothing more is requested. The LLM continues with the results of the others; together
 * with these a terminal tool is postponed, because the end would cancel them. Returns false when the LLM has
 * called tools too often.
 */
export function useTools(
  state: ConversationState,
  turn: Turn,
  { toolCalls = [], atMs }: ReplyDoneEvent,
  out: ConversationEffect[],
): boolean {
  const toolOf = ({ name }: ToolCall) => toolNamed(state, name);
  const endingFor = (call: ToolCall) => endingOf(toolOf(call), call);
  const asked = toolCalls.slice(0, TOOLS_AT_ONCE_MAX).map((call) => withOwnId(state, turn, call));
  const started = asked.filter((call) => endingFor(call) === undefined);
  const terminal = toolCalls.find((call) => endingFor(call) !== undefined);
  const ending = terminal && endingFor(terminal);
  const isOver = mustAnswer(state);
  if (ending !== undefined && (started.length === 0 || isOver)) {
    turn.generating = false;
    turn.ending = ending;
    return true;
  }
  if (isOver) return false;
  const keysToPress = started.filter((call) => toolOf(call)?.kind === "sendDigits");
  for (const call of started) {
    if (keysToPress.includes(call)) continue;
    out.push({ type: "runTool", turnId: turn.id, call, until: endOfTool(toolOf(call)) });
  }
  setDeadline(state, "turnStall", atMs + TOOLS_MAX_MS);
  const said = turn.sentences.filter((sentence) => !isFiller(sentence));
  const content = said.map((sentence) => sentence.text).join(" ");
  turn.splitter = splitterFor(state.settings);
  turn.progressAtMs = atMs;
  turn.toolRounds += 1;
  state.toolRounds += 1;
  const background = started.filter((call) => backgroundOf(toolOf(call)) !== undefined);
  for (const call of background) {
    const startsTurn = backgroundOf(toolOf(call)) === "reply";
    const begun: BackgroundCall = { turnId: turn.id, call, startsTurn };
    state.background = { ...state.background, calls: [...state.background.calls, begun] };
  }
  turn.toolsWaiting = started.filter((call) => !background.includes(call)).map(({ id }) => id);
  turn.dtmfCallIds = keysToPress.map((call) => call.id);
  turn.keysToPress = keysToPress;
  turn.cancellableCallIds = started
    .filter((call) => endOfTool(toolOf(call)) === "turnEnds")
    .map(({ id }) => id);
  for (const call of started) watchDelay(state, turn, call, atMs);
  turn.toolMessages = [
    ...turn.toolMessages,
    { role: "assistant", content, toolCalls: asked },
    ...asked.filter((call) => !started.includes(call)).map(putOff),
    ...background.map(inBackground),
  ];
  return true;
}

/** The LLM has called tools as often as it may since the caller's last words. */
export function mustAnswer({ toolRounds }: Pick<ConversationState, "toolRounds">): boolean {
  return toolRounds >= TOOL_ROUNDS_MAX;
}

/** What aborts a tool: a request that a service has started runs to its end, unless its author allows otherwise. */
function endOfTool(tool: ConversationTool | undefined): "turnEnds" | "callEnds" | "done" {
  const isCancellable = tool !== undefined && "isCancellable" in tool && tool.isCancellable;
  if (isCancellable && backgroundOf(tool) === undefined) return "turnEnds";
  // The caller's page exists until the call ends.
  return isCancellable || tool?.kind === "client" ? "callEnds" : "done";
}

function watchDelay(state: ConversationState, turn: Turn, call: ToolCall, atMs: number): void {
  const tool = toolNamed(state, call.name);
  if (tool === undefined || !("onDelay" in tool) || tool.onDelay === undefined) return;
  const { text, afterMs } = tool.onDelay;
  const delay = { turnId: turn.id, callId: call.id, text, dueMs: atMs + afterMs };
  state.toolDelays = [...state.toolDelays, delay];
  setDeadline(state, "toolDelay", Math.min(delay.dueMs, state.deadlines.toolDelay ?? delay.dueMs));
}

/** Some LLMs number the calls of each reply alike: one that is still running in the background keeps its id for itself. */
function withOwnId({ background }: ConversationState, turn: Turn, call: ToolCall): ToolCall {
  const isTaken = background.calls.some((running) => running.call.id === call.id);
  return isTaken ? { ...call, id: `${call.id}_${turn.id}_${turn.toolRounds + 1}` } : call;
}

/** DTMF is heard after what was said before it, so it is sent when all of that has been sent. */
export function sendDtmf(turn: Turn, atMs: number, out: ConversationEffect[]): void {
  const { keysToPress, sentCount, sentences, generating } = turn;
  if (keysToPress.length === 0 || !generating) return;
  if (sentCount < sentences.length || isGrowing(turn)) return;
  for (const call of keysToPress) {
    out.push({ type: "runTool", turnId: turn.id, call, until: "turnEnds" });
  }
  turn.keysToPress = [];
  turn.progressAtMs = atMs;
}

/** DTMF in the agent's audio: speech does not stop it, and the agent says nothing meanwhile. */
export function isSendingDtmf(turn: Turn, atMs: number): boolean {
  const { dtmfCallIds, keysToPress, toolsWaiting, ledger } = turn;
  const isPressing = dtmfCallIds.some((id) => toolsWaiting.includes(id));
  return isPressing && keysToPress.length === 0 && atMs >= ledger.endsAtMs;
}

/** The running tools are awaited until then, whatever was said before; minus infinity if none are running. */
export function toolsDueMs({ toolsWaiting, progressAtMs, generating }: Turn): number {
  const isWaited = generating && toolsWaiting.length > 0;
  return isWaited ? progressAtMs + TOOLS_MAX_MS : Number.NEGATIVE_INFINITY;
}

/** A tool has returned; false if its result was no longer awaited. */
export function takeToolResult(turn: Turn, callId: string, content: string): boolean {
  if (!turn.toolsWaiting.includes(callId)) return false;
  turn.toolsWaiting = turn.toolsWaiting.filter((waiting) => waiting !== callId);
  turn.toolMessages = [...turn.toolMessages, { role: "tool", toolCallId: callId, content }];
  return true;
}

function putOff({ id }: ToolCall): ChatMessage {
  return { role: "tool", toolCallId: id, content: PUT_OFF };
}

/** What the LLM called, in this turn or in an earlier one that was cut off; undefined if no result is awaited. */
export function toolNameOf(
  { toolsDone }: ConversationState,
  { id, toolsWaiting, toolMessages }: Turn,
  { turnId, callId }: ToolCallId,
): string | undefined {
  if (id === turnId) {
    return toolsWaiting.includes(callId) ? calledIn(toolMessages, callId) : undefined;
  }
  if (toolsDone === undefined) return undefined;
  const pending = pendingIn(toolsDone, { turnId, callId });
  // Some LLMs number the calls of each reply alike: the call is the last one before its own placeholder.
  return pending && calledIn(toolsDone.messages.slice(0, pending.place), callId);
}

function calledIn(messages: readonly ChatMessage[], callId: string): string | undefined {
  const calls = messages.flatMap((message) =>
    message.role === "assistant" ? (message.toolCalls ?? []) : [],
  );
  return calls.findLast((call) => call.id === callId)?.name;
}

/** A tool of an MCP server is the server's. */
export function toolNamed(
  { settings }: ConversationState,
  name: string,
): ConversationTool | undefined {
  const own = settings.tools.find((tool) => tool.kind !== "mcp" && tool.name === name);
  if (own !== undefined) return own;
  return settings.tools.find((tool) => tool.kind === "mcp" && name.startsWith(`${tool.name}_`));
}

function inBackground({ id }: ToolCall): ChatMessage {
  return { role: "tool", toolCallId: id, content: IN_BACKGROUND };
}

function backgroundOf(tool: ConversationTool | undefined): "quiet" | "reply" | undefined {
  return tool !== undefined && "background" in tool ? tool.background : undefined;
}

/** What the agent says while the tools run; nothing where the LLM has said something, or may use no more tools. */
export function startSentences(
  state: ConversationState,
  { sentences }: Turn,
  toolCalls: readonly ToolCall[],
): readonly string[] {
  const hasSpoken = sentences.some((sentence) => !isFiller(sentence));
  if (hasSpoken || mustAnswer(state)) return [];
  const named = toolCalls.map(({ name }) => toolNamed(state, name));
  const told = named.flatMap((tool) =>
    tool !== undefined && "onStart" in tool && tool.onStart !== undefined ? [tool.onStart] : [],
  );
  return told.slice(0, 1);
}

/** What the LLM says about the call in a warm transfer; empty for arguments that do not fit. */
function briefingIn(argumentsJson: string): string {
  try {
    const given: unknown = JSON.parse(argumentsJson);
    const isObject = typeof given === "object" && given !== null && "summary" in given;
    const summary = isObject && typeof given.summary === "string" ? given.summary : "";
    return summary.slice(0, BRIEFING_CHARACTERS_MAX);
  } catch {
    return "";
  }
}

function endingOf(
  tool: ConversationTool | undefined,
  { argumentsJson }: ToolCall,
): Ending | undefined {
  if (tool?.kind === "hangup") return AGENT_HUNG_UP;
  if (tool?.kind !== "transfer") return undefined;
  const message = "the agent transferred the call";
  const how = {
    ...(tool.isWarm === true && { briefing: briefingIn(argumentsJson) }),
    ...(tool.callerId !== undefined && { callerId: tool.callerId }),
  };
  return { reason: "transferred", status: "completed", message, transferTo: tool.to, ...how };
}

/** More than one turn can reach; of several turns the newest messages are kept. */
const MESSAGES_MAX = 40;
/** The result for DTMF that was stopped while it was sent, and for a request that was aborted. */
const STOPPED = JSON.stringify({
  ok: false,
  error: "it was stopped before its result arrived: it may or may not have been done",
});
/** A placeholder for the result of a tool during which the caller spoke, until the result arrives. */
const AT_WORK = JSON.stringify({
  ok: false,
  error: "it is still running: its result has not arrived yet",
});

interface MessagesForModel {
  readonly history: readonly HistoryMessage[];
  readonly toolMessages: readonly ChatMessage[];
}

/** The LLM's messages for this turn, in the order of the conversation. */
export function conversationOf(
  { record: { history }, toolsDone }: ConversationState,
  turn: Turn,
): MessagesForModel {
  const { question, between } = openQuestion(toolsDone, turn.userText);
  return {
    history: withMessages(history, turnMessages(question, "")),
    toolMessages: [...between, ...turn.toolMessages],
  };
}

/**
 * The tool messages that the LLM still needs after this turn. `isOpen`: the question waits for the caller's next
 * words.
 */
export function toolsDoneAfter(
  { toolsDone }: ConversationState,
  turn: Turn,
  { isOpen, isHeard }: { readonly isOpen: boolean; readonly isHeard: boolean },
): ToolsDone | undefined {
  if (turn.kind !== "reply" && turn.kind !== "resumed") return toolsDone;
  if (isHeard) return onlyPending(toolsDone);
  const own = withAnswers(turn);
  if (isOpen && own.length === 0) return toolsDone;
  const { question, between } = isOpen
    ? openQuestion(toolsDone, turn.userText)
    : { question: "", between: toolsDone?.messages ?? [] };
  const covered = isOpen ? turn.userText : "";
  const pending = pendingOf(turn);
  if (between.length + own.length > MESSAGES_MAX) {
    return { question: covered, covered, messages: own, pending };
  }
  const messages = [...between, ...own];
  if (messages.length === 0) return undefined;
  return { question, covered, messages, pending: [...(toolsDone?.pending ?? []), ...pending] };
}

/** How long a new reply waits for the results of tools that an earlier turn has started; 0 if there are none. */
export function pendingToolsMs(
  { toolsDone }: Pick<ConversationState, "toolsDone">,
  atMs: number,
): number {
  return Math.max(0, ...(toolsDone?.pending ?? []).map(({ dueMs }) => dueMs - atMs));
}

type ToolCallId = Pick<ToolDoneEvent, "turnId" | "callId">;

/** The position of a running call among those of earlier turns, and of the placeholder for its result. */
function pendingIn({ pending, messages }: ToolsDone, { turnId, callId }: ToolCallId) {
  const at = pending.findIndex((each) => each.turnId === turnId && each.callId === callId);
  const places = messages.flatMap((message, place) => (isAtWork(message) ? [place] : []));
  const place = places[at];
  return place === undefined ? undefined : { at, place };
}

/** A tool of an earlier turn has returned: the LLM reads its result next to its call. */
export function takeLateResult(
  state: ConversationState,
  { turnId, callId, content }: Pick<ToolDoneEvent, "turnId" | "callId" | "content">,
): void {
  const { toolsDone } = state;
  if (toolsDone === undefined) return;
  const own = pendingIn(toolsDone, { turnId, callId });
  if (own === undefined) return;
  const { pending, messages } = toolsDone;
  const answered = messages.map((message, place) =>
    place === own.place ? { ...message, content } : message,
  );
  const left = pending.filter((_, at) => at !== own.at);
  state.toolsDone = { ...toolsDone, messages: answered, pending: left };
}

function isAtWork(message: ChatMessage): boolean {
  return message.role === "tool" && message.content === AT_WORK;
}

/** What the tools returned that the reply of this turn has read: it stays in the history with a reply that was heard. */
export function toolsOfHeardReply(
  { toolsDone }: Pick<ConversationState, "toolsDone">,
  { kind, toolMessages }: Turn,
): readonly ToolExchange[] {
  if (kind !== "reply" && kind !== "resumed") return [];
  const read = [...(toolsDone?.messages ?? []), ...toolMessages];
  return toolExchanges(read.filter((message) => !isAtWork(message)));
}

/** Messages of a heard reply are in the history now, except calls whose results are pending. */
function onlyPending(toolsDone: ToolsDone | undefined): ToolsDone | undefined {
  if (toolsDone === undefined || toolsDone.pending.length === 0) return undefined;
  const { pending, messages } = toolsDone;
  const isPending = ({ id }: ToolCall) => pending.some(({ callId }) => callId === id);
  const left = messages.flatMap((message): readonly ChatMessage[] => {
    if (message.role !== "assistant") return isAtWork(message) ? [message] : [];
    const toolCalls = message.toolCalls?.filter(isPending) ?? [];
    return toolCalls.length === 0 ? [] : [{ ...message, toolCalls }];
  });
  return { question: "", covered: "", messages: left, pending };
}

/** The part of a question before all tool calls, and what follows them. */
function openQuestion(toolsDone: ToolsDone | undefined, userText: string) {
  if (toolsDone === undefined) return { question: userText, between: [] };
  const { question, covered, messages } = toolsDone;
  const isCovered = covered !== "" && userText.startsWith(covered);
  const rest = isCovered ? userText.slice(covered.length).trimStart() : userText;
  const more: readonly ChatMessage[] = rest === "" ? [] : [{ role: "user", content: rest }];
  return { question: isCovered ? question : "", between: [...messages, ...more] };
}

/** Vendors require a result for each call; words that the caller may not have heard are left out. */
function withAnswers(turn: Turn): readonly ChatMessage[] {
  const told = turn.toolMessages.map((message) =>
    message.role === "assistant" ? { ...message, content: "" } : message,
  );
  const answers = turn.toolsWaiting.map(
    (toolCallId) =>
      ({
        role: "tool",
        toolCallId,
        content: endsWithTurn(turn, toolCallId) ? STOPPED : AT_WORK,
      }) as const,
  );
  return [...told, ...answers];
}

function pendingOf(turn: Turn): readonly PendingTool[] {
  const dueMs = toolsDueMs(turn);
  return turn.toolsWaiting
    .filter((callId) => !endsWithTurn(turn, callId))
    .map((callId) => ({ turnId: turn.id, callId, dueMs }));
}

/** DTMF is part of the agent's audio, and ends with it; a cancellable tool is aborted. */
function endsWithTurn({ dtmfCallIds, cancellableCallIds }: Turn, callId: string): boolean {
  return dtmfCallIds.includes(callId) || cancellableCallIds.includes(callId);
}
