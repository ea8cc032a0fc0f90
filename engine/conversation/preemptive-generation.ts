import { isBackchannel } from "./backchannel.js";
import { clearDeadline, setDeadline } from "./deadlines.js";
import { ownEcho } from "./echo.js";
import type { SessionEffect } from "./effects.js";
import { predictsContinuation } from "./endpointing.js";
import type {
  CallerTurnEndingEvent,
  DeadlineReachedEvent,
  TranscriptEvent,
  TurnEvent,
} from "./events.js";
import { isSameWords } from "./lexicon.js";
import {
  isBeingTransferred,
  joinWords,
  type PreemptiveReply,
  type SessionState,
  turnMessages,
  withMessages,
} from "./state.js";
import { estimateTokens } from "./token-estimate.js";
import { pendingText } from "./transcript-buffer.js";

/** Words that end no longer ago may be going on. */
const QUIET_MIN_MS = 150;
/** A caller who goes on twice will do so again: then the end of the turn is waited for. */
const TRIES_MAX = 2;
/** No reply that is longer is spoken. */
const TEXT_CHARS_MAX = 4_000;

/** Words have come that will not change any more, and the recognizer has not said that they are the turn's last. */
export function watchForEarly(
  state: SessionState,
  { isFinal, hasTurnDetection, endedAgoMs, atMs }: TranscriptEvent,
  out: SessionEffect[],
): void {
  if (!isFinal || hasTurnDetection === true || !mayBegin(state, atMs)) return;
  if (endedAgoMs >= QUIET_MIN_MS) beginEarly(state, atMs, out);
  else setDeadline(state, "preemptiveGeneration", atMs + QUIET_MIN_MS - endedAgoMs);
}

export function onPreemptiveGenerationDeadline(
  state: SessionState,
  { atMs, voiceAgoMs = QUIET_MIN_MS }: DeadlineReachedEvent,
  out: SessionEffect[],
): void {
  if (state.hearing.interim !== "" || !mayBegin(state, atMs)) return;
  const leftMs = QUIET_MIN_MS - voiceAgoMs;
  if (leftMs < 1) beginEarly(state, atMs, out);
  else setDeadline(state, "preemptiveGeneration", atMs + leftMs);
}

/** A recognizer that decides turns thinks that this one is ending; it says so when it was wrong. */
export function onTurnEnding(
  state: SessionState,
  { atMs }: CallerTurnEndingEvent,
  out: SessionEffect[],
): void {
  if (mayBegin(state, atMs, true)) beginEarly(state, atMs, out);
}

/** The model answers words that may not be the last. What it asks to have done waits too; a fault is no loss yet. */
export function onEarlyEvent(state: SessionState, early: PreemptiveReply, event: TurnEvent): void {
  switch (event.type) {
    case "replyToken":
      if (early.text.length < TEXT_CHARS_MAX) early.text += event.text;
      return;
    case "replyDone":
      early.done = event;
      return;
    case "replyFailed":
      refuse(state);
      return;
    // Nothing of it was spoken or done.
    case "toolDone":
    case "sentenceGrew":
    case "sentenceWhole":
    case "sentenceFailed":
    case "sentenceHeard":
    case "played":
      return;
  }
}

/** The organization has no room for more replies that may be thrown away. */
export function onPreemptiveRefused(state: SessionState, turnId: number): void {
  if (state.early?.turnId === turnId) refuse(state);
}

function refuse(state: SessionState): void {
  state.early = undefined;
  state.preemptiveTries = TRIES_MAX;
}

/** Whether what the caller has said in the end is what was answered before it was certain. */
export function isAnswered(early: PreemptiveReply, userText: string): boolean {
  return isSameWords(early.userText, userText);
}

/** The caller has said more or something else, or nobody waits for a reply any more: what was made of it is waste. */
export function dropPreemptiveReply(state: SessionState, out: SessionEffect[]): void {
  const { early, metrics } = state;
  if (early === undefined) return;
  const { turnId, userText, text, done } = early;
  const tokens = done?.tokens ?? estimateTokens(state, userText, text.length);
  out.push({ type: "dropPreemptiveReply", turnId, tokens });
  state.early = undefined;
  state.wastedTokens += tokens;
  state.metrics = { ...metrics, totalTokens: metrics.totalTokens + tokens };
}

/** After every event: an early reply lives as long as its words are the last and nobody else speaks. */
export function dropStaleReply(state: SessionState, out: SessionEffect[]): void {
  const { early, turn, hearing } = state;
  if (early === undefined) return;
  if (turn === undefined && isSameWords(pendingText(hearing), early.words)) return;
  dropPreemptiveReply(state, out);
}

function beginEarly(state: SessionState, atMs: number, out: SessionEffect[]): void {
  state.lastTurnId += 1;
  const turnId = state.lastTurnId;
  const words = pendingText(state.hearing);
  const userText = joinWords(state.unanswered, words);
  const history = withMessages(state.history, turnMessages(userText, ""));
  clearDeadline(state, "preemptiveGeneration");
  out.push({ type: "startPreemptiveReply", turnId, history });
  state.early = { turnId, userText, words, askedAtMs: atMs, text: "", done: undefined };
  state.preemptiveTries += 1;
}

function mayBegin(state: SessionState, atMs: number, isDecided = false): boolean {
  const { settings, turn, early, preemptiveTries, suspectedEcho, digits } = state;
  if (!settings.preemptiveGeneration || turn !== undefined || early !== undefined) return false;
  if (state.toolsDone !== undefined) return false;
  if (preemptiveTries >= TRIES_MAX || suspectedEcho !== undefined || digits !== "") return false;
  const text = pendingText(state.hearing);
  if (text === "" || isBeingTransferred(state) || ownEcho(state, text) !== "none") return false;
  if (settings.backchannels === "ignore" && isBackchannel(state, text, atMs)) return false;
  return isDecided || !predictsContinuation(state, text);
}
