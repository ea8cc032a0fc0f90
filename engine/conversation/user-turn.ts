import {
  answerCaller,
  answerSuspectedEcho,
  callerSaid,
  FALSE_INTERRUPTION_MAX_MS,
  handleUserSpeech,
  hold,
  interrupt,
  onFalseInterruption,
  waitForOverlapWords,
} from "./barge-in.js";
import { keypadText } from "./commit-turn.js";
import type { SessionEffect } from "./effects.js";
import {
  isBeforeEndOfTurn,
  isRepeated,
  isStillSpeaking,
  isUndecided,
  pauseMs,
  sttDelayMs,
  undecidedLeftMs,
  undecidedMaxMs,
  untoldVoiceMs,
  withEndpointingDelay,
} from "./endpointing.js";
import type {
  CallerTurnEndedEvent,
  DigitEvent,
  SpeechStartedEvent,
  TimerFiredEvent,
  TranscriptEvent,
  UtteranceEndEvent,
  WrittenEvent,
} from "./events.js";
import { guessGivenOut, withoutLateWords } from "./late-transcripts.js";
import { isSameWords } from "./lexicon.js";
import { watchForEarly } from "./preemptive-generation.js";
import { answersSent, type SessionState } from "./state.js";
import * as detector from "./transcript-buffer.js";

/** After words that may still change, or a voice without words, the vendor has this long to settle them. */
const UNSETTLED_MAX_MS = 3_000;
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
    out.push({ type: "startTimer", timer: "silence", delayMs: UNSETTLED_MAX_MS });
  }
  const voiced = { ...state, voicedAtMs: event.atMs };
  const { turn } = voiced;
  if (turn === undefined) return voiced;
  const isBefore = answersSent(turn) === 0 && event.atMs >= turn.ledger.endsAtMs;
  if (isBefore) return waitForOverlapWords(voiced, turn, event, out);
  return hold(voiced, turn, event.atMs, out);
}

export function onTranscript(
  before: SessionState,
  told: TranscriptEvent,
  out: SessionEffect[],
): SessionState {
  const { late, transcript: event } = withoutLateWords(before.late, told, told.atMs);
  const state = { ...before, late };
  const heard = detector.onTranscript(state.hearing, withEndpointingDelay(state, event));
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
  if (heard.turnText !== undefined) return callerSaid(floor, heard.turnText, event.atMs, out);
  out.push({ type: "send", message: { type: "transcript", role: "user", text, isFinal: false } });
  // A guess that is told again is no sign that the caller goes on.
  if (!isRepeated(state, event)) {
    out.push({ type: "startTimer", timer: "silence", delayMs: silenceMs(noted, event, text) });
  }
  return watchForEarly(floor, event, out);
}

export function onUtteranceEnd(
  state: SessionState,
  event: UtteranceEndEvent,
  out: SessionEffect[],
): SessionState {
  const heard = detector.onUtteranceEnd(state.hearing, event.lastWordEndMs);
  if (heard.turnText !== undefined && isBeforeEndOfTurn(state, event, out)) return state;
  return turnEnded(state, heard, event.atMs, out);
}

/** The vendor never said that the caller was done: the local timer does. */
export function onSilence(
  state: SessionState,
  event: TimerFiredEvent,
  out: SessionEffect[],
): SessionState {
  if (isStillSpeaking(state, event, out)) return state;
  return onTurnDecided(state, event.atMs, out);
}

/** So does a vendor that decides turns; but one that is late may have ended the first of two sentences, and not heard the second. */
export function onCallerTurnEnded(
  state: SessionState,
  event: CallerTurnEndedEvent,
  out: SessionEffect[],
): SessionState {
  const leftMs = untoldVoiceMs(state, event);
  if (leftMs < 1 || detector.pendingText(state.hearing) === "") {
    return onTurnDecided(state, event.atMs, out);
  }
  out.push({ type: "startTimer", timer: "silence", delayMs: leftMs });
  return { ...state, undecidedMaxMs: undefined };
}

/** A vendor that decides turns says that the caller is done. */
export function onTurnDecided(
  state: SessionState,
  atMs: number,
  out: SessionEffect[],
): SessionState {
  return turnEnded(state, detector.onSilenceTimeout(state.hearing), atMs, out);
}

/** A turn that ended without the recognizer's word may hold guesses, whose final version is still to come. */
function turnEnded(
  state: SessionState,
  heard: detector.TurnStep,
  atMs: number,
  out: SessionEffect[],
): SessionState {
  if (heard.turnText === undefined) return { ...state, hearing: heard.state };
  const { interim, interimEndMs } = state.hearing;
  const endMs = interimEndMs < 0 ? undefined : interimEndMs;
  const late = interim === "" ? state.late : guessGivenOut(state.late, interim, endMs, atMs);
  return callerSaid({ ...state, late, hearing: heard.state }, heard.turnText, atMs, out);
}

/** An interruption that no words followed; words that are still on their way get more time. */
export function onPhantomTimer(
  state: SessionState,
  atMs: number,
  out: SessionEffect[],
): SessionState {
  const isUnderway = detector.pendingText(state.hearing) !== "" || state.digits !== "";
  if (!isUnderway) return onFalseInterruption(state, atMs, out);
  out.push({ type: "startTimer", timer: "falseInterruption", delayMs: FALSE_INTERRUPTION_MAX_MS });
  return state;
}

/** Keys are collected until a pause or the pound key, and then taken as one thing that was said. */
export function onDigit(
  state: SessionState,
  event: DigitEvent,
  out: SessionEffect[],
): SessionState {
  const { turn, settings } = state;
  const isApart = event.atMs - state.dtmfTakenAtMs >= DIGITS_APART_MIN_MS;
  // People press the pound key after the last digit all the same, though that was enough.
  const isClosing = event.digit === "#" && state.digits === "" && !isApart;
  if (settings.dtmfDigits > 0 && isClosing) return state;
  const digits = `${state.digits}${event.digit}`.slice(0, DIGITS_MAX);
  const noted = { ...state, digits, utteranceBeganAtMs: state.utteranceBeganAtMs ?? event.atMs };
  const floor = turn === undefined ? noted : interrupt(noted, turn, event.atMs, out);
  const isWhole = settings.dtmfDigits > 0 && digits.length >= settings.dtmfDigits;
  if ((isWhole || event.digit === "#") && isApart) return onDtmfTimer(floor, event.atMs, out);
  const isNumber = digits.length > 1 || detector.pendingText(state.hearing) !== "";
  const delayMs = isNumber ? NUMBER_PAUSE_MS : DIGITS_PAUSE_MS;
  out.push({ type: "startTimer", timer: "digits", delayMs });
  return floor;
}

export function onDtmfTimer(state: SessionState, atMs: number, out: SessionEffect[]): SessionState {
  if (state.digits === "") return state;
  out.push({ type: "cancelTimer", timer: "digits" });
  // "My PIN is", and the keys of it: the words are not settled for the keys, but were said before them.
  const { hearing } = state;
  const isSaidBefore = hearing.finals !== "" && hearing.interim === "";
  const said = isSaidBefore
    ? turnEnded(state, detector.onSilenceTimeout(hearing), atMs, out)
    : state;
  const text = keypadText(said.digits);
  const taken = { ...said, digits: "", dtmfTakenAtMs: atMs, callerEndedAtMs: atMs };
  return answerCaller(taken, text, atMs, out);
}

/** Written words are whole and the caller's own: they stop the agent at once, and are answered at once. */
export function onWritten(
  state: SessionState,
  { text, atMs }: WrittenEvent,
  out: SessionEffect[],
): SessionState {
  const { turn } = state;
  const floor = turn === undefined ? state : interrupt(state, turn, atMs, out);
  return answerCaller({ ...floor, callerEndedAtMs: atMs }, text, atMs, out);
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

function silenceMs(state: SessionState, event: TranscriptEvent, text: string): number {
  const { undecidedMaxMs: maxMs } = state;
  if (maxMs !== undefined) return undecidedLeftMs(event, maxMs);
  return event.isFinal
    ? pauseMs(state, text)
    : Math.max(UNSETTLED_MAX_MS, state.settings.silenceTimeoutMs);
}
