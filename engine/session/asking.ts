import type { SessionEffect } from "./effects.js";
import type { ToolDoneEvent } from "./events.js";
import { lengthMsOf } from "./playback/playback-ledger.js";
import { STALL_MAX_MS } from "./speaking.js";
import type { SessionState } from "./state.js";
import { paid } from "./token-estimate.js";
import { conversationOf, pendingToolsMs, withLateResult } from "./tool-use/tools-done.js";
import { newTurn, splitterFor, type Turn } from "./turn.js";
import { watchSilence } from "./turn-taking/silence-watch.js";
import { givenUpAtMs } from "./turn-taking/vain-wait.js";

const MODEL_ATTEMPTS_MAX = 2;

export type TurnFields = Pick<Turn, "userText" | "callerEndedAtMs" | "decidedAtMs" | "attempt">;

export function askAnew(
  state: SessionState,
  fields: TurnFields & Partial<Turn>,
  out: SessionEffect[],
): SessionState {
  const id = state.lastTurnId + 1;
  const splitter = splitterFor(state.settings);
  const turn: Turn = { ...newTurn({ id, kind: "reply", ...fields }), splitter, ...fields };
  const pendingMs = pendingToolsMs(state, turn.progressAtMs);
  if (pendingMs > 0) out.push({ type: "startTimer", timer: "stall", delayMs: pendingMs });
  else askModel(state, turn, out);
  if (turn.attempt === 1) watchSilence(state, turn, turn.decidedAtMs, out);
  return { ...state, lastTurnId: id, turn: { ...turn, waitsForTools: pendingMs > 0 } };
}

/** A tool call of an earlier turn has finished. The reply that waits for the last of these calls is requested now. */
export function onLateToolDone(
  state: SessionState,
  event: ToolDoneEvent,
  out: SessionEffect[],
): SessionState {
  const told = withLateResult(state, event);
  const isWaiting = told.turn?.waitsForTools === true && pendingToolsMs(told, event.atMs) > 0;
  return isWaiting ? told : askAfterTools(told, event.atMs, out);
}

/** Their results have come, or are not waited for any longer. */
export function askAfterTools(
  state: SessionState,
  atMs: number,
  out: SessionEffect[],
): SessionState {
  if (state.turn?.waitsForTools !== true) return state;
  const turn = { ...state.turn, waitsForTools: false, progressAtMs: atMs };
  askModel(state, turn, out);
  return { ...state, turn };
}

/** The caller has heard these words all the same, and is told the rest by another try. */
function saidOf(turn: Turn): Partial<Turn> {
  const { waitingWords, ledger, onsetAtMs, hasWaitedForWords, wastedTokens } = turn;
  const { waitedBeforeMs: beforeMs } = turn;
  const sentences = turn.sentences.slice(0, waitingWords);
  const counts = { sentCount: waitingWords, askedCount: waitingWords, waitingWords };
  return {
    sentences,
    ...counts,
    ledger,
    // Its client counts the audio of each turn by itself.
    playedBeforeMs: lengthMsOf(ledger),
    onsetAtMs,
    hasWaitedForWords,
    wastedTokens,
    waitedBeforeMs: beforeMs,
  };
}

/** Asks for the rest of the reply, now that it is known what came of the tools. */
export function askModel(state: SessionState, turn: Turn, out: SessionEffect[]): void {
  out.push({ type: "askModel", turnId: turn.id, ...conversationOf(state, turn) });
  out.push({ type: "startTimer", timer: "stall", delayMs: firstStallMs(turn) });
}

/** So long the model has before it is looked after. */
export function firstStallMs(turn: Turn): number {
  if (turn.toolRounds > 0) return STALL_MAX_MS;
  return Math.min(STALL_MAX_MS, givenUpAtMs(turn) - turn.progressAtMs);
}

/** What a tool has done is not done twice. */
export function mayAskAgain({ attempt, toolRounds }: Turn): boolean {
  return attempt < MODEL_ATTEMPTS_MAX && toolRounds === 0;
}

export function askOnceMore(
  state: SessionState,
  turn: Turn,
  atMs: number,
  out: SessionEffect[],
): SessionState {
  const { userText, callerEndedAtMs, decidedAtMs, attempt } = turn;
  const fields = { userText, callerEndedAtMs, decidedAtMs, attempt: attempt + 1 };
  return askAnew(paid(state, turn), { ...fields, ...saidOf(turn), progressAtMs: atMs }, out);
}
