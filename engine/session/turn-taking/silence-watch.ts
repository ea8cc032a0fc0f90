import type { SessionEffect } from "../effects.js";
import type { SessionState } from "../state.js";
import type { Turn } from "../turn.js";

/** No silence of the agent's own making is longer, once it has said that it is at work. */
const AGAIN_AFTER_MS = 3_500;

/** Starts the watch over a silence that begins now, or when all that was sent has been heard. */
export function watchSilence(
  state: SessionState,
  turn: Turn,
  atMs: number,
  out: SessionEffect[],
): void {
  if (state.settings.waitingWordMs === 0 || turn.kind !== "reply") return;
  const delayMs = quietUntilMs(state, turn) - atMs;
  out.push({ type: "startTimer", timer: "waiting", delayMs: Math.max(0, delayMs) });
}

/** When the caller will have heard nothing for longer than the agent lets pass without a word. */
export function quietUntilMs({ settings }: SessionState, turn: Turn): number {
  const keysAtMs = turn.keyCallIds.length > 0 ? turn.progressAtMs : Number.NEGATIVE_INFINITY;
  const sinceMs = Math.max(turn.decidedAtMs, turn.ledger.endsAtMs, keysAtMs);
  return sinceMs + (turn.waitingWords === 0 ? settings.waitingWordMs : AGAIN_AFTER_MS);
}
