import type { SessionEffect } from "../effects.js";
import type { PlayedEvent, SoundLateEvent } from "../events.js";
import { advanceSpeech } from "../speaking.js";
import type { SessionState } from "../state.js";
import { isAllSent, type Turn } from "../turn.js";
import { onPlaybackEnd } from "./playback-end.js";
import { alignPlayed, delayPlayback, isGap } from "./playback-ledger.js";

/** Clients tell whole milliseconds. */
const ROUNDED_MS = 1;

/** The client's own word for what was played replaces the estimate; until its next one the clock goes on from there. */
export function onPlayed(
  state: SessionState,
  turn: Turn,
  event: PlayedEvent,
  out: SessionEffect[],
): SessionState {
  // Audio that stands still is the server's own to count.
  if (turn.sentCount === 0 || state.heldAtMs !== undefined) return state;
  const playedMs = turn.playedBeforeMs + event.playedMs;
  const told = alignPlayed(turn.ledger, playedMs, event.atMs);
  // That all was played says nothing of when it was: the hole since then is as long as the clock says.
  const wasPlayed = turn.ledger.endsAtMs <= event.atMs && told.endsAtMs < event.atMs + ROUNDED_MS;
  const ledger = wasPlayed ? turn.ledger : told;
  const aligned = { ...turn, ledger };
  if (isAllSent(turn) && ledger.endsAtMs <= event.atMs) {
    out.push({ type: "cancelTimer", timer: "playback" });
    return onPlaybackEnd({ ...state, turn: aligned }, event.atMs, out);
  }
  return advanceSpeech(state, aligned, event.atMs, out);
}

/** What the caller has not heard yet is heard so much later, behind a gap. */
export function onSoundLate(
  state: SessionState,
  { lateMs, atMs }: SoundLateEvent,
  out: SessionEffect[],
): SessionState {
  const { turn } = state;
  if (turn === undefined || turn.sentCount === 0 || state.heldAtMs !== undefined) return state;
  const ledger = delayPlayback(turn.ledger, atMs - lateMs, lateMs);
  const underruns = turn.underruns + (isGap(lateMs) ? 1 : 0);
  return advanceSpeech(state, { ...turn, ledger, underruns }, atMs, out);
}
