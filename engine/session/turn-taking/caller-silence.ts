import * as detector from "../../speech/turn-detector.js";
import type { SessionEffect } from "../effects.js";
import { CALLER_SILENT } from "../ending.js";
import type { TimerFiredEvent } from "../events.js";
import { beginScripted } from "../speaking.js";
import { isBeingTransferred, type SessionState } from "../state.js";

/** So often a caller is asked whether somebody is there; then the agent says goodbye. */
const REMINDERS_MAX = 2;

/** It is the caller's turn to speak from now on. */
export function watchCaller(state: SessionState, out: SessionEffect[]): void {
  const { callerSilenceMs, phrases } = state.settings;
  if (callerSilenceMs === 0 || phrases === undefined) return;
  out.push({ type: "startTimer", timer: "idle", delayMs: callerSilenceMs });
}

/** Nobody has said a word for a while, and nobody makes a sound that might become one. */
export function onIdleTimer(
  state: SessionState,
  { atMs, voiceAgoMs }: TimerFiredEvent,
  out: SessionEffect[],
): SessionState {
  const { phrases, callerSilenceMs } = state.settings;
  if (phrases === undefined || state.turn !== undefined || isBeingTransferred(state)) return state;
  const isUnderway =
    detector.pendingText(state.hearing) !== "" || state.digits !== "" || state.unanswered !== "";
  const voiceLeftMs = voiceAgoMs === undefined ? 0 : callerSilenceMs - voiceAgoMs;
  if (isUnderway || voiceLeftMs >= 1) {
    const delayMs = isUnderway ? callerSilenceMs : voiceLeftMs;
    out.push({ type: "startTimer", timer: "idle", delayMs });
    return state;
  }
  if (state.reminders >= REMINDERS_MAX) {
    return beginScripted(state, "farewell", [phrases.nobodyThere], atMs, out, CALLER_SILENT);
  }
  const asked = { ...state, reminders: state.reminders + 1 };
  return beginScripted(asked, "reminder", [phrases.stillThere], atMs, out);
}
