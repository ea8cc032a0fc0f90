import type { SessionEffect } from "./effects.js";
import type { PlayedEvent } from "./events.js";
import { onPlaybackEnd } from "./playback-end.js";
import { alignPlayed } from "./playback-ledger.js";
import { advanceSpeech } from "./speaking.js";
import type { SessionState } from "./state.js";
import { isAllSent, type Turn } from "./turn.js";

/** The client's own word for what was played replaces the estimate; until its next one the clock goes on from there. */
export function onPlayed(
  state: SessionState,
  turn: Turn,
  event: PlayedEvent,
  out: SessionEffect[],
): SessionState {
  // Audio that stands still is the server's own to count.
  if (turn.sentCount === 0 || state.heldAtMs !== undefined) return state;
  const ledger = alignPlayed(turn.ledger, event.playedMs, event.atMs);
  const aligned = { ...turn, ledger };
  if (isAllSent(turn) && ledger.endsAtMs <= event.atMs) {
    out.push({ type: "cancelTimer", timer: "playback" });
    return onPlaybackEnd({ ...state, turn: aligned }, event.atMs, out);
  }
  return advanceSpeech(state, aligned, event.atMs, out);
}
