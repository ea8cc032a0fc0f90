import type { InterruptionSensitivity } from "../../../storage/records.js";
import type { SessionEffect } from "../effects.js";
import { isRevocable } from "../ending.js";
import { beginReply } from "../replying.js";
import { settleTurn, stopTurn } from "../settlement.js";
import { beginScripted } from "../speaking.js";
import type { SessionState } from "../state.js";
import { endAfterWords } from "../tool-use/transferring.js";
import type { Turn } from "../turn.js";
import { unheardSentences } from "../unheard.js";
import { watchCaller } from "./caller-silence.js";

/** How long a stopped assistant waits for the words of the one who stopped it. */
export const PHANTOM_MAX_MS = 2_500;

const WORDS_TO_INTERRUPT: Readonly<Record<InterruptionSensitivity, number>> = {
  high: 1,
  medium: 1,
  low: 2,
};

export function wordsInterrupt(sensitivity: InterruptionSensitivity, words: number): boolean {
  return words >= WORDS_TO_INTERRUPT[sensitivity];
}

/**
 * The caller takes the floor. A turn that has been heard in part stops; one that has not been heard at all is taken
 * back, and its question waits for the rest. Without words by the deadline it goes on (`onPhantom`).
 */
export function interrupt(
  state: SessionState,
  turn: Turn,
  atMs: number,
  out: SessionEffect[],
): SessionState {
  // What has to end the call ends it; a goodbye is taken back.
  if (turn.ending !== undefined && !isRevocable(turn.ending)) return state;
  const isPaused = state.heldAtMs !== undefined && !state.settings.isPaced;
  const spoke = turn.sentCount > 0;
  // First of all: closing the vendors' connections takes longer than telling the caller.
  if (spoke && !isPaused) out.push({ type: "send", message: { type: "audioStop" } });
  stopTurn(state, turn, out);
  out.push({ type: "startTimer", timer: "phantom", delayMs: PHANTOM_MAX_MS });
  const counted = spoke && !isPaused ? countInterruption(state) : state;
  const outcome = spoke ? "interrupted" : "superseded";
  const cutSentences = unheardSentences(turn, Math.min(atMs, state.heldAtMs ?? atMs));
  const settled = settleTurn({ ...counted, vainHolds: 0 }, turn, outcome, atMs, out);
  return { ...settled, cutSentences, cutEnding: turn.ending };
}

/** Nobody said a word after all, a cough perhaps: the assistant goes on with the sentence it was in. */
export function onPhantom(state: SessionState, atMs: number, out: SessionEffect[]): SessionState {
  if (state.turn !== undefined) return state;
  const { cutSentences, cutEnding } = state;
  if (cutSentences.length > 0) {
    const next = { ...state, cutSentences: [], cutEnding: undefined };
    return beginScripted(next, "resumed", cutSentences, atMs, out, cutEnding);
  }
  if (cutEnding !== undefined) return endAfterWords(state, state.lastTurnId, cutEnding, atMs, out);
  if (state.unanswered !== "") return beginReply(state, atMs, out);
  watchCaller(state, out);
  return state;
}

export function countInterruption(state: SessionState): SessionState {
  const metrics = { ...state.metrics, interruptions: state.metrics.interruptions + 1 };
  return { ...state, metrics };
}
