import type { InterruptionSensitivity } from "../../storage/records.js";
import type { SessionEffect } from "./effects.js";
import { sentencesHeard } from "./playback-ledger.js";
import { beginReply } from "./replying.js";
import { endCall, settleTurn } from "./settlement.js";
import { beginScripted } from "./speaking.js";
import type { SessionState } from "./state.js";
import { isGrowing, type Turn } from "./turn.js";

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
  if (turn.ending !== undefined) return endCall(state, turn.ending, atMs, out);
  const spoke = turn.sentCount > 0;
  // First of all: closing the vendors' connections takes longer than telling the caller.
  if (spoke) out.push({ type: "send", message: { type: "audioStop" } });
  out.push({ type: "abortTurn", turnId: turn.id });
  out.push({ type: "cancelTimer", timer: "stall" });
  out.push({ type: "cancelTimer", timer: "ahead" });
  if (isGrowing(turn)) out.push({ type: "cancelTimer", timer: "growth" });
  out.push({ type: "cancelTimer", timer: "playback" });
  if (state.heldAtMs !== undefined) out.push({ type: "cancelTimer", timer: "hold" });
  out.push({ type: "startTimer", timer: "phantom", delayMs: PHANTOM_MAX_MS });
  const counted = spoke ? countInterruption(state) : state;
  const outcome = spoke ? "interrupted" : "superseded";
  const cutSentences = turn.sentences
    .slice(sentencesHeard(turn.ledger, Math.min(atMs, state.heldAtMs ?? atMs)))
    .map((sentence) => sentence.text);
  return { ...settleTurn(counted, turn, outcome, atMs, out), cutSentences };
}

/** Nobody said a word after all, a cough perhaps: the assistant goes on with the sentence it was in. */
export function onPhantom(state: SessionState, atMs: number, out: SessionEffect[]): SessionState {
  if (state.turn !== undefined) return state;
  if (state.cutSentences.length > 0) {
    const rest = state.cutSentences;
    return beginScripted({ ...state, cutSentences: [] }, "resumed", rest, atMs, out);
  }
  return state.unanswered === "" ? state : beginReply(state, atMs, out);
}

function countInterruption(state: SessionState): SessionState {
  const metrics = { ...state.metrics, interruptions: state.metrics.interruptions + 1 };
  return { ...state, metrics };
}
