/** A machine or a person who asks, in place of the person who is called, who is calling and why. */

import { saveWords } from "./commit-turn.js";
import { clearDeadline, setDeadline } from "./deadlines.js";
import type { ConversationEffect } from "./effects.js";
import { answeringMachineIn, asksBack, asksToWait, recordsMessage } from "./lexicon.js";
import { startScripted } from "./playout.js";
import { speakableSentences } from "./sentences.js";
import { type ConversationState, isPersonThere, joinWords } from "./state.js";
import { pendingText } from "./transcript-buffer.js";

/** After this many answered turns of a person, a question for the name is a question for the agent. */
const SCREENED_TURNS_MAX = 2;
/** A screener that asks more often does not understand the answer, and gets no further one. */
const ANSWERS_MAX = 2;
/** How long the agent waits for the person, from the screener's newest words. */
const PERSON_MAX_MS = 60_000;

/**
 * What was said on a placed call before a person is known to be there: a screener gets name and reason, and a person the greeting
 * that waited. False where the words are an ordinary turn, or are not answered yet.
 */
export function meetAnswerer(
  state: ConversationState,
  atMs: number,
  out: ConversationEffect[],
): boolean {
  const { settings, answerer, user, control } = state;
  if (settings.outbound === undefined || answerer.kind === "voicemail") return false;
  if (user.unanswered === "" || control.isMuted) return false;
  if (isScreening(state)) {
    answerScreener(state, atMs, out);
    return true;
  }
  if (answerer.kind === "screener") {
    answerer.kind = "person";
    clearDeadline(state, "answerer");
  }
  return greetPerson(state, atMs, out);
}

/** Says the greeting if it has waited for a person. */
export function greetPerson(
  state: ConversationState,
  atMs: number,
  out: ConversationEffect[],
): boolean {
  const { answerer, settings } = state;
  if (!answerer.isGreetingDue || !isPersonThere(state)) return false;
  answerer.isGreetingDue = false;
  const sentences = speakableSentences(settings.greeting);
  if (sentences.length === 0) return false;
  startScripted(state, "greeting", sentences, atMs, out);
  return true;
}

/** Whether the words that are being said show a screener, which is answered when it has finished. */
export function isScreenerSpeaking(state: ConversationState): boolean {
  return answeringMachineIn(state.settings.languageTag, answererWords(state)) === "screener";
}

/** What was said and not answered, also what is being said. */
export function answererWords({ user }: ConversationState): string {
  return joinWords(user.unanswered, pendingText(user.hearing));
}

/** From now on a person is waited for. */
export function meetScreener(state: ConversationState, atMs: number): void {
  const { answerer } = state;
  answerer.kind = "screener";
  answerer.untilMs = atMs + PERSON_MAX_MS;
  setDeadline(state, "answerer", answerer.untilMs);
}

/**
 * A screener asks again, or says that the person is being called. What takes a message has called nobody: its beep follows. All
 * other words are a person's, who talks to the agent.
 */
function isScreening({ settings, answerer, user, record }: ConversationState): boolean {
  if (record.metrics.turnCount >= SCREENED_TURNS_MAX) return false;
  // The person was met before the call broke off.
  if (settings.outbound?.continued?.kind === "person") return false;
  const { languageTag } = settings;
  if (answeringMachineIn(languageTag, user.unanswered) === "screener") return true;
  if (answerer.screeningAnswers === 0 || answerer.kind !== "screener") return false;
  if (recordsMessage(languageTag, user.unanswered)) return true;
  return asksToWait(languageTag, user.unanswered) && !asksBack(languageTag, user.unanswered);
}

function answerScreener(state: ConversationState, atMs: number, out: ConversationEffect[]): void {
  const { settings, answerer, user } = state;
  const isAsking = answeringMachineIn(settings.languageTag, user.unanswered) === "screener";
  answerer.recordsMessage ||= !isAsking && recordsMessage(settings.languageTag, user.unanswered);
  meetScreener(state, atMs);
  const sentences = speakableSentences(settings.outbound?.screeningAnswer ?? "");
  if (!isAsking || answerer.screeningAnswers >= ANSWERS_MAX || sentences.length === 0) {
    user.unanswered = "";
    saveWords(state, out);
    return;
  }
  answerer.screeningAnswers += 1;
  startScripted(state, "screening", sentences, atMs, out);
}
