import type { SessionEffect } from "../effects.js";
import type { SentenceHeardEvent } from "../events.js";
import { onPlaybackEnd } from "../playback/playback-end.js";
import { alignEnd, delayPlayback, markedEndMs } from "../playback/playback-ledger.js";
import { advanceSpeech, STALL_MAX_MS } from "../speaking.js";
import type { SessionState } from "../state.js";
import { isAllSent, type Turn } from "../turn.js";
import { mayPause, pause } from "./pausing.js";

/** A caller who makes a sound has this long to say a word; then the assistant goes on. */
const HOLD_MAX_MS = 1_200;
/** So many turns in a row were held for nothing: a loudspeaker, a street. Then only words stop the assistant, until they do. */
const VAIN_HOLDS_MAX = 3;

/**
 * First stage of an interruption: a voice, of which nobody knows what it will say. Paced audio stands still; where the
 * server does not pace it, and any voice is to stop the assistant, it is stopped, and what was not heard is kept. Model and
 * voice go on meanwhile. A turn is held for nothing once.
 */
export function hold(
  state: SessionState,
  turn: Turn,
  atMs: number,
  out: SessionEffect[],
): SessionState {
  if (state.heldAtMs !== undefined || atMs >= turn.ledger.endsAtMs) return state;
  if (turn.heldInVain || state.vainHolds >= VAIN_HOLDS_MAX) return state;
  const { isPaced } = state.settings;
  if (!isPaced && !mayPause(state, turn)) return state;
  if (isPaced) out.push({ type: "holdAudio" });
  const held = { ...state, heldAtMs: atMs };
  const next = isPaced ? held : pause(held, turn, atMs, out);
  out.push({ type: "cancelTimer", timer: "playback" });
  out.push({ type: "cancelTimer", timer: "stall" });
  out.push({ type: "startTimer", timer: "hold", delayMs: HOLD_MAX_MS });
  return next;
}

/** No words came, or none that interrupt. */
export function onHoldTimer(state: SessionState, atMs: number, out: SessionEffect[]): SessionState {
  if (state.heldAtMs === undefined) return state;
  return goOn({ ...state, vainHolds: state.vainHolds + 1 }, atMs, out);
}

/** It was a cough, an echo or a word that does not interrupt: if the audio stands still, it goes on where it stood. */
export function goOn(state: SessionState, atMs: number, out: SessionEffect[]): SessionState {
  const { heldAtMs, turn } = state;
  if (heldAtMs === undefined || turn === undefined) return state;
  const { isPaced } = state.settings;
  out.push({ type: "cancelTimer", timer: "hold" });
  if (isPaced) out.push({ type: "resumeAudio" });
  // Where it was paused instead, all that was sent is over.
  const ledger = delayPlayback(turn.ledger, heldAtMs, atMs - heldAtMs);
  const leftMs = Math.max(0, ledger.endsAtMs - atMs);
  out.push({ type: "startTimer", timer: "stall", delayMs: leftMs + STALL_MAX_MS });
  const released = { ...state, heldAtMs: undefined };
  return advanceSpeech(released, { ...turn, ledger, heldInVain: true }, atMs, out);
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
  const { heldAtMs } = state;
  const isHeld = heldAtMs !== undefined;
  const endedAtMs = markedEndMs(turn.ledger, event.index, event.atMs);
  const noted = isHeld ? { ...state, heldAtMs: Math.max(heldAtMs, endedAtMs) } : state;
  const ledger = alignEnd(turn.ledger, event.index, event.atMs);
  const aligned = { ...turn, ledger };
  if (isAllSent(turn) && event.index === turn.sentCount - 1) {
    out.push({ type: "cancelTimer", timer: isHeld ? "hold" : "playback" });
    if (isHeld) out.push({ type: "resumeAudio" });
    return onPlaybackEnd({ ...noted, turn: aligned }, event.atMs, out);
  }
  return advanceSpeech(noted, aligned, event.atMs, out);
}
