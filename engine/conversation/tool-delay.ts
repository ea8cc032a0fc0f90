/** What a tool that takes long has the agent say. */

import { setDeadline } from "./deadlines.js";
import type { ConversationEffect } from "./effects.js";
import type { DeadlineReachedEvent } from "./events.js";
import { isAwaited, isCallerSpeaking, isHindered, isOfCall, playPhrase } from "./filler.js";
import { startScripted } from "./playout.js";
import { speakableSentences } from "./sentences.js";
import { type ConversationState, isBeingTransferred, type ToolDelay, turnOf } from "./state.js";
import { pendingText } from "./transcript-buffer.js";

/** While either side speaks, or the sentence is not synthesized yet, it is checked again after this time. */
const RECHECK_MS = 500;
/** A voice that ended less than this ago may continue. */
const VOICE_RECENT_MS = 300;
/** A timer may fire a fraction early. */
const EARLY_MAX_MS = 1;

/** A tool still runs after its `onDelayMs`: its sentence is said once, as soon as neither side speaks. */
export function onToolDelayDeadline(
  state: ConversationState,
  event: DeadlineReachedEvent,
  out: ConversationEffect[],
): void {
  const { atMs } = event;
  const isDue = ({ dueMs }: ToolDelay) => dueMs <= atMs + EARLY_MAX_MS;
  const running = state.toolDelays.filter((delay) => isRunning(state, delay));
  const due = running.find(isDue);
  state.toolDelays = running;
  if (due !== undefined) {
    const recheckAtMs = sayDelay(state, due, event, out);
    const isSaid = recheckAtMs === undefined;
    // One sentence speaks for all tools that are late by now.
    if (isSaid) state.toolDelays = running.filter((delay) => !isDue(delay));
    else
      state.toolDelays = running.map((each) =>
        isDue(each) ? { ...each, dueMs: recheckAtMs } : each,
      );
  }
  const nextMs = Math.min(...state.toolDelays.map(({ dueMs }) => dueMs));
  if (Number.isFinite(nextMs)) setDeadline(state, "toolDelay", nextMs);
}

/** Undefined when it was said; otherwise when to try again. */
function sayDelay(
  state: ConversationState,
  delay: ToolDelay,
  { atMs, voiceAgoMs }: DeadlineReachedEvent,
  out: ConversationEffect[],
): number | undefined {
  const turn = turnOf(state);
  if (turn !== undefined && isAwaited(state, turn, delay)) {
    const phrase = state.readyPhrases.find(({ text }) => text === delay.text);
    const isQuiet = turn.ledger.endsAtMs <= atMs && turn.sentCount === turn.sentences.length;
    const isFree = isQuiet && !isCallerSpeaking(state, turn, voiceAgoMs);
    if (phrase === undefined || !isFree || isHindered(state, turn, atMs)) {
      return Math.max(turn.ledger.endsAtMs, atMs + RECHECK_MS);
    }
    playPhrase(state, turn, phrase, atMs, out);
    return undefined;
  }
  const isBeside = state.background.calls.some((each) => isOf(each, delay));
  if (!isBeside || !isFloorFree(state, voiceAgoMs)) return atMs + RECHECK_MS;
  startScripted(state, "announcement", speakableSentences(delay.text), atMs, out);
  return undefined;
}

/** Neither side speaks, and nothing that was said or cut off waits for more. */
export function isFloorFree(
  state: ConversationState,
  voiceAgoMs = Number.POSITIVE_INFINITY,
): boolean {
  const { echo, control, deadlines, outputPausedAtMs, agent } = state;
  const { hearing, digits, unanswered } = state.user;
  const isUnderway = pendingText(hearing) !== "" || digits !== "" || unanswered !== "";
  const isSilent = agent.state === "silent" && outputPausedAtMs === undefined;
  // What an interruption has cut off is said again if no words follow it.
  const isCut = deadlines.falseInterruption !== undefined || echo.suspected !== undefined;
  const mayBegin = isSilent && !isUnderway && !isCut && voiceAgoMs >= VOICE_RECENT_MS;
  return mayBegin && !control.isMuted && !isBeingTransferred(state);
}

function isRunning(state: ConversationState, delay: ToolDelay): boolean {
  const turn = turnOf(state);
  if (turn?.id === delay.turnId && turn.toolsWaiting.includes(delay.callId)) return true;
  if ((state.toolsDone?.pending ?? []).some((each) => isOfCall(each, delay))) return true;
  return state.background.calls.some((each) => isOf(each, delay));
}

function isOf(
  { turnId, call }: { readonly turnId: number; readonly call: { readonly id: string } },
  delay: ToolDelay,
): boolean {
  return isOfCall({ turnId, callId: call.id }, delay);
}
