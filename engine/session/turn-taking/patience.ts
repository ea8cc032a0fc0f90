import { isDictating } from "../../speech/dictation.js";
import { isOpenEnded } from "../../speech/open-ending.js";
import { isSameWords } from "../../speech/spoken-words.js";
import * as detector from "../../speech/turn-detector.js";
import { wordCount } from "../../speech/word-count.js";
import type { SessionEffect } from "../effects.js";
import type { TimerFiredEvent, TranscriptEvent, UtteranceEndEvent } from "../events.js";
import { joinWords } from "../kept-conversation.js";
import type { SessionState } from "../state.js";
import { ownEcho } from "./own-echo.js";

/** A noise that sounds like a voice keeps a turn open for so long after its last words, and no longer. */
const VOICE_WITHOUT_WORDS_MAX_MS = 8_000;
/** So long after a voice the recognizer may tell its words; some are asked only when it has ended. */
const WORDS_AFTER_VOICE_MAX_MS = 3_000;

/** So many turns of the caller's in a row that end with a mark tell of a recognizer that writes them. */
const MARKED_TURNS_MIN = 2;
/** Fewer words are often left without a mark. */
const UNMARKED_WORDS_MIN = 3;
const ENDING_MARK = /[.!?。！？؟।][\s"'”’»)」』]*$/u;
/** An STT counts as slow when its words arrive this long after they ended; a quick one needs its endpointing and a network. */
const SLOW_WORDS_MIN_MS = 1_000;
/** No STT is later, with the replay on a second connection: the words are of another time, as those behind a gap in the audio. */
const SLOW_WORDS_MAX_MS = 8_000;
/** A voice dies away behind the last word for less than this. */
const UNTOLD_VOICE_MIN_MS = 700;
/** The words of the voice after the newest words come about as late as those did. */
const WORDS_DUE_MARGIN_MS = 500;

/** How long a silence after these words ends the caller's turn, where the recognizer has not ended it. */
export function pauseMs(state: SessionState, text: string): number {
  const { silenceTimeoutMs, patienceMs } = state.settings;
  return isMoreExpected(state, text) ? Math.max(patienceMs, silenceTimeoutMs) : silenceTimeoutMs;
}

/** The recognizer's silence mark in the middle of a dictation or of a sentence is a pause, not an end; the timer decides. */
export function withPatience(state: SessionState, event: TranscriptEvent): TranscriptEvent {
  if (!event.speechFinal) return event;
  // The newest guess stands in the event's own words.
  const text = joinWords(state.hearing.finals, event.text);
  const said = {
    ...state,
    callerEndedAtMs: event.atMs - event.endedAgoMs,
    wordsLateMs: sttDelayMs(state, event),
  };
  if (text === "") return event;
  if (!isMoreExpected(said, text) && untoldVoiceMs(said, event) < 1) return event;
  return { ...event, isFinal: true, speechFinal: false };
}

/** Whether the recognizer's other mark, that it heard no word for a while, comes before the caller can be done. */
export function isTooEarly(
  state: SessionState,
  event: UtteranceEndEvent,
  out: SessionEffect[],
): boolean {
  const text = detector.pendingText(state.hearing);
  const openMs = isMoreExpected(state, text) ? pauseMs(state, text) - event.endedAgoMs : 0;
  const leftMs = Math.max(openMs, text === "" ? 0 : untoldVoiceMs(state, event));
  if (leftMs <= 0) return false;
  out.push({ type: "startTimer", timer: "silence", delayMs: leftMs });
  return true;
}

/** The server hears a voice, though the recognizer told no words of it yet: the turn waits for the end of that voice. */
export function isStillSpeaking(
  state: SessionState,
  { atMs, voiceAgoMs }: TimerFiredEvent,
  out: SessionEffect[],
): boolean {
  const text = detector.pendingText(state.hearing);
  if (text === "" || voiceAgoMs === undefined) return false;
  const openMs = state.callerEndedAtMs + VOICE_WITHOUT_WORDS_MAX_MS - atMs;
  const isUntold = state.voicedAtMs > state.callerEndedAtMs;
  const silenceMs = Math.max(pauseMs(state, text), isUntold ? WORDS_AFTER_VOICE_MAX_MS : 0);
  const quietMs = (state.undecidedMaxMs ?? silenceMs) - voiceAgoMs;
  const leftMs = Math.max(Math.min(quietMs, openMs), untoldVoiceMs(state, { atMs, voiceAgoMs }));
  if (leftMs < 1) return false;
  out.push({ type: "startTimer", timer: "silence", delayMs: leftMs });
  return true;
}

/**
 * How long to wait for the words of a voice that was heard after the newest words, from a recognizer that is late: an answer to what
 * has come so far would be one to half a sentence.
 */
export function untoldVoiceMs(
  { callerEndedAtMs, wordsLateMs, turn }: SessionState,
  { atMs, voiceAgoMs }: { readonly atMs: number; readonly voiceAgoMs?: number | undefined },
): number {
  // The voice may be the agent's own, out of the caller's loudspeaker.
  const isSpeaking = turn !== undefined && atMs < turn.ledger.endsAtMs;
  const isSlow = wordsLateMs >= SLOW_WORDS_MIN_MS && wordsLateMs <= SLOW_WORDS_MAX_MS;
  if (voiceAgoMs === undefined || !isSlow || isSpeaking) return 0;
  const voicedAtMs = atMs - voiceAgoMs;
  if (voicedAtMs - callerEndedAtMs < UNTOLD_VOICE_MIN_MS) return 0;
  const openUntilMs = callerEndedAtMs + wordsLateMs + VOICE_WITHOUT_WORDS_MAX_MS;
  return Math.min(voicedAtMs + wordsLateMs + WORDS_DUE_MARGIN_MS, openUntilMs) - atMs;
}

/**
 * How late the STT tells its newest words, counted from when it was given their audio: a vendor that floods gives it ahead of time,
 * which is no delay of the STT.
 */
export function sttDelayMs(state: SessionState, event: TranscriptEvent): number {
  if (!isNews(state, event)) return state.wordsLateMs;
  return Math.min(event.endedAgoMs, event.arrivedAgoMs ?? event.endedAgoMs);
}

/** Whether the event tells other words than the newest guess: a final result of the same words says nothing of their delay. */
function isNews({ hearing }: SessionState, { text }: TranscriptEvent): boolean {
  return text !== "" && !isSameWords(hearing.interim, text);
}

/** The agent's own words, coming back, are no sentence that the caller has left open. */
export function isMoreExpected(state: SessionState, text: string): boolean {
  const isOpen =
    isDictating(text, lastSaidByAssistant(state)) ||
    isOpenEnded(text, state.settings.language) ||
    lacksMark(state, text);
  return isOpen && ownEcho(state, text) === "none";
}

/** The recognizer has ended whatever the caller said before with a mark, and these words not. */
function lacksMark({ history }: SessionState, text: string): boolean {
  if (ENDING_MARK.test(text) || wordCount(text) < UNMARKED_WORDS_MIN) return false;
  const said = history.filter(({ role }) => role === "user").slice(-MARKED_TURNS_MIN);
  return said.length === MARKED_TURNS_MIN && said.every(({ content }) => ENDING_MARK.test(content));
}

function lastSaidByAssistant(state: SessionState): string {
  return state.history.findLast((message) => message.role === "assistant")?.content ?? "";
}
