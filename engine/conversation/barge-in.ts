/** What the caller's speech does to the agent's: it is paused, stopped, resumed, or goes on. */

import type { InterruptionSensitivity } from "../../storage/records.js";
import {
  isAnsweringYes,
  isBackchannel,
  isOnlyBackchannel,
  mayShowListening,
  noteBackchannel,
  waitsForQuestion,
} from "./backchannel.js";
import { isRevocable } from "./call-end.js";
import { commitTurn, stopTurn, unheardSentences, withSuspectedEcho } from "./commit-turn.js";
import { echoBehindSuspectedEcho, noteEcho, ownEcho } from "./echo.js";
import type { SaidMessage, SessionEffect } from "./effects.js";
import type { SentenceHeardEvent, SpeechStartedEvent, TimerFiredEvent } from "./events.js";
import { watchCaller } from "./idle.js";
import { isClosing, onPlaybackEnd } from "./playback-end.js";
import { alignEnd, delayPlayback, heldBack, lengthMsOf, markedEndMs } from "./playback-ledger.js";
import {
  advanceSpeech,
  beginScripted,
  newSentence,
  SENTENCES_MAX,
  STALL_MAX_MS,
} from "./playout.js";
import { beginReply } from "./reply.js";
import {
  isAllSent,
  isFiller,
  isGrowing,
  joinWords,
  type Sentence,
  type SessionState,
  type Turn,
} from "./state.js";
import { isSendingDtmf } from "./tools.js";
import { pendingText, wordCount } from "./transcript-buffer.js";
import { endAfterSpeech } from "./transfer.js";

/** How long a stopped assistant waits for the words of the one who stopped it. */
export const FALSE_INTERRUPTION_MAX_MS = 2_500;

const WORDS_TO_INTERRUPT: Readonly<Record<InterruptionSensitivity, number>> = {
  high: 1,
  medium: 1,
  low: 2,
};

export function wordsInterrupt(sensitivity: InterruptionSensitivity, words: number): boolean {
  return words >= WORDS_TO_INTERRUPT[sensitivity];
}

/**
 * The caller takes the floor. A turn that has been heard in part stops; one that has not been heard at all is taken
 * back, and its question waits for the rest. Without words by the deadline it goes on (`onFalseInterruption`).
 */
export function interrupt(
  state: SessionState,
  turn: Turn,
  atMs: number,
  out: SessionEffect[],
): SessionState {
  // What has to end the call ends it; a goodbye is taken back.
  if (turn.ending !== undefined && !isRevocable(turn.ending)) return state;
  const isPaused = state.outputPausedAtMs !== undefined && !state.settings.isPaced;
  const spoke = turn.sentCount > 0;
  // First of all: closing the vendors' connections takes longer than telling the caller.
  if (spoke && !isPaused) out.push({ type: "send", message: { type: "audioStop" } });
  stopTurn(state, turn, out);
  out.push({ type: "startTimer", timer: "falseInterruption", delayMs: FALSE_INTERRUPTION_MAX_MS });
  const counted = spoke && !isPaused ? countInterruption(state) : state;
  const outcome = spoke ? "interrupted" : "superseded";
  const cutSentences = unheardSentences(turn, Math.min(atMs, state.outputPausedAtMs ?? atMs));
  const settled = commitTurn({ ...counted, falseInterruptions: 0 }, turn, outcome, atMs, out);
  return { ...settled, cutSentences, cutEndReason: turn.ending };
}

/** Nobody said a word after all, a cough perhaps: the assistant goes on with the sentence it was in. */
export function onFalseInterruption(
  state: SessionState,
  atMs: number,
  out: SessionEffect[],
): SessionState {
  if (state.turn !== undefined) return state;
  const { cutSentences, cutEndReason } = state;
  if (cutSentences.length > 0) {
    const next = { ...state, cutSentences: [], cutEndReason: undefined };
    return beginScripted(next, "resumed", cutSentences, atMs, out, cutEndReason);
  }
  if (cutEndReason !== undefined)
    return endAfterSpeech(state, state.lastTurnId, cutEndReason, atMs, out);
  if (state.unanswered !== "") return beginReply(state, atMs, out);
  watchCaller(state, out);
  return state;
}

export function countInterruption(state: SessionState): SessionState {
  const metrics = { ...state.metrics, interruptions: state.metrics.interruptions + 1 };
  return { ...state, metrics };
}

/** Only an agent that any voice interrupts is stopped by one, and not in its goodbye. */
export function mayPause(state: SessionState, turn: Turn): boolean {
  const { sensitivity } = state.settings;
  return (
    sensitivity === "high" && turn.ending === undefined && turn.sentences.length < SENTENCES_MAX
  );
}

/**
 * The client drops what it has not played. The sentence that was cut becomes two, what was heard of it and the rest; the
 * rest and what follows are spoken again, and are ready when it is known that the caller said nothing.
 */
export function pause(
  state: SessionState,
  turn: Turn,
  atMs: number,
  out: SessionEffect[],
): SessionState {
  const { ledger, index, heard } = heldBack(turn.ledger, atMs);
  const before = turn.sentences.slice(0, index);
  const slot = before.filter((sentence) => !isFiller(sentence)).length;
  out.push({ type: "dropAudio", turnId: turn.id, index: slot });
  out.push({ type: "send", message: { type: "audioStop" } });
  out.push({ type: "cancelTimer", timer: "ahead" });
  if (isGrowing(turn)) out.push({ type: "cancelTimer", timer: "growth" });
  const [cut, ...after] = turn.sentences.slice(index);
  const said = cut === undefined || heard === undefined ? [] : [heardSentence(cut, heard)];
  const begun = heard?.text.length ?? 0;
  const isSaidAgain = cut !== undefined && !isFiller(cut);
  const rest = isSaidAgain ? [cut.text.slice(begun).trimStart()] : [];
  const texts = [...rest, ...after.filter((one) => !isFiller(one)).map(({ text }) => text)];
  const slotFirst = slot + (isSaidAgain ? said.length : 0);
  const again = texts.map((text, at) => newSentence(text, slotFirst + at));
  const sentences = [...before, ...said, ...again];
  const sentCount = ledger.sent.length;
  const fillerCount = sentences.filter(isFiller).length;
  const playedBeforeMs = lengthMsOf(ledger);
  const askedCount = sentCount;
  const counts = { sentCount, askedCount, fillerCount, playedBeforeMs };
  const paused = { ...turn, ledger, sentences, ...counts };
  return advanceSpeech(countInterruption(state), paused, atMs, out);
}

/** What was heard of a sentence stands as one of its own. */
function heardSentence(
  { slot }: Sentence,
  { text, durationMs }: { text: string; durationMs: number },
): Sentence {
  return { ...newSentence(text, slot), durationMs, isWhole: true };
}

/** A caller who makes a sound has this long to say a word; then the assistant goes on. */
const OUTPUT_PAUSE_MAX_MS = 1_200;
/** So many turns in a row were held for nothing: a loudspeaker, a street. Then only words stop the assistant, until they do. */
const VAIN_HOLDS_MAX = 3;

/**
 * First stage of an interruption: a voice, of which nobody knows what it will say. Paced audio stands still; where the
 * server does not pace it, and any voice is to stop the assistant, it is stopped, and what was not heard is kept. Model and
 * voice go on meanwhile. A turn is held for nothing once.
 */
export function hold(
  state: SessionState,
  turn: Turn,
  atMs: number,
  out: SessionEffect[],
): SessionState {
  if (state.outputPausedAtMs !== undefined || atMs >= turn.ledger.endsAtMs) return state;
  if (turn.wasFalselyInterrupted || state.falseInterruptions >= VAIN_HOLDS_MAX) return state;
  const { isPaced } = state.settings;
  if (!isPaced && !mayPause(state, turn)) return state;
  if (isPaced) out.push({ type: "pauseOutput" });
  const held = { ...state, outputPausedAtMs: atMs };
  const next = isPaced ? held : pause(held, turn, atMs, out);
  out.push({ type: "cancelTimer", timer: "playback" });
  out.push({ type: "cancelTimer", timer: "stall" });
  out.push({ type: "startTimer", timer: "hold", delayMs: OUTPUT_PAUSE_MAX_MS });
  return next;
}

/** No words came, or none that interrupt. */
export function onOutputPauseTimer(
  state: SessionState,
  atMs: number,
  out: SessionEffect[],
): SessionState {
  if (state.outputPausedAtMs === undefined) return state;
  return resumeOutput({ ...state, falseInterruptions: state.falseInterruptions + 1 }, atMs, out);
}

/** It was a cough, an echo or a word that does not interrupt: if the audio stands still, it goes on where it stood. */
export function resumeOutput(
  state: SessionState,
  atMs: number,
  out: SessionEffect[],
): SessionState {
  const { outputPausedAtMs, turn } = state;
  if (outputPausedAtMs === undefined || turn === undefined) return state;
  const { isPaced } = state.settings;
  out.push({ type: "cancelTimer", timer: "hold" });
  if (isPaced) out.push({ type: "resumeAudio" });
  // Where it was paused instead, all that was sent is over.
  const ledger = delayPlayback(turn.ledger, outputPausedAtMs, atMs - outputPausedAtMs);
  const leftMs = Math.max(0, ledger.endsAtMs - atMs);
  out.push({ type: "startTimer", timer: "stall", delayMs: leftMs + STALL_MAX_MS });
  const released = { ...state, outputPausedAtMs: undefined };
  return advanceSpeech(released, { ...turn, ledger, wasFalselyInterrupted: true }, atMs, out);
}

/**
 * The telephone's own word for what was heard replaces the estimate. What was sent ahead of a hold is heard in spite of it:
 * then the audio has stood still only since the end of this sentence.
 */
export function onSentenceHeard(
  state: SessionState,
  turn: Turn,
  event: SentenceHeardEvent,
  out: SessionEffect[],
): SessionState {
  if (event.index >= turn.sentCount) return state;
  const { outputPausedAtMs } = state;
  const isHeld = outputPausedAtMs !== undefined;
  const endedAtMs = markedEndMs(turn.ledger, event.index, event.atMs);
  const noted = isHeld
    ? { ...state, outputPausedAtMs: Math.max(outputPausedAtMs, endedAtMs) }
    : state;
  const ledger = alignEnd(turn.ledger, event.index, event.atMs);
  const aligned = { ...turn, ledger };
  if (isAllSent(turn) && event.index === turn.sentCount - 1) {
    out.push({ type: "cancelTimer", timer: isHeld ? "hold" : "playback" });
    if (isHeld) out.push({ type: "resumeAudio" });
    return onPlaybackEnd({ ...noted, turn: aligned }, event.atMs, out);
  }
  return advanceSpeech(noted, aligned, event.atMs, out);
}

/** A caller who makes a sound has this long to say a word, where the server has no ear of its own. */
const WORDLESS_MAX_MS = 1_200;
/** A voice that goes on without words is waited for no longer. */
const ONSET_MAX_MS = 3_000;
const LOOK_AGAIN_MS = 400;
/** The server heard a voice so lately that it may be going on. */
const VOICE_RECENT_MS = 500;

/** The caller speaks on before the reply has begun: it does not talk over words that are still to come. Once for a turn. */
export function waitForOverlapWords(
  state: SessionState,
  turn: Turn,
  { atMs, voiceAgoMs }: SpeechStartedEvent,
  out: SessionEffect[],
): SessionState {
  if (turn.kind !== "reply" || turn.hasWaitedForWords) return state;
  if (voiceAgoMs !== undefined && voiceAgoMs > VOICE_RECENT_MS) return state;
  const delayMs = voiceAgoMs === undefined ? WORDLESS_MAX_MS : LOOK_AGAIN_MS;
  out.push({ type: "startTimer", timer: "onset", delayMs });
  return { ...state, turn: { ...turn, overlapAtMs: atMs, hasWaitedForWords: true } };
}

/** No word has come: it was a cough, or the end of what has been answered. */
export function onOnsetTimer(
  state: SessionState,
  { atMs, voiceAgoMs }: TimerFiredEvent,
  out: SessionEffect[],
): SessionState {
  const { turn } = state;
  if (turn?.overlapAtMs === undefined) return state;
  const isSpeaking = voiceAgoMs !== undefined && voiceAgoMs <= VOICE_RECENT_MS;
  if (isSpeaking && atMs - turn.overlapAtMs < ONSET_MAX_MS) {
    out.push({ type: "startTimer", timer: "onset", delayMs: LOOK_AGAIN_MS });
    return state;
  }
  // The caller was not waiting while saying something, whatever it was; a voice without end is a noise.
  const voiceAtMs = voiceAgoMs === undefined ? Number.NEGATIVE_INFINITY : atMs - voiceAgoMs;
  const isLater = !isSpeaking && voiceAtMs > turn.overlapAtMs && voiceAtMs > turn.callerEndedAtMs;
  const callerEndedAtMs = isLater ? voiceAtMs : turn.callerEndedAtMs;
  return advanceSpeech(state, { ...turn, overlapAtMs: undefined, callerEndedAtMs }, atMs, out);
}

export interface HeardWords {
  readonly text: string;
  readonly words: number;
  /** The newest of them will not change any more. */
  readonly isSettled: boolean;
  /** They were told before. */
  readonly isRepeated?: boolean;
}

/** The next word tells "no" from "no problem"; when none has come by then, the word stands for itself. */
const NEXT_WORD_MAX_MS = 250;

/** The caller says words: the assistant stops where they ask for that. */
export function handleUserSpeech(
  state: SessionState,
  { text, words, isSettled, isRepeated = false }: HeardWords,
  atMs: number,
  out: SessionEffect[],
): SessionState {
  const { turn } = state;
  if (turn === undefined || isSendingDtmf(turn, atMs)) return state;
  const echo = ownEcho(state, text, { mayGoOn: !isSettled });
  if (echo === "certain") return resumeOutput(noteEcho(state, words, atMs), atMs, out);
  if (echo === "possible") return state;
  if (turn.ending !== undefined) {
    return isFarewell(state, text)
      ? resumeOutput(state, atMs, out)
      : interrupt(state, turn, atMs, out);
  }
  const { sensitivity } = state.settings;
  if (isBackchannel(state, text, atMs)) {
    // Where any voice stops the assistant, a word does so too; it goes on when nothing else follows.
    const isFirst = sensitivity === "high" && state.outputPausedAtMs === undefined;
    return isFirst ? hold(state, turn, atMs, out) : resumeOutput(state, atMs, out);
  }
  if (sensitivity !== "high" && waitsForQuestion(state, text))
    return resumeOutput(state, atMs, out);
  // The next word tells "of course" from "of all rooms".
  if (sensitivity !== "high" && !isSettled && mayShowListening(state, text, atMs)) {
    if (!isRepeated) out.push({ type: "startTimer", timer: "nextWord", delayMs: NEXT_WORD_MAX_MS });
    return state;
  }
  return wordsInterrupt(sensitivity, words) ? interrupt(state, turn, atMs, out) : state;
}

/** No word has come behind one that could become agreement with it. */
export function onNextWordTimer(
  state: SessionState,
  atMs: number,
  out: SessionEffect[],
): SessionState {
  const text = pendingText(state.hearing);
  if (text === "") return state;
  return handleUserSpeech(state, { text, words: wordCount(text), isSettled: true }, atMs, out);
}

/** One turn of the caller is over: answer it, unless the assistant is speaking and was not to be interrupted. */
export function callerSaid(
  before: SessionState,
  text: string,
  atMs: number,
  out: SessionEffect[],
): SessionState {
  const beganAtMs = before.utteranceBeganAtMs ?? atMs;
  const { told, isDone } = afterEcho(before, text, beganAtMs);
  if (isDone) return answerSuspectedEcho(resumeOutput(told, atMs, out), atMs, out);
  const state = told;
  if (state.settings.backchannels === "ignore" && isBackchannel(state, text, atMs)) {
    // It has not stopped the agent; the answer to a question of a moment ago waits until that has spoken.
    if (!isOnlyBackchannel(state, text, atMs)) {
      return answerCaller(resumeOutput(state, atMs, out), text, atMs, out);
    }
    const said: SaidMessage = { role: "user", text, atMs: beganAtMs };
    return onFalseInterruption(
      resumeOutput(noteBackchannel(state, said, out), atMs, out),
      atMs,
      out,
    );
  }
  return answerCaller(state, text, atMs, out);
}

/** As `callerSaid`, of words that are surely the caller's own and want an answer. */
export function answerCaller(
  state: SessionState,
  text: string,
  atMs: number,
  out: SessionEffect[],
): SessionState {
  const beganAtMs = state.utteranceBeganAtMs ?? atMs;
  const noted = noteSaid(state, { role: "user", text, atMs: beganAtMs }, out);
  const { turn } = noted;
  // Keys that are being pressed go on with what was said.
  if (turn === undefined && noted.digits !== "") return noted;
  if (turn === undefined) return beginReply(noted, atMs, out);
  if (turn.ending !== undefined && (isFarewell(noted, text) || !isRevocable(turn.ending))) {
    return afterFarewell(noted, turn, atMs, out);
  }
  if (turn.sentCount > 0 || turn.kind !== "reply" || isSendingDtmf(turn, atMs)) return noted;
  out.push({ type: "abortTurn", turnId: turn.id });
  // A turn of which nothing could be said waits for its end, which must not become the end of the next one.
  if (isAllSent(turn)) out.push({ type: "cancelTimer", timer: "playback" });
  return beginReply(commitTurn(noted, turn, "superseded", atMs, out), atMs, out);
}

/** The recognizer took back words for which doubtful ones waited: those are answered if nobody speaks. */
export function answerSuspectedEcho(
  state: SessionState,
  atMs: number,
  out: SessionEffect[],
): SessionState {
  if (state.turn !== undefined || state.suspectedEcho === undefined) return state;
  if (pendingText(state.hearing) !== "") return state;
  return beginReply(withSuspectedEcho(state, out), atMs, out);
}

function noteSaid(state: SessionState, said: SaidMessage, out: SessionEffect[]): SessionState {
  const sure = withSuspectedEcho(state, out);
  const { text } = said;
  out.push({ type: "send", message: { type: "transcript", role: "user", text, isFinal: true } });
  // Keys may come in the middle of words, which are still to be settled.
  if (pendingText(state.hearing) === "") out.push({ type: "cancelTimer", timer: "silence" });
  out.push({ type: "cancelTimer", timer: "falseInterruption" });
  return {
    ...sure,
    utteranceBeganAtMs: undefined,
    voicedAtMs: Number.NEGATIVE_INFINITY,
    unanswered: joinWords(sure.unanswered, text),
    unsaved: [...sure.unsaved, said],
    cutSentences: [],
    cutEndReason: undefined,
    reminders: 0,
    repeatRequests: 0,
  };
}

/** Into a goodbye: whether the words let it be one. "Yes" to a question that stands in it does not. */
function isFarewell(state: SessionState, text: string): boolean {
  return isClosing(text, state.settings.language) && !isAnsweringYes(state, text);
}

/** The goodbye was heard already, and the call has only waited for these words. */
function afterFarewell(
  state: SessionState,
  turn: Turn,
  atMs: number,
  out: SessionEffect[],
): SessionState {
  const isHeard = isAllSent(turn) && atMs >= turn.ledger.endsAtMs;
  return isHeard && !state.settings.isPaced
    ? onPlaybackEnd(state, atMs, out)
    : resumeOutput(state, atMs, out);
}

/** What is certainly an echo is dropped, what may be one waits while the agent speaks; the caller's own words are not done with. */
function afterEcho(
  state: SessionState,
  text: string,
  beganAtMs: number,
): { readonly told: SessionState; readonly isDone: boolean } {
  const { turn } = state;
  const { echo, suspectedEcho, echoHeard } = echoBehindSuspectedEcho(state, text);
  const told = echoHeard === state.echoHeard ? state : { ...state, echoHeard };
  if (echo === "certain") {
    return { told: { ...told, utteranceBeganAtMs: undefined, suspectedEcho }, isDone: true };
  }
  const isSpeaking = turn !== undefined && turn.sentCount > 0;
  if (echo === "none" || !isSpeaking) return { told, isDone: false };
  const waiting = {
    text: joinWords(suspectedEcho?.text ?? "", text),
    beganAtMs: suspectedEcho?.beganAtMs ?? beganAtMs,
  };
  return { told: { ...told, utteranceBeganAtMs: undefined, suspectedEcho: waiting }, isDone: true };
}
