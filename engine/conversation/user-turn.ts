import {
  answerCaller,
  answerSuspectedEcho,
  FALSE_INTERRUPTION_MAX_MS,
  handleUserSpeech,
  handleVoice,
  interruptFor,
  onFalseInterruption,
  recordCallerWords,
} from "./barge-in.js";
import { spokenIn } from "./call-language.js";
import { setDeadline } from "./deadlines.js";
import type { ConversationEffect } from "./effects.js";
import {
  decideEndOfTurn,
  isRepeated,
  isUndecided,
  sttDelayMs,
  UNSETTLED_MAX_MS,
  undecidedMaxMs,
} from "./endpointing.js";
import type {
  CallerTurnEndedEvent,
  DeadlineReachedEvent,
  SpeechStartedEvent,
  TranscriptEvent,
  UtteranceEndEvent,
  WrittenEvent,
} from "./events.js";
import { guessCommitted, withoutLateWords } from "./late-transcripts.js";
import { isSameWords } from "./lexicon.js";
import { considerPreemptiveReply } from "./preemptive-generation.js";
import type { EndOfTurn, EndOfTurnDecision } from "./reasons.js";
import { type ConversationState, roundMs } from "./state.js";
import * as detector from "./transcript-buffer.js";

export function onSpeechStarted(
  state: ConversationState,
  event: SpeechStartedEvent,
  out: ConversationEffect[],
): void {
  if (detector.pendingText(state.user.hearing) !== "" && !isUndecided(state)) {
    setDeadline(state, "endpointing", event.atMs + UNSETTLED_MAX_MS);
  }
  state.user.voicedAtMs = event.atMs;
  handleVoice(state, event, out);
}

export function onTranscript(
  state: ConversationState,
  received: TranscriptEvent,
  out: ConversationEffect[],
): void {
  const { late, transcript: event } = withoutLateWords(state.user.late, received, received.atMs);
  state.user.late = late;
  const ending = event.speechFinal
    ? decideEndOfTurn(state, { type: "endpointing", event })
    : undefined;
  const settled =
    ending?.isDone === false ? { ...event, isFinal: true, speechFinal: false } : event;
  const heard = detector.onTranscript(state.user.hearing, settled);
  const text = detector.pendingText(heard.state);
  if ((event.text === "" || text === "") && heard.turnText === undefined) {
    state.user.hearing = heard.state;
    if (text === "" && state.user.digits === "") state.user.utteranceBeganAtMs = undefined;
    answerSuspectedEcho(state, event.atMs, out);
    return;
  }
  const wasReported = isSameWords(detector.pendingText(state.user.hearing), text);
  const isOld = isRepeated(state, event);
  noteWords(state, event, heard.state, isOld);
  // A repeated interim result does not show that the caller continues.
  const recheckOf =
    heard.turnText !== undefined || isOld
      ? undefined
      : decideEndOfTurn(state, { type: "words", event, text });
  const said = {
    text: heard.turnText ?? text,
    words: heard.words,
    isSettled: event.isFinal,
    isRepeated: wasReported,
  };
  handleUserSpeech(state, said, event.atMs, out);
  // A postponed goodbye that has been played in full ends the call when it resumes.
  if (state.phase === "ended") return;
  if (heard.turnText !== undefined) {
    const end = endOfTurn(state.user.endedAtMs, { reason: "endpointing" }, event.atMs);
    const spoken = { ...end, ...spokenIn(state, heard.language) };
    recordCallerWords(state, heard.turnText, spoken, event.atMs, out);
    return;
  }
  out.push({ type: "send", message: { type: "transcript", role: "user", text, isFinal: false } });
  if (recheckOf !== undefined) recheck(state, recheckOf);
  considerPreemptiveReply(state, event, out);
}

export function onUtteranceEnd(
  state: ConversationState,
  event: UtteranceEndEvent,
  out: ConversationEffect[],
): void {
  const heard = detector.onUtteranceEnd(state.user.hearing, event.lastWordEndMs);
  if (heard.turnText === undefined) {
    state.user.hearing = heard.state;
    return;
  }
  const decision = decideEndOfTurn(state, { type: "utteranceEnd", event });
  if (decision.isDone) turnEnded(state, heard, decision, event.atMs, out);
  else recheck(state, decision);
}

/** The STT never reported that the caller was done: the local timer decides. */
export function onEndpointingDeadline(
  state: ConversationState,
  event: DeadlineReachedEvent,
  out: ConversationEffect[],
): void {
  const decision = decideEndOfTurn(state, { type: "timer", event });
  if (decision.isDone) {
    turnEnded(state, detector.onSilenceTimeout(state.user.hearing), decision, event.atMs, out);
  } else recheck(state, decision);
}

/** The turn detection of the STT says that the caller is done. */
export function onCallerTurnEnded(
  state: ConversationState,
  event: CallerTurnEndedEvent,
  out: ConversationEffect[],
): void {
  const decision = decideEndOfTurn(state, { type: "vendor", event });
  if (decision.isDone) {
    turnEnded(state, detector.onSilenceTimeout(state.user.hearing), decision, event.atMs, out);
    return;
  }
  recheck(state, decision);
  state.user.undecidedMaxMs = undefined;
}

/** Schedules the decision about the end of the turn again, if no event arrives before. */
function recheck(state: ConversationState, decision: EndOfTurnDecision): void {
  if (!decision.isDone) setDeadline(state, "endpointing", decision.recheckAtMs);
}

type DoneEnd = Pick<EndOfTurn, "reason" | "waitedFor">;

export function endOfTurn(
  endedAtMs: number,
  { reason, waitedFor }: DoneEnd,
  atMs: number,
): EndOfTurn {
  const waitedMs = roundMs(Math.max(0, atMs - endedAtMs));
  return { reason, waitedMs, ...(waitedFor === undefined ? {} : { waitedFor }) };
}

/** A turn that ended without the STT's report may contain interim words, whose final version is still to come. */
export function turnEnded(
  state: ConversationState,
  heard: detector.TurnStep,
  decision: DoneEnd,
  atMs: number,
  out: ConversationEffect[],
): void {
  const { interim, interimEndMs } = state.user.hearing;
  state.user.hearing = heard.state;
  if (heard.turnText === undefined) return;
  const endMs = interimEndMs < 0 ? undefined : interimEndMs;
  if (interim !== "") state.user.late = guessCommitted(state.user.late, interim, endMs, atMs);
  const end = endOfTurn(state.user.endedAtMs, decision, atMs);
  const spoken = { ...end, ...spokenIn(state, heard.language) };
  recordCallerWords(state, heard.turnText, spoken, atMs, out);
}

/** No words followed an interruption; words that are still on their way get more time. */
export function onFalseInterruptionDeadline(
  state: ConversationState,
  atMs: number,
  out: ConversationEffect[],
): void {
  const isUnderway = detector.pendingText(state.user.hearing) !== "" || state.user.digits !== "";
  if (isUnderway) setDeadline(state, "falseInterruption", atMs + FALSE_INTERRUPTION_MAX_MS);
  else onFalseInterruption(state, atMs, out);
}

/** Written words are complete and the caller's own: they stop the agent and are answered immediately. */
export function onWritten(
  state: ConversationState,
  { text, atMs }: WrittenEvent,
  out: ConversationEffect[],
): void {
  interruptFor(state, { type: "message" }, atMs, out);
  state.user.endedAtMs = atMs;
  answerCaller(
    state,
    text,
    endOfTurn(state.user.endedAtMs, { reason: "message" }, atMs),
    atMs,
    out,
  );
}

function noteWords(
  state: ConversationState,
  event: TranscriptEvent,
  hearing: detector.TranscriptBuffer,
  isOld: boolean,
): void {
  const endedAtMs = event.atMs - event.endedAgoMs;
  state.user.sttDelayMs = sttDelayMs(state, event);
  state.user.hearing = hearing;
  state.user.undecidedMaxMs = undecidedMaxMs(event);
  state.user.utteranceBeganAtMs ??= Math.min(endedAtMs, event.atMs);
  if (event.text !== "" && !isOld) state.user.endedAtMs = endedAtMs;
}
