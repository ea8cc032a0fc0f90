/** Whether a person has answered a placed call; the message for an answering machine. */

import { MACHINE_ANSWERED, MESSAGE_LEFT, NOT_PUT_THROUGH } from "./call-end.js";
import { answererWords, greetPerson, isScreenerSpeaking, meetScreener } from "./call-screening.js";
import { cutTurn, endCall } from "./commit-turn.js";
import { clearDeadline, setDeadline } from "./deadlines.js";
import type { ConversationEffect } from "./effects.js";
import type { AnswererDetectedEvent, DeadlineReachedEvent } from "./events.js";
import { watchCaller } from "./idle.js";
import { asksBack, asksToWait, recordsMessage } from "./lexicon.js";
import { startScripted } from "./playout.js";
import { dropPreemptiveReply } from "./preemptive-generation.js";
import { startTurnReply } from "./reply.js";
import { speakableSentences } from "./sentences.js";
import {
  type ConversationState,
  dropCutSpeech,
  isPersonThere,
  type OutboundSettings,
  turnOf,
} from "./state.js";
import { pendingText } from "./transcript-buffer.js";

/** Vendors decide within some five seconds of silence; a person who has said hello does not wait much longer. */
const VERDICT_QUIET_MAX_MS = 6_000;
/** A noise that sounds like a voice keeps a person waiting for at most this long after their last words. */
const VERDICT_WORDLESS_MAX_MS = 8_000;
/** A greeting may be as long, and Twilio's verdict follows its end after at most 30 s. */
const VERDICT_MAX_MS = 45_000;
/** After this much silence a machine's greeting is over, and its beep too. */
const GREETING_QUIET_MS = 2_000;
/** The same where the vendor reports beeps: many machines pause before theirs. */
const GREETING_QUIET_BEFORE_BEEP_MS = 4_000;
/** A beep within this time from the start of the message is that of the recording. */
const LATE_BEEP_MAX_MS = 10_000;
const GREETING_MAX_MS = 60_000;
/** A machine that is left no message may still screen calls: while it speaks, its words are waited for. */
const SCREENER_MAX_MS = 5_000;
/** STT has returned its words by then. */
const SCREENER_QUIET_MS = 1_500;
/** Words become a turn within this time. */
const WORDS_MAX_MS = 5_000;
/** How often it is checked whether a person who is speaking has finished. */
const PERSON_RECHECK_MS = 500;
/** Before the call is open nothing can be said. */
const OPENING_MS = 250;

type VoiceMoment = Pick<DeadlineReachedEvent, "atMs" | "voiceAgoMs">;

/** Whether the greeting may be said when the call opens. */
export function mayGreet({ settings, answerer }: ConversationState): boolean {
  if (answerer.kind === "person") return true;
  return answerer.kind === "pending" && settings.outbound?.greetsPersonOnly !== true;
}

/** The call is open: from here on the verdict is waited for, or what follows who has answered the call that this one continues. */
export function watchAnswerer(
  state: ConversationState,
  atMs: number,
  out: ConversationEffect[],
): void {
  const { answerer, settings } = state;
  const { continued, greetsPersonOnly } = settings.outbound ?? {};
  if (answerer.kind === "pending") {
    answerer.isGreetingDue = continued?.isGreetingDue ?? greetsPersonOnly === true;
    answerer.untilMs = atMs + VERDICT_MAX_MS;
    setDeadline(state, "answerer", atMs + VERDICT_QUIET_MAX_MS);
    return;
  }
  if (continued === undefined) return;
  if (answerer.kind === "screener") meetScreener(state, atMs);
  else if (answerer.kind === "machine" && !Number.isFinite(answerer.untilMs)) {
    answerer.untilMs = atMs + greetingMaxMs(state);
    if (answerer.isEndReported) onGreetingOver(state, atMs, out);
    // Nothing has been heard yet of what the machine may still say.
    else watchGreeting(state, { atMs, voiceAgoMs: 0 }, out);
  }
}

function greetingMaxMs({ settings }: ConversationState): number {
  return settings.outbound?.voicemailMessage === "" ? SCREENER_MAX_MS : GREETING_MAX_MS;
}

export function onAnswererDetected(
  state: ConversationState,
  { verdict, voiceAgoMs, atMs }: AnswererDetectedEvent,
  out: ConversationEffect[],
): void {
  const { settings, answerer } = state;
  if (settings.outbound === undefined) return;
  // Vendors repeat a report whose answer is late.
  const isNews = verdict.isGreetingOver && !answerer.isEndReported;
  answerer.isEndReported ||= verdict.isGreetingOver;
  if (answerer.kind === "voicemail" && isNews) return restartMessage(state, atMs, out);
  if (turnOf(state)?.ending !== undefined) return;
  if (verdict.answerer === "human" || verdict.answerer === "unknown") {
    if (answerer.kind !== "pending") return;
    if (verdict.answerer === "human") meetPerson(state, atMs, out);
    else meetUnknown(state, { atMs, voiceAgoMs }, out);
    return;
  }
  // A screener is a machine; a person may still follow it.
  const isScreened = answerer.kind === "screener" || answerer.screeningAnswers > 0;
  if (isScreened || hasConversed(state)) return;
  if (isScreenerSpeaking(state)) return meetScreener(state, atMs);
  meetMachine(state, atMs, out);
  if (verdict.answerer === "fax") endCall(state, MACHINE_ANSWERED, atMs, out);
  else if (verdict.isGreetingOver) onGreetingOver(state, atMs, out);
  else watchGreeting(state, { atMs, voiceAgoMs }, out);
}

/** Behind a greeting, the beep is a machine's, unless the words or the lack of a message speak against it. */
export function onBeepHeard(
  state: ConversationState,
  atMs: number,
  out: ConversationEffect[],
): void {
  if (state.answerer.kind === "voicemail") return restartMessage(state, atMs, out);
  if (!isMachineBeep(state) || turnOf(state)?.ending !== undefined) return;
  meetMachine(state, atMs, out);
  onGreetingOver(state, atMs, out, 0);
}

/** The lines of people have tones too: of a connection, of a recorder, of a waiting call. */
function isMachineBeep(state: ConversationState): boolean {
  const { settings, answerer } = state;
  const { languageTag } = settings;
  const words = answererWords(state);
  const isRecording = recordsMessage(languageTag, words);
  switch (answerer.kind) {
    case "machine":
      return true;
    case "pending":
      // Without a message nothing is lost by waiting for the verdict.
      if (settings.outbound?.voicemailMessage === "") return false;
      return isRecording || !(asksToWait(languageTag, words) || asksBack(languageTag, words));
    case "screener":
      return isRecording || answerer.recordsMessage;
    case "person":
    case "voicemail":
      return false;
  }
}

/** A message that began before the beep was not recorded from its start: it begins again, once. */
function restartMessage(state: ConversationState, atMs: number, out: ConversationEffect[]): void {
  if (turnOf(state)?.kind !== "voicemail" || atMs >= state.answerer.untilMs) return;
  onGreetingOver(state, atMs, out, 0);
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
      // An apology may be ending the call.
      if (turnOf(state)?.ending === undefined) watchGreeting(state, event, out);
      return;
    case "screener":
      return onPersonDeadline(state, event.atMs, out);
    case "person":
      return answerOrGreet(state, event.atMs, out);
    case "voicemail":
      return;
  }
}

/** Nobody has come; words that are being said may be the person's. */
function onPersonDeadline(state: ConversationState, atMs: number, out: ConversationEffect[]): void {
  if (pendingText(state.user.hearing) === "") endCall(state, NOT_PUT_THROUGH, atMs, out);
  else setDeadline(state, "answerer", atMs + WORDS_MAX_MS);
}

/** A person who was answered, or met before the call broke off, is no machine, whatever the vendor says later. */
function hasConversed(state: ConversationState): boolean {
  const turn = turnOf(state);
  if (state.settings.outbound?.continued?.kind === "person") return true;
  if (state.record.metrics.turnCount > 0) return true;
  return turn?.kind === "reply" && turn.sentCount > 0;
}

/** The vendor owes a verdict, and the line has been quiet for so long that a person would be waiting. */
function onVerdictDeadline(
  state: ConversationState,
  { atMs, voiceAgoMs = Number.POSITIVE_INFINITY }: VoiceMoment,
  out: ConversationEffect[],
): void {
  const leftMs = Math.min(
    VERDICT_QUIET_MAX_MS - voiceAgoMs,
    wordsUntilMs(state) - atMs,
    state.answerer.untilMs - atMs,
  );
  if (leftMs >= 1) setDeadline(state, "answerer", atMs + leftMs);
  else meetUnknown(state, { atMs, voiceAgoMs }, out);
}

/** When words wait for an answer, how long a voice without further words keeps them waiting. */
function wordsUntilMs({ user }: ConversationState): number {
  const isWaiting = user.unanswered !== "" && pendingText(user.hearing) === "";
  return isWaiting ? user.endedAtMs + VERDICT_WORDLESS_MAX_MS : Number.POSITIVE_INFINITY;
}

/** Where the vendor does not know, a machine that has named itself is one; everything else is a person. */
function meetUnknown(
  state: ConversationState,
  moment: VoiceMoment,
  out: ConversationEffect[],
): void {
  if (!recordsMessage(state.settings.languageTag, answererWords(state))) {
    return meetPerson(state, moment.atMs, out);
  }
  meetMachine(state, moment.atMs, out);
  watchGreeting(state, moment, out);
}

/** What the person has said meanwhile is answered now. */
function meetPerson(state: ConversationState, atMs: number, out: ConversationEffect[]): void {
  state.answerer.kind = "person";
  clearDeadline(state, "answerer");
  answerOrGreet(state, atMs, out);
}

/**
 * Answers what the person has said, or says the greeting that waits for a person. A person who is speaking finishes first: what
 * waits is not left to their words, which STT may take back.
 */
export function answerOrGreet(
  state: ConversationState,
  atMs: number,
  out: ConversationEffect[],
): void {
  const { answerer, user, control, phase } = state;
  if (phase !== "live" || control.isMuted) return;
  const isSpeaking = pendingText(user.hearing) !== "" || user.digits !== "";
  const isTurn = turnOf(state) !== undefined;
  if (isSpeaking || isTurn) {
    // The end of the agent's turn answers the person, and does not greet.
    const isWatched = isPersonThere(state) && (!isTurn || answerer.isGreetingDue);
    if (isWatched) setDeadline(state, "answerer", atMs + PERSON_RECHECK_MS);
  } else if (user.unanswered !== "") startTurnReply(state, atMs, out);
  else if (!greetPerson(state, atMs, out)) watchCaller(state, atMs);
}

/** What the agent was saying is not for a machine. */
function meetMachine(state: ConversationState, atMs: number, out: ConversationEffect[]): void {
  const { answerer } = state;
  if (answerer.kind === "machine") return;
  answerer.kind = "machine";
  answerer.untilMs = atMs + greetingMaxMs(state);
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
  const quietMs = quietBeforeMessageMs(settings.outbound);
  if (phase === "opening" && leavesMessage) {
    setDeadline(state, "answerer", atMs + OPENING_MS);
    return;
  }
  if (isScreenerSpeaking(state)) return meetScreener(state, atMs);
  if (atMs >= answerer.untilMs) return endCall(state, MACHINE_ANSWERED, atMs, out);
  if (voiceAgoMs >= quietMs) return onGreetingOver(state, atMs, out);
  setDeadline(state, "answerer", Math.min(answerer.untilMs, atMs + quietMs - voiceAgoMs));
}

function quietBeforeMessageMs(outbound: OutboundSettings | undefined): number {
  if (outbound?.voicemailMessage === "") return SCREENER_QUIET_MS;
  return outbound?.isBeepReported === true ? GREETING_QUIET_BEFORE_BEEP_MS : GREETING_QUIET_MS;
}

/**
 * The machine records from now on: the message is said, and the call ends. A beep within `lateBeepMaxMs` shows that the recording
 * begins only there.
 */
function onGreetingOver(
  state: ConversationState,
  atMs: number,
  out: ConversationEffect[],
  lateBeepMaxMs = LATE_BEEP_MAX_MS,
): void {
  const { answerer, settings, phase, user } = state;
  const sentences = speakableSentences(settings.outbound?.voicemailMessage ?? "");
  if (sentences.length === 0) return endCall(state, MACHINE_ANSWERED, atMs, out);
  if (phase !== "live") {
    setDeadline(state, "answerer", atMs + OPENING_MS);
    return;
  }
  clearDeadline(state, "answerer");
  clearDeadline(state, "endpointing");
  cutTurn(state, atMs, out);
  dropCutSpeech(state);
  answerer.kind = "voicemail";
  answerer.untilMs = atMs + lateBeepMaxMs;
  user.unanswered = "";
  startScripted(state, "voicemail", sentences, atMs, out, MESSAGE_LEFT);
}
