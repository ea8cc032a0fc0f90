import type { Category } from "../../storage/records.js";
import {
  type Ending,
  isRevocable,
  LANGUAGE_MODEL_FAILED,
  LISTENING_FAILED,
  SPEECH_FAILED,
} from "./call-end.js";
import { commitTurn, endCall, stopTurn } from "./commit-turn.js";
import { clearDeadline, setDeadline } from "./deadlines.js";
import type { ConversationEffect } from "./effects.js";
import { startScripted } from "./playout.js";
import { type ConversationState, dropCutSpeech, type Turn, turnOf } from "./state.js";
import { pendingText } from "./transcript-buffer.js";
import { endInTransfer, providerFailureEnd } from "./transfer.js";

/** The announcement before the limit takes about four seconds. */
const TIME_UP_BEFORE_MS = 6_000;
/** A call with a shorter limit ends without an announcement. */
const DURATION_WITH_WORDS_MIN_MS = 30_000;

/** The limit of the call's duration counts from `atMs`. */
export function watchDuration(state: ConversationState, atMs: number): void {
  const { durationMaxMs, phrases } = state.settings;
  setDeadline(state, "maxDuration", atMs + durationMaxMs);
  if (phrases === undefined || durationMaxMs < DURATION_WITH_WORDS_MIN_MS) return;
  setDeadline(state, "timeUp", atMs + durationMaxMs - TIME_UP_BEFORE_MS);
}

export function durationLimit(state: ConversationState): Ending {
  const seconds = Math.round(state.settings.durationMaxMs / 1_000);
  const message = `the call reached its limit of ${seconds} seconds`;
  return { reason: "durationLimit", status: "completed", message };
}

/** The call's time limit is near: the agent says so, even if someone is speaking. */
export function onTimeUp(state: ConversationState, atMs: number, out: ConversationEffect[]): void {
  const words = state.settings.phrases?.timeIsUp ?? "";
  if (words === "" || turnOf(state)?.ending !== undefined) return;
  sayLast(state, words, durationLimit(state), atMs, out);
}

/** Nothing that the caller says can be heard any more, so the call ends, with an apology. */
export function onSttFailed(
  state: ConversationState,
  atMs: number,
  out: ConversationEffect[],
): void {
  const { phrases, apology } = state.settings;
  const turn = turnOf(state);
  // A call that is already ending needs no STT, and the caller cannot continue it unheard.
  if (turn?.ending !== undefined) {
    endWith(turn, sttOutageEnd(turn.ending));
    return;
  }
  const ending = providerFailureEnd(state, LISTENING_FAILED);
  // A caller who is transferred is not asked to call again. A caller who has not heard the agent
  // yet gets the apology even without stock phrases.
  const withoutPhrases = state.lastTurnId === 0 ? apology : "";
  const sttFailedApology = wasPlayed(state) ? phrases?.sttFailedApology : phrases?.cannotHearAtAll;
  const words = ending.transferTo === undefined ? (sttFailedApology ?? withoutPhrases) : apology;
  if (words === "" || state.phase === "opening") endCall(state, LISTENING_FAILED, atMs, out);
  else sayLast(state, words, ending, atMs, out);
}

/** "Any more" is wrong for a caller of whom no word was understood. */
function wasPlayed(state: ConversationState): boolean {
  const { history, unsaved } = state.record;
  const { unanswered, hearing } = state.user;
  const isCallersReason = ({ role }: { readonly role: string }) => role === "user";
  if (history.some(isCallersReason) || unsaved.some(isCallersReason)) return true;
  return unanswered !== "" || turnOf(state)?.kind === "reply" || pendingText(hearing) !== "";
}

/** The call has started without a usable vendor of this kind: the agent only says so. */
export function onVendorMissing(
  state: ConversationState,
  category: Category,
  atMs: number,
  out: ConversationEffect[],
): void {
  if (category === "stt") {
    onSttFailed(state, atMs, out);
    return;
  }
  const cause = category === "llm" ? LANGUAGE_MODEL_FAILED : SPEECH_FAILED;
  sayLast(state, state.settings.apology, providerFailureEnd(state, cause), atMs, out);
}

/** Ends the call for an external reason. The agent says goodbye unless the caller hung up. */
export function requestEnd(
  state: ConversationState,
  ending: Ending,
  atMs: number,
  out: ConversationEffect[],
): void {
  if (ending.reason === "callerLeft" && endInTransfer(state, ending)) return;
  if (ending.transferTo !== undefined) {
    // Before the call is open no message can be sent, and an end that is already decided stands.
    if (state.phase === "live" && turnOf(state)?.ending === undefined) {
      sayLast(state, state.settings.transferring, ending, atMs, out);
    }
    return;
  }
  const words = state.phase !== "opening" ? lastWordsOf(state, ending) : "";
  if (words === "") {
    endCall(state, ending, atMs, out);
    return;
  }
  const turn = turnOf(state);
  // The agent is saying goodbye, on its own or because it has to. The caller can no longer take
  // back the agent's own goodbye.
  if (turn?.ending !== undefined && turn.ending.transferTo === undefined) endWith(turn, ending);
  else sayLast(state, words, ending, atMs, out);
}

/** The agent's current words are its last, for this reason unless another reason already stands. */
function endWith(turn: Turn, ending: Ending): void {
  if (turn.ending !== undefined && isRevocable(turn.ending)) turn.ending = ending;
}

function sttOutageEnd({ transferTo, callerId }: Ending): Ending {
  if (transferTo === undefined) return { ...LISTENING_FAILED, status: "completed" };
  return { ...LISTENING_FAILED, transferTo, ...(callerId !== undefined && { callerId }) };
}

/** Empty if no caller is left, or if there is nothing to say. */
function lastWordsOf({ settings }: ConversationState, { reason }: Ending): string {
  if (reason === "suspended") return settings.suspended;
  return reason === "organizationEnded" ? settings.callEndedByOrganization : "";
}

function sayLast(
  state: ConversationState,
  words: string,
  ending: Ending,
  atMs: number,
  out: ConversationEffect[],
): void {
  const turn = turnOf(state);
  if (turn !== undefined) {
    if (turn.sentCount > 0) out.push({ type: "send", message: { type: "audioStop" } });
    stopTurn(turn, out);
    commitTurn(state, turn, "cutOff", atMs, out);
  }
  clearDeadline(state, "endpointing");
  clearDeadline(state, "falseInterruption");
  dropCutSpeech(state);
  startScripted(state, "farewell", [words], atMs, out, ending);
}
