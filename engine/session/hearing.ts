import { isDictating } from "../speech/dictation.js";
import { isEcho, mayBeEcho } from "../speech/echo-guard.js";
import * as detector from "../speech/turn-detector.js";
import type { SaidMessage, SessionEffect } from "./effects.js";
import type {
  DigitEvent,
  SpeechStartedEvent,
  TranscriptEvent,
  UtteranceEndEvent,
} from "./events.js";
import { hold } from "./holding.js";
import { interrupt, onPhantom, PHANTOM_MAX_MS, wordsInterrupt } from "./interruption.js";
import { beginReply } from "./replying.js";
import { joinWords, keypadText, settleTurn } from "./settlement.js";
import type { SessionState } from "./state.js";
import type { Turn } from "./turn.js";

/** After words that may still change, or a voice without words, the vendor has this long to settle them. */
const UNSETTLED_MAX_MS = 3_000;
/** Longer than any card or account number. */
const DIGITS_MAX = 32;
const DIGITS_PAUSE_MS = 2_000;
/** No finger ends two numbers closer together: of a flood of pound keys not every one is a turn. */
const DIGITS_APART_MIN_MS = 500;
/** People pause between the groups of a number; their turn is not over then. */
const DICTATION_PAUSE_MS = 1_500;

export function onSpeechStarted(
  state: SessionState,
  event: SpeechStartedEvent,
  out: SessionEffect[],
): SessionState {
  if (detector.pendingText(state.hearing) !== "") {
    out.push({ type: "startTimer", timer: "silence", delayMs: UNSETTLED_MAX_MS });
  }
  const { turn } = state;
  if (turn === undefined || turn.sentCount === 0) return state;
  if (state.settings.sensitivity === "high") return interrupt(state, turn, event.atMs, out);
  return hold(state, turn, event.atMs, out);
}

export function onTranscript(
  state: SessionState,
  event: TranscriptEvent,
  out: SessionEffect[],
): SessionState {
  const heard = detector.onTranscript(state.hearing, withDictation(state, event));
  const text = detector.pendingText(heard.state);
  if ((event.text === "" || text === "") && heard.turnText === undefined) {
    return { ...state, hearing: heard.state };
  }
  const noted = noteWords(state, event, heard.state);
  const floor = takeFloor(noted, heard.turnText ?? text, heard.words, event.atMs, out);
  if (floor.phase === "ended") return floor;
  if (heard.turnText !== undefined) return callerSaid(floor, heard.turnText, event.atMs, out);
  out.push({ type: "send", message: { type: "transcript", role: "user", text, isFinal: false } });
  const delayMs = event.isFinal
    ? pauseMs(state, text)
    : Math.max(UNSETTLED_MAX_MS, state.settings.silenceTimeoutMs);
  out.push({ type: "startTimer", timer: "silence", delayMs });
  return floor;
}

export function onUtteranceEnd(
  state: SessionState,
  event: UtteranceEndEvent,
  out: SessionEffect[],
): SessionState {
  const heard = detector.onUtteranceEnd(state.hearing, event.lastWordEndMs);
  if (heard.turnText === undefined) return { ...state, hearing: heard.state };
  return callerSaid({ ...state, hearing: heard.state }, heard.turnText, event.atMs, out);
}

/** The vendor never said that the caller was done: the local timer does. */
export function onSilence(state: SessionState, atMs: number, out: SessionEffect[]): SessionState {
  const heard = detector.onSilenceTimeout(state.hearing);
  if (heard.turnText === undefined) return { ...state, hearing: heard.state };
  return callerSaid({ ...state, hearing: heard.state }, heard.turnText, atMs, out);
}

/** An interruption that no words followed; words that are still on their way get more time. */
export function onPhantomTimer(
  state: SessionState,
  atMs: number,
  out: SessionEffect[],
): SessionState {
  if (detector.pendingText(state.hearing) === "") return onPhantom(state, atMs, out);
  out.push({ type: "startTimer", timer: "phantom", delayMs: PHANTOM_MAX_MS });
  return state;
}

/** Keys are collected until a pause or the pound key, and then taken as one thing that was said. */
export function onDigit(
  state: SessionState,
  event: DigitEvent,
  out: SessionEffect[],
): SessionState {
  const digits = `${state.digits}${event.digit}`.slice(0, DIGITS_MAX);
  const { turn } = state;
  const noted = { ...state, digits, utteranceBeganAtMs: state.utteranceBeganAtMs ?? event.atMs };
  const floor = turn === undefined ? noted : interrupt(noted, turn, event.atMs, out);
  if (floor.phase === "ended") return floor;
  const isApart = event.atMs - state.digitsTakenAtMs >= DIGITS_APART_MIN_MS;
  if (event.digit === "#" && isApart) return onDigitsTimer(floor, event.atMs, out);
  out.push({ type: "startTimer", timer: "digits", delayMs: DIGITS_PAUSE_MS });
  return floor;
}

export function onDigitsTimer(
  state: SessionState,
  atMs: number,
  out: SessionEffect[],
): SessionState {
  if (state.digits === "") return state;
  out.push({ type: "cancelTimer", timer: "digits" });
  const text = keypadText(state.digits);
  const taken = { ...state, digits: "", digitsTakenAtMs: atMs, callerEndedAtMs: atMs };
  return callerSaid(taken, text, atMs, out);
}

/** One turn of the caller is over: answer it, unless the assistant is speaking and was not to be interrupted. */
function callerSaid(
  state: SessionState,
  text: string,
  atMs: number,
  out: SessionEffect[],
): SessionState {
  if (state.turn !== undefined && isEcho(text, speakingText(state.turn))) {
    return { ...state, utteranceBeganAtMs: undefined };
  }
  const said: SaidMessage = { role: "user", text, atMs: state.utteranceBeganAtMs ?? atMs };
  out.push({ type: "send", message: { type: "transcript", role: "user", text, isFinal: true } });
  // Keys may come in the middle of words, which are still to be settled.
  if (detector.pendingText(state.hearing) === "") {
    out.push({ type: "cancelTimer", timer: "silence" });
  }
  out.push({ type: "cancelTimer", timer: "phantom" });
  const noted: SessionState = {
    ...state,
    utteranceBeganAtMs: undefined,
    unanswered: joinWords(state.unanswered, text),
    unsaved: [...state.unsaved, said],
    cutSentences: [],
  };
  const { turn } = noted;
  if (turn === undefined) return beginReply(noted, atMs, out);
  if (turn.sentCount > 0 || turn.kind !== "reply") return noted;
  out.push({ type: "abortTurn", turnId: turn.id });
  return beginReply(settleTurn(noted, turn, "superseded", atMs, out), atMs, out);
}

function takeFloor(
  state: SessionState,
  text: string,
  words: number,
  atMs: number,
  out: SessionEffect[],
): SessionState {
  const { turn } = state;
  if (turn === undefined || !wordsInterrupt(state.settings.sensitivity, words)) return state;
  if (mayBeEcho(text, speakingText(turn))) return state;
  return interrupt(state, turn, atMs, out);
}

/** What the caller hears, or has just heard, of the turn. */
function speakingText(turn: Turn): string {
  return turn.ledger.sent.map((sentence) => sentence.text).join(" ");
}

function noteWords(
  state: SessionState,
  event: TranscriptEvent,
  hearing: detector.HearingState,
): SessionState {
  const endedAtMs = event.atMs - event.endedAgoMs;
  return {
    ...state,
    hearing,
    utteranceBeganAtMs: state.utteranceBeganAtMs ?? Math.min(endedAtMs, event.atMs),
    callerEndedAtMs: event.text === "" ? state.callerEndedAtMs : endedAtMs,
  };
}

/** Speech-final in the middle of a dictated number is a pause, not an end; the local timer decides. */
function withDictation(state: SessionState, event: TranscriptEvent): TranscriptEvent {
  if (!event.speechFinal || event.text === "") return event;
  const text = joinWords(detector.pendingText(state.hearing), event.text);
  if (!isDictating(text, lastSaidByAssistant(state))) return event;
  return { ...event, isFinal: true, speechFinal: false };
}

function pauseMs(state: SessionState, text: string): number {
  const { silenceTimeoutMs } = state.settings;
  if (!isDictating(text, lastSaidByAssistant(state))) return silenceTimeoutMs;
  return Math.max(DICTATION_PAUSE_MS, silenceTimeoutMs);
}

function lastSaidByAssistant(state: SessionState): string {
  return state.history.findLast((message) => message.role === "assistant")?.content ?? "";
}
