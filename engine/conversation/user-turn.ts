import {
  answerCaller,
  answerSuspectedEcho,
  callerSaid,
  FALSE_INTERRUPTION_MAX_MS,
  handleUserSpeech,
  handleVoice,
  interruptFor,
  onFalseInterruption,
} from "./barge-in.js";
import { keypadText } from "./commit-turn.js";
import { clearDeadline, setDeadline } from "./deadlines.js";
import type { SessionEffect } from "./effects.js";
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
  DigitEvent,
  SpeechStartedEvent,
  TranscriptEvent,
  UtteranceEndEvent,
  WrittenEvent,
} from "./events.js";
import { guessGivenOut, withoutLateWords } from "./late-transcripts.js";
import { isSameWords } from "./lexicon.js";
import { watchForEarly } from "./preemptive-generation.js";
import type { EndOfTurn, EndOfTurnDecision } from "./reasons.js";
import { roundMs, type SessionState } from "./state.js";
import * as detector from "./transcript-buffer.js";

/** Longer than any card or account number. */
const DIGITS_MAX = 32;
/** Where it is not known how many keys make an answer: behind one key, and behind several, which are a number. */
const DIGITS_PAUSE_MS = 1_200;
const NUMBER_PAUSE_MS = 2_000;
/** No finger ends two numbers closer together: of a flood of pound keys not every one is a turn. */
const DIGITS_APART_MIN_MS = 500;

export function onSpeechStarted(
  state: SessionState,
  event: SpeechStartedEvent,
  out: SessionEffect[],
): SessionState {
  if (detector.pendingText(state.hearing) !== "" && !isUndecided(state)) {
    setDeadline(state, "endpointing", event.atMs + UNSETTLED_MAX_MS);
  }
  const voiced = { ...state, voicedAtMs: event.atMs };
  return handleVoice(voiced, event, out);
}

export function onTranscript(
  before: SessionState,
  told: TranscriptEvent,
  out: SessionEffect[],
): SessionState {
  const { late, transcript: event } = withoutLateWords(before.late, told, told.atMs);
  const state = { ...before, late };
  const ending = event.speechFinal
    ? decideEndOfTurn(state, { type: "endpointing", event })
    : undefined;
  const settled =
    ending?.isDone === false ? { ...event, isFinal: true, speechFinal: false } : event;
  const heard = detector.onTranscript(state.hearing, settled);
  const text = detector.pendingText(heard.state);
  if ((event.text === "" || text === "") && heard.turnText === undefined) {
    const isOver = text === "" && state.digits === "";
    const utteranceBeganAtMs = isOver ? undefined : state.utteranceBeganAtMs;
    return answerSuspectedEcho(
      { ...state, hearing: heard.state, utteranceBeganAtMs },
      event.atMs,
      out,
    );
  }
  const noted = noteWords(state, event, heard.state);
  const wasReported = isSameWords(detector.pendingText(state.hearing), text);
  const said = {
    text: heard.turnText ?? text,
    words: heard.words,
    isSettled: event.isFinal,
    isRepeated: wasReported,
  };
  const floor = handleUserSpeech(noted, said, event.atMs, out);
  // A goodbye that was held, and of which everything is over, ends the call when it goes on.
  if (floor.phase === "ended") return floor;
  if (heard.turnText !== undefined) {
    const end = endOfTurn(floor, { reason: "endpointing" }, event.atMs);
    return callerSaid(floor, heard.turnText, end, event.atMs, out);
  }
  out.push({ type: "send", message: { type: "transcript", role: "user", text, isFinal: false } });
  // A guess that is told again is no sign that the caller goes on.
  if (!isRepeated(state, event)) {
    recheck(noted, decideEndOfTurn(noted, { type: "words", event, text }));
  }
  return watchForEarly(floor, event, out);
}

export function onUtteranceEnd(
  state: SessionState,
  event: UtteranceEndEvent,
  out: SessionEffect[],
): SessionState {
  const heard = detector.onUtteranceEnd(state.hearing, event.lastWordEndMs);
  if (heard.turnText === undefined) return { ...state, hearing: heard.state };
  const decision = decideEndOfTurn(state, { type: "utteranceEnd", event });
  if (decision.isDone) return turnEnded(state, heard, decision, event.atMs, out);
  recheck(state, decision);
  return state;
}

/** The STT never reported that the caller was done: the local timer decides. */
export function onEndpointingDeadline(
  state: SessionState,
  event: DeadlineReachedEvent,
  out: SessionEffect[],
): SessionState {
  const decision = decideEndOfTurn(state, { type: "timer", event });
  if (decision.isDone) {
    return turnEnded(state, detector.onSilenceTimeout(state.hearing), decision, event.atMs, out);
  }
  recheck(state, decision);
  return state;
}

/** The turn detection of the STT says that the caller is done. */
export function onCallerTurnEnded(
  state: SessionState,
  event: CallerTurnEndedEvent,
  out: SessionEffect[],
): SessionState {
  const decision = decideEndOfTurn(state, { type: "vendor", event });
  if (decision.isDone) {
    return turnEnded(state, detector.onSilenceTimeout(state.hearing), decision, event.atMs, out);
  }
  recheck(state, decision);
  return { ...state, undecidedMaxMs: undefined };
}

/** Has the end of the turn decided again, if nothing happens until then. */
function recheck(state: SessionState, decision: EndOfTurnDecision): void {
  if (!decision.isDone) setDeadline(state, "endpointing", decision.recheckAtMs);
}

type DoneEnd = Pick<EndOfTurn, "reason" | "waitedFor">;

function endOfTurn(
  { callerEndedAtMs }: Pick<SessionState, "callerEndedAtMs">,
  { reason, waitedFor }: DoneEnd,
  atMs: number,
): EndOfTurn {
  const waitedMs = roundMs(Math.max(0, atMs - callerEndedAtMs));
  return { reason, waitedMs, ...(waitedFor === undefined ? {} : { waitedFor }) };
}

/** A turn that ended without the recognizer's word may hold guesses, whose final version is still to come. */
function turnEnded(
  state: SessionState,
  heard: detector.TurnStep,
  decision: DoneEnd,
  atMs: number,
  out: SessionEffect[],
): SessionState {
  if (heard.turnText === undefined) return { ...state, hearing: heard.state };
  const { interim, interimEndMs } = state.hearing;
  const endMs = interimEndMs < 0 ? undefined : interimEndMs;
  const late = interim === "" ? state.late : guessGivenOut(state.late, interim, endMs, atMs);
  const end = endOfTurn(state, decision, atMs);
  return callerSaid({ ...state, late, hearing: heard.state }, heard.turnText, end, atMs, out);
}

/** An interruption that no words followed; words that are still on their way get more time. */
export function onFalseInterruptionDeadline(
  state: SessionState,
  atMs: number,
  out: SessionEffect[],
): SessionState {
  const isUnderway = detector.pendingText(state.hearing) !== "" || state.digits !== "";
  if (!isUnderway) return onFalseInterruption(state, atMs, out);
  setDeadline(state, "falseInterruption", atMs + FALSE_INTERRUPTION_MAX_MS);
  return state;
}

/** Keys are collected until a pause or the pound key, and then taken as one thing that was said. */
export function onDigit(
  state: SessionState,
  event: DigitEvent,
  out: SessionEffect[],
): SessionState {
  const { settings } = state;
  const isApart = event.atMs - state.dtmfTakenAtMs >= DIGITS_APART_MIN_MS;
  // People press the pound key after the last digit all the same, though that was enough.
  const isClosing = event.digit === "#" && state.digits === "" && !isApart;
  if (settings.dtmfDigits > 0 && isClosing) return state;
  const digits = `${state.digits}${event.digit}`.slice(0, DIGITS_MAX);
  const { utteranceBeganAtMs = event.atMs } = state;
  const noted = { ...state, digits, utteranceBeganAtMs, lastDigitAtMs: event.atMs };
  const floor = interruptFor(noted, { type: "dtmf" }, event.atMs, out);
  const isWhole = settings.dtmfDigits > 0 && digits.length >= settings.dtmfDigits;
  if ((isWhole || event.digit === "#") && isApart) {
    return takeDigits(floor, isWhole ? "dtmfDigits" : "poundKey", event.atMs, out);
  }
  const isNumber = digits.length > 1 || detector.pendingText(state.hearing) !== "";
  const delayMs = isNumber ? NUMBER_PAUSE_MS : DIGITS_PAUSE_MS;
  setDeadline(state, "dtmf", event.atMs + delayMs);
  return floor;
}

/** No key has followed for a while. */
export function onDtmfDeadline(
  state: SessionState,
  atMs: number,
  out: SessionEffect[],
): SessionState {
  return takeDigits(state, "dtmfTimeout", atMs, out);
}

function takeDigits(
  state: SessionState,
  reason: EndOfTurn["reason"],
  atMs: number,
  out: SessionEffect[],
): SessionState {
  if (state.digits === "") return state;
  clearDeadline(state, "dtmf");
  // "My PIN is", and the keys of it: the words are not settled for the keys, but were said before them.
  const { hearing } = state;
  const isSaidBefore = hearing.finals !== "" && hearing.interim === "";
  const said = isSaidBefore
    ? turnEnded(state, detector.onSilenceTimeout(hearing), { reason }, atMs, out)
    : state;
  const text = keypadText(said.digits);
  const taken = { ...said, digits: "", dtmfTakenAtMs: atMs, callerEndedAtMs: atMs };
  const end = endOfTurn({ callerEndedAtMs: state.lastDigitAtMs }, { reason }, atMs);
  return answerCaller(taken, text, end, atMs, out);
}

/** Written words are whole and the caller's own: they stop the agent at once, and are answered at once. */
export function onWritten(
  state: SessionState,
  { text, atMs }: WrittenEvent,
  out: SessionEffect[],
): SessionState {
  const floor = interruptFor(state, { type: "message" }, atMs, out);
  const said = { ...floor, callerEndedAtMs: atMs };
  return answerCaller(said, text, endOfTurn(said, { reason: "message" }, atMs), atMs, out);
}

function noteWords(
  state: SessionState,
  event: TranscriptEvent,
  hearing: detector.HearingState,
): SessionState {
  const endedAtMs = event.atMs - event.endedAgoMs;
  const isOld = event.text === "" || isRepeated(state, event);
  return {
    ...state,
    hearing,
    undecidedMaxMs: undecidedMaxMs(event),
    utteranceBeganAtMs: state.utteranceBeganAtMs ?? Math.min(endedAtMs, event.atMs),
    callerEndedAtMs: isOld ? state.callerEndedAtMs : endedAtMs,
    wordsLateMs: sttDelayMs(state, event),
  };
}
