import type { CallMetrics, HistoryMessage } from "../../storage/records.js";
import { type HearingState, onSilenceTimeout } from "../speech/turn-detector.js";
import type { SaidMessage, SessionEffect, TurnOutcome, TurnReport, TurnSave } from "./effects.js";
import type { Ending, EndReason } from "./ending.js";
import { heardText } from "./playback-ledger.js";
import { HISTORY_MESSAGES_MAX, type SessionState } from "./state.js";
import { reportOf, type Turn } from "./turn.js";

const CHARS_PER_TOKEN = 4;
/** Nothing went wrong, and nobody has to be told why. */
const EXPECTED_ENDINGS: ReadonlySet<EndReason> = new Set([
  "callerLeft",
  "agentHungUp",
  "transferred",
]);

/**
 * Closes a turn as it stands at `atMs`: what was heard of it enters the history and the transcript, the rest is
 * forgotten. Of a reply that was not heard at all the question stays, to be answered with the caller's next words.
 */
export function settleTurn(
  state: SessionState,
  turn: Turn,
  outcome: TurnOutcome,
  atMs: number,
  out: SessionEffect[],
): SessionState {
  const heard = heardText(turn.ledger, Math.min(atMs, state.heldAtMs ?? atMs));
  const carried = heard === "" && (outcome === "superseded" || outcome === "interrupted");
  const settled: SessionState = {
    ...state,
    turn: undefined,
    heldAtMs: undefined,
    unanswered: carried ? joinWords(turn.userText, state.unanswered) : state.unanswered,
    history: carried ? state.history : withTurn(state.history, turn.userText, heard),
    unsaved: heard === "" ? state.unsaved : [...state.unsaved, saidByAssistant(turn, heard)],
    ...measured(state, turn, outcome),
  };
  if (heard !== "") {
    out.push({
      type: "send",
      message: { type: "transcript", role: "assistant", text: heard, isFinal: true },
    });
  }
  out.push({ type: "saveTurn", save: saveOf(settled, reportOf(turn, outcome)) });
  return { ...settled, unsaved: [] };
}

/** Ends the call: the turn in progress and words not yet answered are kept as they stand. */
export function endCall(
  state: SessionState,
  ending: Ending,
  atMs: number,
  out: SessionEffect[],
): SessionState {
  const heard = withPendingWords(state, atMs);
  const turn = heard.turn;
  if (turn !== undefined) out.push({ type: "abortTurn", turnId: turn.id });
  const settled = turn === undefined ? heard : settleTurn(heard, turn, "cutOff", atMs, out);
  if (!EXPECTED_ENDINGS.has(ending.reason)) {
    out.push({ type: "send", message: { type: "error", message: ending.message } });
  }
  const history = withTurn(settled.history, settled.unanswered, "");
  const last: SessionState = { ...settled, phase: "ended", unanswered: "", history };
  out.push({ type: "end", ending, save: saveOf(last, undefined) });
  return { ...last, unsaved: [] };
}

export function withTurn(
  history: readonly HistoryMessage[],
  userText: string,
  assistantText: string,
): readonly HistoryMessage[] {
  const asked = withMessage(history, "user", userText);
  return withMessage(asked, "assistant", assistantText).slice(-HISTORY_MESSAGES_MAX);
}

/** Keys that the caller pressed, as the model and the transcript read them. */
export function keypadText(digits: string): string {
  return `[keypad] ${digits}`;
}

export function joinWords(first: string, second: string): string {
  if (first === "") return second;
  return second === "" ? first : `${first} ${second}`;
}

/** Vendors want the roles to take turns: two messages of one role become one. */
function withMessage(
  history: readonly HistoryMessage[],
  role: HistoryMessage["role"],
  content: string,
): readonly HistoryMessage[] {
  if (content === "") return history;
  const last = history.at(-1);
  if (last?.role !== role) return [...history, { role, content }];
  return [...history.slice(0, -1), { role, content: joinWords(last.content, content) }];
}

function saidByAssistant(turn: Turn, text: string): SaidMessage {
  return { role: "assistant", text, atMs: turn.ledger.sent[0]?.startsAtMs ?? turn.decidedAtMs };
}

function withPendingWords(state: SessionState, atMs: number): SessionState {
  const keys = state.digits === "" ? "" : keypadText(state.digits);
  const pending = joinWords(pendingWords(state.hearing), keys);
  if (pending === "") return state;
  const said: SaidMessage = { role: "user", text: pending, atMs: state.utteranceBeganAtMs ?? atMs };
  return {
    ...state,
    unanswered: joinWords(state.unanswered, pending),
    unsaved: [...state.unsaved, said],
  };
}

function pendingWords(hearing: HearingState): string {
  return onSilenceTimeout(hearing).turnText ?? "";
}

function saveOf(state: SessionState, report: TurnReport | undefined): TurnSave {
  const messages = state.unsaved.toSorted((one, other) => one.atMs - other.atMs);
  return { messages, metrics: state.metrics, report, history: state.history };
}

function measured(
  state: SessionState,
  turn: Turn,
  outcome: TurnOutcome,
): Pick<SessionState, "metrics" | "latencySumMs" | "latencyCount"> {
  const { latencySumMs, latencyCount } = state;
  const metrics = {
    ...state.metrics,
    totalTokens: state.metrics.totalTokens + estimatedTokens(state, turn),
  };
  if (turn.kind !== "reply") return { metrics, latencySumMs, latencyCount };
  const turnCount = metrics.turnCount + (outcome === "superseded" ? 0 : 1);
  const counted: CallMetrics = { ...metrics, turnCount };
  if (turn.firstAudioAtMs === undefined) return { metrics: counted, latencySumMs, latencyCount };
  const latencyMs = turn.firstAudioAtMs - turn.callerEndedAtMs;
  const sumMs = latencySumMs + latencyMs;
  const count = latencyCount + 1;
  return {
    latencySumMs: sumMs,
    latencyCount: count,
    metrics: {
      ...counted,
      ttfbMs: latencyCount === 0 ? Math.round(latencyMs) : counted.ttfbMs,
      avgLatencyMs: Math.round(sumMs / count),
    },
  };
}

/** A reply that was stopped is billed all the same, but the vendor does not say for how much: an estimate. */
export function estimatedTokens(state: SessionState, turn: Turn): number {
  if (!turn.generating || turn.kind !== "reply") return 0;
  let chars = state.settings.systemPromptChars + turn.userText.length + turn.replyChars;
  for (const message of state.history) chars += message.content.length;
  return Math.ceil(chars / CHARS_PER_TOKEN);
}
