import type { SessionEffect } from "./effects.js";
import type { SentenceHeardEvent } from "./events.js";
import { alignEnd, delayPlayback } from "./playback-ledger.js";
import { onPlaybackEnd } from "./replying.js";
import { advanceSpeech, isAllSent, STALL_MAX_MS } from "./speaking.js";
import type { SessionState } from "./state.js";
import type { Turn } from "./turn.js";

/** A caller who makes a sound has this long to say a word; then the assistant goes on. */
const HOLD_MAX_MS = 1_200;

/** First stage of an interruption, where the server paces the audio: it stands still until it is known what was meant. */
export function hold(
  state: SessionState,
  turn: Turn,
  atMs: number,
  out: SessionEffect[],
): SessionState {
  if (!state.settings.isPaced || state.heldAtMs !== undefined) return state;
  if (atMs >= turn.ledger.endsAtMs) return state;
  out.push({ type: "holdAudio" });
  out.push({ type: "cancelTimer", timer: "playback" });
  out.push({ type: "cancelTimer", timer: "stall" });
  out.push({ type: "startTimer", timer: "hold", delayMs: HOLD_MAX_MS });
  return { ...state, heldAtMs: atMs };
}

/** It was a cough, an echo or a word that does not interrupt: the audio goes on where it stood. */
export function onHoldTimer(state: SessionState, atMs: number, out: SessionEffect[]): SessionState {
  const { heldAtMs, turn } = state;
  if (heldAtMs === undefined || turn === undefined) return state;
  out.push({ type: "resumeAudio" });
  const ledger = delayPlayback(turn.ledger, heldAtMs, atMs - heldAtMs);
  out.push({ type: "startTimer", timer: "stall", delayMs: ledger.endsAtMs - atMs + STALL_MAX_MS });
  return advanceSpeech({ ...state, heldAtMs: undefined }, { ...turn, ledger }, atMs, out);
}

/**
 * The telephone's own word for what was heard replaces the estimate. What was sent ahead of a hold is heard in spite of it:
 * then the audio has stood still only since the end of this sentence.
 */
export function onSentenceHeard(
  state: SessionState,
  turn: Turn,
  event: SentenceHeardEvent,
  out: SessionEffect[],
): SessionState {
  if (event.index >= turn.sentCount) return state;
  const isHeld = state.heldAtMs !== undefined;
  const noted = isHeld ? { ...state, heldAtMs: event.atMs } : state;
  const ledger = alignEnd(turn.ledger, event.index, event.atMs);
  const aligned = { ...turn, ledger };
  if (isAllSent(turn) && event.index === turn.sentCount - 1) {
    out.push({ type: "cancelTimer", timer: isHeld ? "hold" : "playback" });
    if (isHeld) out.push({ type: "resumeAudio" });
    return onPlaybackEnd({ ...noted, turn: aligned }, event.atMs, out);
  }
  return advanceSpeech(noted, aligned, event.atMs, out);
}
