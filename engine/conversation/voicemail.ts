/** Whether a person has answered a placed call; the message for an answering machine. */

import { MACHINE_ANSWERED, MESSAGE_LEFT, NOT_PUT_THROUGH } from "./call-end.js";
import { greetPerson, machineSpeaking, meetScreener } from "./call-screening.js";
import { cutTurn, endCall } from "./commit-turn.js";
import { clearDeadline, setDeadline } from "./deadlines.js";
import type { ConversationEffect } from "./effects.js";
import type { AnswererDetectedEvent, DeadlineReachedEvent } from "./events.js";
import { watchCaller } from "./idle.js";
import { startScripted } from "./playout.js";
import { dropPreemptiveReply } from "./preemptive-generation.js";
import { startTurnReply } from "./reply.js";
import { speakableSentences } from "./sentences.js";
import { type ConversationState, dropCutSpeech, turnOf } from "./state.js";
import { pendingText } from "./transcript-buffer.js";

/** Vendors decide within some five seconds of silence; a person who has said hello does not wait much longer. */
const VERDICT_QUIET_MAX_MS = 6_000;
/** A greeting may be as long, and Twilio's verdict follows its end after at most 30 s. */
const VERDICT_MAX_MS = 45_000;
/** After this much silence a machine's greeting is over, and its beep too. */
const GREETING_QUIET_MS = 2_000;
const GREETING_MAX_MS = 60_000;
/** A machine that is left no message may still screen calls: while it speaks, its words are waited for. */
const SCREENER_MAX_MS = 5_000;
/** STT has returned its words by then. */
const SCREENER_QUIET_MS = 1_500;
/** Words become a turn within this time. */
const WORDS_MAX_MS = 5_000;
/** Before the call is open nothing can be said. */
const OPENING_MS = 250;

type VoiceMoment = Pick<DeadlineReachedEvent, "atMs" | "voiceAgoMs">;

/** Whether the greeting may be said when the call opens. */
export function mayGreet({ settings, answerer }: ConversationState): boolean {
  if (answerer.kind === "person") return true;
  return answerer.kind === "pending" && settings.outbound?.greetsPersonOnly !== true;
}

/** The call is open: the verdict is waited for from here on. */
export function watchAnswerer(state: ConversationState, atMs: number): void {
  const { answerer, settings } = state;
  if (answerer.kind !== "pending") return;
  answerer.isGreetingDue = settings.outbound?.greetsPersonOnly === true;
  answerer.untilMs = atMs + VERDICT_MAX_MS;
  setDeadline(state, "answerer", atMs + VERDICT_QUIET_MAX_MS);
}

export function onAnswererDetected(
  state: ConversationState,
  { verdict, voiceAgoMs, atMs }: AnswererDetectedEvent,
  out: ConversationEffect[],
): void {
  const { settings, answerer } = state;
  if (settings.outbound === undefined || turnOf(state)?.ending !== undefined) return;
  if (verdict.answerer === "human" || verdict.answerer === "unknown") {
    if (answerer.kind === "pending") meetPerson(state, atMs, out);
    return;
  }
  // A screener is a machine; a person may still follow it.
  const isScreened = answerer.kind === "screener" || answerer.screeningAnswers > 0;
  if (isScreened || hasConversed(state)) return;
  if (machineSpeaking(state) === "screener") return meetScreener(state, atMs);
  meetMachine(state, atMs, out);
  if (verdict.answerer === "fax") endCall(state, MACHINE_ANSWERED, atMs, out);
  else if (verdict.isGreetingOver) onGreetingOver(state, atMs, out);
  else watchGreeting(state, { atMs, voiceAgoMs }, out);
}

/** Behind a greeting, the beep is a machine's, whatever the vendor has said so far. */
export function onBeepHeard(
  state: ConversationState,
  atMs: number,
  out: ConversationEffect[],
): void {
  const { settings, answerer } = state;
  if (settings.outbound === undefined || answerer.kind === "person") return;
  if (answerer.kind === "voicemail" || turnOf(state)?.ending !== undefined) return;
  meetMachine(state, atMs, out);
  onGreetingOver(state, atMs, out);
}

export function onAnswererDeadline(
  state: ConversationState,
  event: DeadlineReachedEvent,
  out: ConversationEffect[],
): void {
  switch (state.answerer.kind) {
    case "pending":
      return onVerdictDeadline(state, event, out);
    case "machine":
      return watchGreeting(state, event, out);
    case "screener":
      return onPersonDeadline(state, event.atMs, out);
    case "person":
    case "voicemail":
      return;
  }
}

/** Nobody has come; words that are being said may be the person's. */
function onPersonDeadline(state: ConversationState, atMs: number, out: ConversationEffect[]): void {
  if (pendingText(state.user.hearing) === "") endCall(state, NOT_PUT_THROUGH, atMs, out);
  else setDeadline(state, "answerer", atMs + WORDS_MAX_MS);
}

/** A person who was answered is no machine, whatever the vendor says later. */
function hasConversed(state: ConversationState): boolean {
  const turn = turnOf(state);
  if (state.record.metrics.turnCount > 0) return true;
  return turn?.kind === "reply" && turn.sentCount > 0;
}

/**
 * The vendor owes a verdict, and the line has been quiet for so long that a person would be waiting. What has offered to take a
 * message gets one.
 */
function onVerdictDeadline(
  state: ConversationState,
  { atMs, voiceAgoMs = Number.POSITIVE_INFINITY }: VoiceMoment,
  out: ConversationEffect[],
): void {
  const leftMs = Math.min(VERDICT_QUIET_MAX_MS - voiceAgoMs, state.answerer.untilMs - atMs);
  if (leftMs >= 1) {
    setDeadline(state, "answerer", atMs + leftMs);
  } else if (machineSpeaking(state) === "voicemail") {
    meetMachine(state, atMs, out);
    onGreetingOver(state, atMs, out);
  } else meetPerson(state, atMs, out);
}

/** What the person has said meanwhile is answered now. */
function meetPerson(state: ConversationState, atMs: number, out: ConversationEffect[]): void {
  const { answerer, user, control, phase } = state;
  answerer.kind = "person";
  clearDeadline(state, "answerer");
  if (phase !== "live" || control.isMuted || turnOf(state) !== undefined) return;
  if (pendingText(user.hearing) !== "" || user.digits !== "") return;
  if (user.unanswered === "" && greetPerson(state, atMs, out)) return;
  if (user.unanswered === "") {
    watchCaller(state, atMs);
    return;
  }
  startTurnReply(state, atMs, out);
}

/** What the agent was saying is not for a machine. */
function meetMachine(state: ConversationState, atMs: number, out: ConversationEffect[]): void {
  const { answerer, settings } = state;
  if (answerer.kind === "machine") return;
  answerer.kind = "machine";
  const maxMs = settings.outbound?.voicemailMessage === "" ? SCREENER_MAX_MS : GREETING_MAX_MS;
  answerer.untilMs = atMs + maxMs;
  dropPreemptiveReply(state, out);
  cutTurn(state, atMs, out);
  clearDeadline(state, "falseInterruption");
  clearDeadline(state, "idle");
  dropCutSpeech(state);
}

/** The message follows the greeting. */
function watchGreeting(
  state: ConversationState,
  { atMs, voiceAgoMs = Number.POSITIVE_INFINITY }: VoiceMoment,
  out: ConversationEffect[],
): void {
  const { answerer, settings, phase } = state;
  const leavesMessage = settings.outbound?.voicemailMessage !== "";
  const quietMs = leavesMessage ? GREETING_QUIET_MS : SCREENER_QUIET_MS;
  if (phase === "opening" && leavesMessage) {
    setDeadline(state, "answerer", atMs + OPENING_MS);
    return;
  }
  if (machineSpeaking(state) === "screener") return meetScreener(state, atMs);
  if (atMs >= answerer.untilMs) return endCall(state, MACHINE_ANSWERED, atMs, out);
  if (voiceAgoMs >= quietMs) return onGreetingOver(state, atMs, out);
  setDeadline(state, "answerer", Math.min(answerer.untilMs, atMs + quietMs - voiceAgoMs));
}

/** The machine records from now on: the message is said, and the call ends. */
function onGreetingOver(state: ConversationState, atMs: number, out: ConversationEffect[]): void {
  const { answerer, settings, phase, user } = state;
  const sentences = speakableSentences(settings.outbound?.voicemailMessage ?? "");
  if (sentences.length === 0) return endCall(state, MACHINE_ANSWERED, atMs, out);
  if (phase !== "live") {
    setDeadline(state, "answerer", atMs + OPENING_MS);
    return;
  }
  clearDeadline(state, "answerer");
  clearDeadline(state, "endpointing");
  answerer.kind = "voicemail";
  user.unanswered = "";
  startScripted(state, "voicemail", sentences, atMs, out, MESSAGE_LEFT);
}
