/** What the caller's speech does to the agent's: the agent pauses, stops, resumes, or continues. */

import type { InterruptionSensitivity } from "../../storage/records.js";
import {
  isAnsweringYes,
  isBackchannel,
  isBackchannelOf,
  isInterruptionPhrase,
  isOnlyBackchannel,
  mayShowListening,
  noteBackchannel,
  waitsForQuestion,
} from "./backchannel.js";
import { isRevocable } from "./call-end.js";
import { followLanguage } from "./call-language.js";
import { acceptSuspectedEcho, commitTurn, stopTurn, unplayedSentences } from "./commit-turn.js";
import { clearDeadline, setDeadline } from "./deadlines.js";
import { agentEcho, type Echo, echoBehindSuspectedEcho, noteEcho } from "./echo.js";
import type { ConversationEffect, SaidMessage } from "./effects.js";
import type { DeadlineReachedEvent, SentencePlayedEvent, SpeechStartedEvent } from "./events.js";
import { watchCaller } from "./idle.js";
import { isClosing, onPlaybackEnd } from "./playback-end.js";
import { alignEnd, delayPlayback, lengthMsOf, markedEndMs, splitAt } from "./playback-ledger.js";
import {
  advanceSpeech,
  newSentence,
  SENTENCES_MAX,
  STALL_MAX_MS,
  startScripted,
} from "./playout.js";
import {
  BARGE_INS_PER_TURN_MAX,
  type BargeInDecision,
  type BargeInReason,
  type EndOfTurn,
  withBargeIn,
} from "./reasons.js";
import { startTurnReply } from "./reply.js";
import {
  answersSent,
  type ConversationState,
  dropCutSpeech,
  isAllSent,
  isFiller,
  isGrowing,
  joinWords,
  roundMs,
  type Sentence,
  type Turn,
  turnOf,
} from "./state.js";
import { isSendingDtmf } from "./tools.js";
import { pendingText, wordCount } from "./transcript-buffer.js";
import { endAfterSpeech } from "./transfer.js";

/** How long a stopped agent waits for the words of the caller who stopped it. */
export const FALSE_INTERRUPTION_MAX_MS = 2_500;

const WORDS_TO_INTERRUPT: Readonly<Record<InterruptionSensitivity, number>> = {
  high: 1,
  medium: 1,
  low: 2,
};

export function wordsInterrupt(sensitivity: InterruptionSensitivity, words: number): boolean {
  return words >= WORDS_TO_INTERRUPT[sensitivity];
}

export interface UserWords {
  readonly text: string;
  readonly words: number;
  /** The newest word is final. */
  readonly isSettled: boolean;
  /** The words were reported before. */
  readonly isRepeated?: boolean;
}

/** Caller input that may be meant to stop the agent. */
export type CallerSpeech =
  /** A sound without words yet. */
  | { readonly type: "voice"; readonly voiceAgoMs?: number | undefined }
  /** Words of a turn that has not ended. */
  | ({ readonly type: "words" } & UserWords)
  /** All words of a turn that has ended. */
  | { readonly type: "utterance"; readonly text: string; readonly echo: Echo }
  /** Words that are certainly the caller's own and need an answer. */
  | { readonly type: "answerable"; readonly text: string }
  | { readonly type: "dtmf" | "message" }
  /** No words followed a voice. */
  | { readonly type: "noWords" };

/** Whether the agent stops, pauses, resumes or continues, and why. Without an agent turn there is nothing to stop. */
export function decideBargeIn(
  state: ConversationState,
  speech: CallerSpeech,
  atMs: number,
): BargeInDecision {
  const turn = turnOf(state);
  switch (speech.type) {
    case "voice":
      if (turn === undefined) return NOTHING_TO_STOP;
      return decideOnVoice(state, turn, speech.voiceAgoMs, atMs);
    case "words":
      return turn === undefined ? NOTHING_TO_STOP : decideOnWords(state, turn, speech, atMs);
    case "utterance":
      return decideOnUtterance(state, speech, atMs);
    case "answerable":
      return decideOnAnswerable(state, speech.text, atMs);
    case "dtmf":
    case "message":
      return turn === undefined ? NOTHING_TO_STOP : decideInterruption(turn, speech.type);
    case "noWords":
      return resumed(state, "falseInterruption");
  }
}

const NOTHING_TO_STOP: BargeInDecision = { action: "ignore", reason: "nothingPlaying" };

/** The agent is not stopped; paused output resumes. */
function resumed({ outputPausedAtMs }: ConversationState, reason: BargeInReason): BargeInDecision {
  return { action: outputPausedAtMs === undefined ? "ignore" : "resume", reason };
}

/** A forced end of the call stands; a goodbye is taken back. */
function decideInterruption({ ending }: Turn, reason: BargeInReason): BargeInDecision {
  return ending === undefined || isRevocable(ending)
    ? { action: "interrupt", reason }
    : { action: "ignore", reason: "callIsEnding" };
}

function decideOnVoice(
  state: ConversationState,
  turn: Turn,
  voiceAgoMs: number | undefined,
  atMs: number,
): BargeInDecision {
  // A recording is to have no gaps, whatever noise the line makes.
  if (turn.kind === "voicemail") return { action: "ignore", reason: "callIsEnding" };
  if (!isBeforeOutput(turn, atMs)) return decidePause(state, turn, "voice", atMs);
  if (turn.kind !== "reply") return { action: "ignore", reason: "onlyWordsInterrupt" };
  if (turn.hasWaitedForWords) return { action: "ignore", reason: "falseInterruption" };
  const isOver = voiceAgoMs !== undefined && voiceAgoMs > VOICE_RECENT_MS;
  return isOver ? { action: "ignore", reason: "voiceEnded" } : { action: "wait", reason: "voice" };
}

/** A turn is paused for a false interruption at most once. */
function decidePause(
  state: ConversationState,
  turn: Turn,
  reason: "voice" | "backchannel",
  atMs: number,
): BargeInDecision {
  if (state.outputPausedAtMs !== undefined) return { action: "pause", reason };
  if (atMs >= turn.ledger.endsAtMs) return NOTHING_TO_STOP;
  if (turn.wasFalselyInterrupted || state.falseInterruptions >= FALSE_INTERRUPTIONS_MAX) {
    return { action: "ignore", reason: "falseInterruption" };
  }
  const mayStop = state.settings.isPaced || mayPause(state, turn);
  return mayStop ? { action: "pause", reason } : { action: "ignore", reason: "onlyWordsInterrupt" };
}

function decideOnWords(
  state: ConversationState,
  turn: Turn,
  { text, words, isSettled }: UserWords,
  atMs: number,
): BargeInDecision {
  if (isSendingDtmf(turn, atMs)) return { action: "wait", reason: "sendingDtmf" };
  const echo = agentEcho(state, text, { mayGoOn: !isSettled });
  if (echo === "certain") return resumed(state, "echo");
  if (echo === "possible") return { action: "wait", reason: "possibleEcho" };
  if (turn.ending !== undefined) {
    return isFarewell(state, text) ? resumed(state, "farewell") : decideInterruption(turn, "words");
  }
  if (isInterruptionPhrase(state, text)) return decideInterruption(turn, "interruptionPhrase");
  const { sensitivity } = state.settings;
  if (isBackchannel(state, text, atMs)) {
    // Where any voice interrupts, a word does too; the agent continues when no other word follows.
    const isFirst = sensitivity === "high" && state.outputPausedAtMs === undefined;
    if (!isFirst) return resumed(state, "backchannel");
    const decision = decidePause(state, turn, "backchannel", atMs);
    return decision.action === "pause" ? decision : { action: "ignore", reason: "backchannel" };
  }
  if (sensitivity !== "high" && waitsForQuestion(state, text)) {
    return resumed(state, "questionNotOver");
  }
  // The next word tells "of course" from "of all rooms".
  if (sensitivity !== "high" && !isSettled && mayShowListening(state, text, atMs)) {
    return { action: "wait", reason: "nextWordPending" };
  }
  return wordsInterrupt(sensitivity, words)
    ? decideInterruption(turn, "words")
    : { action: "wait", reason: "tooFewWords" };
}

function decideOnUtterance(
  state: ConversationState,
  { text, echo }: { readonly text: string; readonly echo: Echo },
  atMs: number,
): BargeInDecision {
  if (echo === "certain") return resumed(state, "echo");
  const isSpeaking = (turnOf(state)?.sentCount ?? 0) > 0;
  if (echo === "possible" && isSpeaking) {
    const isPaused = state.outputPausedAtMs !== undefined;
    return { action: isPaused ? "resume" : "wait", reason: "possibleEcho" };
  }
  if (state.settings.backchannels === "ignore" && isBackchannel(state, text, atMs)) {
    return resumed(state, "backchannel");
  }
  return decideOnAnswerable(state, text, atMs);
}

function decideOnAnswerable(state: ConversationState, text: string, atMs: number): BargeInDecision {
  const turn = turnOf(state);
  if (turn === undefined) return NOTHING_TO_STOP;
  if (turn.ending !== undefined) {
    if (isFarewell(state, text)) return resumed(state, "farewell");
    if (!isRevocable(turn.ending)) return resumed(state, "callIsEnding");
  }
  const isHeard = turn.sentCount > 0 || turn.kind !== "reply" || isSendingDtmf(turn, atMs);
  return isHeard
    ? { action: "wait", reason: "answeredAfterSpeech" }
    : { action: "interrupt", reason: "turnContinued" };
}

/** Records the decision in its turn and reports it, unless it repeats the previous one. */
function noteBargeIn(
  state: ConversationState,
  { action, reason }: BargeInDecision,
  atMs: number,
  out: ConversationEffect[],
): void {
  const turn = turnOf(state);
  if (turn === undefined) return;
  const bargeIn = { action, reason, atMs: roundMs(atMs - turn.decidedAtMs) };
  const bargeIns = withBargeIn(turn.bargeIns, bargeIn);
  if (bargeIns === turn.bargeIns) return;
  // A noisy line does not cause endless reports; an interruption ends its turn.
  const isReported = turn.bargeIns.length < BARGE_INS_PER_TURN_MAX || action === "interrupt";
  if (isReported) out.push({ type: "reportBargeIn", turnId: turn.id, bargeIn });
  turn.bargeIns = bargeIns;
}

/** Applies a decision about words, digits or a voice. */
function act(
  state: ConversationState,
  decision: BargeInDecision,
  atMs: number,
  out: ConversationEffect[],
): void {
  noteBargeIn(state, decision, atMs, out);
  const turn = turnOf(state);
  if (turn === undefined) return;
  switch (decision.action) {
    case "interrupt":
      interrupt(state, turn, atMs, out);
      return;
    case "pause":
      pauseOutput(state, turn, atMs, out);
      return;
    case "resume":
      resumeOutput(state, atMs, out);
      return;
    case "ignore":
    case "wait":
      return;
  }
}

/**
 * Stops the agent's turn. A turn that was partly heard ends. A turn of which nothing was heard is withdrawn, and
 * its question waits for the caller's next words. Without words by the deadline it resumes
 * (`onFalseInterruption`).
 */
function interrupt(
  state: ConversationState,
  turn: Turn,
  atMs: number,
  out: ConversationEffect[],
): void {
  const isPaused = state.outputPausedAtMs !== undefined && !state.settings.isPaced;
  const spoke = turn.sentCount > 0;
  // The stop message goes first: closing the vendors' connections takes longer.
  if (spoke && !isPaused) out.push({ type: "send", message: { type: "audioStop" } });
  stopTurn(turn, out);
  setDeadline(state, "falseInterruption", atMs + FALSE_INTERRUPTION_MAX_MS);
  if (spoke && !isPaused) countInterruption(state);
  const sentences = unplayedSentences(turn, Math.min(atMs, state.outputPausedAtMs ?? atMs));
  state.falseInterruptions = 0;
  commitTurn(state, turn, spoke ? "interrupted" : "superseded", atMs, out);
  state.cut = { ...state.cut, sentences, ending: turn.ending };
}

/** No words followed, perhaps it was a cough: the agent resumes the sentence that was cut. */
export function onFalseInterruption(
  state: ConversationState,
  atMs: number,
  out: ConversationEffect[],
  reason: "falseInterruption" | "backchannel" = "falseInterruption",
): void {
  if (turnOf(state) !== undefined) return;
  const { sentences, question, ending } = state.cut;
  if (sentences.length > 0) {
    state.cut = { sentences: [], question, ending: undefined };
    startScripted(state, "resumed", sentences, atMs, out, ending);
  } else if (ending !== undefined) {
    endAfterSpeech(state, state.lastTurnId, ending, atMs, out);
    return;
  } else if (state.user.unanswered !== "") {
    startTurnReply(state, atMs, out);
  } else {
    watchCaller(state, atMs);
    return;
  }
  noteBargeIn(state, { action: "resume", reason }, atMs, out);
}

function countInterruption(state: ConversationState): void {
  state.record.metrics = {
    ...state.record.metrics,
    interruptions: state.record.metrics.interruptions + 1,
  };
}

/** A voice pauses the agent only at high sensitivity, and not during a goodbye. */
function mayPause(state: ConversationState, turn: Turn): boolean {
  const { sensitivity } = state.settings;
  return (
    sensitivity === "high" && turn.ending === undefined && turn.sentences.length < SENTENCES_MAX
  );
}

/**
 * The client drops what it has not played. The cut sentence becomes two: the part that was heard, and the rest.
 * The rest and what follows are synthesized again, to be ready if the caller says nothing.
 */
function dropUnplayed(
  state: ConversationState,
  turn: Turn,
  atMs: number,
  out: ConversationEffect[],
): void {
  const { ledger, index, played } = splitAt(turn.ledger, atMs);
  const before = turn.sentences.slice(0, index);
  const slot = before.filter((sentence) => !isFiller(sentence)).length;
  out.push({ type: "dropAudio", turnId: turn.id, index: slot });
  out.push({ type: "send", message: { type: "audioStop" } });
  clearDeadline(state, "synthesisAhead");
  if (isGrowing(turn)) clearDeadline(state, "underrun");
  const [cut, ...after] = turn.sentences.slice(index);
  const said = cut === undefined || played === undefined ? [] : [playedSentence(cut, played)];
  const begun = played?.text.length ?? 0;
  const isSaidAgain = cut !== undefined && !isFiller(cut);
  const rest = isSaidAgain ? [cut.text.slice(begun).trimStart()] : [];
  const texts = [...rest, ...after.filter((one) => !isFiller(one)).map(({ text }) => text)];
  const slotFirst = slot + (isSaidAgain ? said.length : 0);
  const again = texts.map((text, at) => newSentence(text, slotFirst + at));
  turn.ledger = ledger;
  turn.sentences = [...before, ...said, ...again];
  turn.sentCount = ledger.sent.length;
  turn.requestedCount = turn.sentCount;
  turn.fillerCount = turn.sentences.filter(isFiller).length;
  turn.playedBeforeMs = lengthMsOf(ledger);
  countInterruption(state);
  advanceSpeech(state, turn, atMs, out);
}

/** The heard part of a sentence becomes a sentence of its own. */
function playedSentence(
  { slot }: Sentence,
  { text, durationMs }: { text: string; durationMs: number },
): Sentence {
  return { ...newSentence(text, slot), durationMs, isWhole: true };
}

/** After a sound the caller has this long to say a word; then the agent continues. */
const OUTPUT_PAUSE_MAX_MS = 1_200;
/**
 * After this many false interruptions in a row (a loudspeaker, a street), only words stop the agent, until words
 * do.
 */
const FALSE_INTERRUPTIONS_MAX = 3;

/** The caller makes a sound: output may pause, or a reply that has not begun waits for the words. */
export function handleVoice(
  state: ConversationState,
  event: SpeechStartedEvent,
  out: ConversationEffect[],
): void {
  const { atMs, voiceAgoMs } = event;
  const turn = turnOf(state);
  if (turn === undefined) return;
  const decision = decideBargeIn(state, { type: "voice", voiceAgoMs }, atMs);
  act(state, decision, atMs, out);
  if (decision.action === "wait") waitForOverlapWords(state, turn, event);
}

/** Stops the agent for DTMF or a written message, unless the call has to end. */
export function interruptFor(
  state: ConversationState,
  speech: Extract<CallerSpeech, { readonly type: "dtmf" | "message" }>,
  atMs: number,
  out: ConversationEffect[],
): void {
  act(state, decideBargeIn(state, speech, atMs), atMs, out);
}

/**
 * First stage of an interruption: a voice without words yet. Paced audio pauses. Unpaced audio is stopped, and the
 * unheard part is kept. LLM and TTS continue meanwhile.
 */
function pauseOutput(
  state: ConversationState,
  turn: Turn,
  atMs: number,
  out: ConversationEffect[],
): void {
  if (state.outputPausedAtMs !== undefined) return;
  state.outputPausedAtMs = atMs;
  if (state.settings.isPaced) out.push({ type: "pauseOutput" });
  else dropUnplayed(state, turn, atMs, out);
  clearDeadline(state, "playbackEnd");
  clearDeadline(state, "turnStall");
  setDeadline(state, "outputPause", atMs + OUTPUT_PAUSE_MAX_MS);
}

/** No words arrived, or none that interrupt. */
export function onOutputPauseDeadline(
  state: ConversationState,
  atMs: number,
  out: ConversationEffect[],
): void {
  if (state.outputPausedAtMs === undefined) return;
  state.falseInterruptions += 1;
  act(state, decideBargeIn(state, { type: "noWords" }, atMs), atMs, out);
}

/** It was a cough, an echo or words that do not interrupt: paused audio resumes. */
function resumeOutput(state: ConversationState, atMs: number, out: ConversationEffect[]): void {
  const { outputPausedAtMs } = state;
  const turn = turnOf(state);
  if (outputPausedAtMs === undefined || turn === undefined) return;
  clearDeadline(state, "outputPause");
  if (state.settings.isPaced) out.push({ type: "resumeAudio" });
  // With paced audio, everything that was sent has been played.
  turn.ledger = delayPlayback(turn.ledger, outputPausedAtMs, atMs - outputPausedAtMs);
  const leftMs = Math.max(0, turn.ledger.endsAtMs - atMs);
  setDeadline(state, "turnStall", atMs + leftMs + STALL_MAX_MS);
  state.outputPausedAtMs = undefined;
  turn.wasFalselyInterrupted = true;
  advanceSpeech(state, turn, atMs, out);
}

/**
 * The telephone's mark replaces the estimate. Audio that was sent before a pause plays in spite of it: the
 * effective pause starts at the end of this sentence.
 */
export function onSentencePlayed(
  state: ConversationState,
  turn: Turn,
  event: SentencePlayedEvent,
  out: ConversationEffect[],
): void {
  const { index, atMs } = event;
  if (index >= turn.sentCount) return;
  const isPaused = state.outputPausedAtMs !== undefined;
  const endedAtMs = markedEndMs(turn.ledger, index, atMs);
  if (state.outputPausedAtMs !== undefined) {
    state.outputPausedAtMs = Math.max(state.outputPausedAtMs, endedAtMs);
  }
  turn.ledger = alignEnd(turn.ledger, index, atMs);
  if (isAllSent(turn) && index === turn.sentCount - 1) {
    clearDeadline(state, isPaused ? "outputPause" : "playbackEnd");
    if (isPaused) out.push({ type: "resumeAudio" });
    onPlaybackEnd(state, atMs, out);
  } else advanceSpeech(state, turn, atMs, out);
}

/** Where the server runs no VAD, a caller who makes a sound has this long to say a word. */
const WORDLESS_MAX_MS = 1_200;
/** The longest wait for words from a voice that continues. */
const ONSET_MAX_MS = 3_000;
const RECHECK_MS = 400;
/** A voice that the VAD heard this recently may still be continuing. */
const VOICE_RECENT_MS = 500;

/** The caller speaks on before the reply starts: the reply waits for the words. Once per turn. */
function waitForOverlapWords(
  state: ConversationState,
  turn: Turn,
  { atMs, voiceAgoMs }: SpeechStartedEvent,
): void {
  const delayMs = voiceAgoMs === undefined ? WORDLESS_MAX_MS : RECHECK_MS;
  setDeadline(state, "overlapBeforeReply", atMs + delayMs);
  turn.overlapAtMs = atMs;
  turn.hasWaitedForWords = true;
}

/** Nothing of the turn was sent yet, except fillers that have finished playing. */
function isBeforeOutput(turn: Turn, atMs: number): boolean {
  return answersSent(turn) === 0 && atMs >= turn.ledger.endsAtMs;
}

/** No word arrived: it was a cough, or the end of words that are answered already. */
export function onOverlapDeadline(
  state: ConversationState,
  { atMs, voiceAgoMs }: DeadlineReachedEvent,
  out: ConversationEffect[],
): void {
  const turn = turnOf(state);
  if (turn?.overlapAtMs === undefined) return;
  const isSpeaking = voiceAgoMs !== undefined && voiceAgoMs <= VOICE_RECENT_MS;
  if (isSpeaking && atMs - turn.overlapAtMs < ONSET_MAX_MS) {
    setDeadline(state, "overlapBeforeReply", atMs + RECHECK_MS);
    return;
  }
  // The caller was not waiting while making the sound; a voice without end is noise.
  const voiceAtMs = voiceAgoMs === undefined ? Number.NEGATIVE_INFINITY : atMs - voiceAgoMs;
  const isLater = !isSpeaking && voiceAtMs > turn.overlapAtMs && voiceAtMs > turn.callerEndedAtMs;
  if (isLater) turn.callerEndedAtMs = voiceAtMs;
  turn.overlapAtMs = undefined;
  noteBargeIn(state, { action: "resume", reason: "falseInterruption" }, atMs, out);
  advanceSpeech(state, turn, atMs, out);
}

/** The next word distinguishes "no" from "no problem"; after this time the word counts alone. */
const NEXT_WORD_MAX_MS = 250;

/** The caller says words: the agent stops where the words ask for that. */
export function handleUserSpeech(
  state: ConversationState,
  words: UserWords,
  atMs: number,
  out: ConversationEffect[],
): void {
  if (turnOf(state) === undefined) return;
  const decision = decideBargeIn(state, { type: "words", ...words }, atMs);
  if (decision.reason === "nextWordPending" && words.isRepeated !== true) {
    setDeadline(state, "nextWord", atMs + NEXT_WORD_MAX_MS);
  }
  if (decision.reason === "echo") noteEcho(state, words.words, atMs);
  act(state, decision, atMs, out);
}

/** No word followed one that could start a backchannel. */
export function onNextWordDeadline(
  state: ConversationState,
  atMs: number,
  out: ConversationEffect[],
): void {
  const text = pendingText(state.user.hearing);
  if (text === "") return;
  handleUserSpeech(state, { text, words: wordCount(text), isSettled: true }, atMs, out);
}

/** A turn of the caller's is over: answers it, unless it is only an echo or a backchannel. */
export function recordCallerWords(
  state: ConversationState,
  text: string,
  end: EndOfTurn,
  atMs: number,
  out: ConversationEffect[],
): void {
  const beganAtMs = state.user.utteranceBeganAtMs ?? atMs;
  const { echo, suspectedEcho, returned } = echoBehindSuspectedEcho(state, text);
  state.echo.returned = returned;
  const decision = decideBargeIn(state, { type: "utterance", text, echo }, atMs);
  const { reason } = decision;
  if (reason === "echo" || reason === "possibleEcho") {
    state.user.utteranceBeganAtMs = undefined;
    // Drops the echo; the caller's own words before it keep waiting.
    state.echo.suspected =
      reason === "echo"
        ? suspectedEcho
        : {
            text: joinWords(suspectedEcho?.text ?? "", text),
            beganAtMs: suspectedEcho?.beganAtMs ?? beganAtMs,
            endOfTurn: end,
          };
    act(state, decision, atMs, out);
    answerSuspectedEcho(state, atMs, out);
    return;
  }
  if (reason !== "backchannel") {
    answerCaller(state, text, end, atMs, out);
    return;
  }
  // The words did not stop the agent; the answer to a recent question waits until the agent has
  // finished speaking.
  if (!isOnlyBackchannel(state, text, atMs)) {
    act(state, decision, atMs, out);
    answerCaller(state, text, end, atMs, out);
    return;
  }
  noteBackchannel(state, { role: "user", text, atMs: beganAtMs }, out);
  act(state, decision, atMs, out);
  onFalseInterruption(state, atMs, out, "backchannel");
}

/** As `recordCallerWords`, for words that are certainly the caller's own and need an answer. */
export function answerCaller(
  state: ConversationState,
  text: string,
  end: EndOfTurn,
  atMs: number,
  out: ConversationEffect[],
): void {
  const beganAtMs = state.user.utteranceBeganAtMs ?? atMs;
  noteSpeech(state, { role: "user", text, atMs: beganAtMs }, end, out);
  const turn = turnOf(state);
  if (turn === undefined) {
    // Digits in progress belong to the caller's words before them.
    if (state.user.digits === "") startTurnReply(state, atMs, out);
    return;
  }
  const decision = decideBargeIn(state, { type: "answerable", text }, atMs);
  noteBargeIn(state, decision, atMs, out);
  switch (decision.action) {
    case "resume":
    case "ignore":
      afterFarewell(state, turn, atMs, out);
      return;
    case "pause":
    case "wait":
      return;
    case "interrupt":
      stopTurn(turn, out);
      commitTurn(state, turn, "superseded", atMs, out);
      startTurnReply(state, atMs, out);
      return;
  }
}

/**
 * STT withdrew words that a suspected echo was waiting for: the suspected words are answered unless someone is
 * speaking.
 */
export function answerSuspectedEcho(
  state: ConversationState,
  atMs: number,
  out: ConversationEffect[],
): void {
  if (turnOf(state) !== undefined || state.echo.suspected === undefined) return;
  if (pendingText(state.user.hearing) !== "") return;
  acceptSuspectedEcho(state, out);
  startTurnReply(state, atMs, out);
}

function noteSpeech(
  state: ConversationState,
  said: SaidMessage,
  endOfTurn: EndOfTurn,
  out: ConversationEffect[],
): void {
  acceptSuspectedEcho(state, out);
  const { text } = said;
  out.push({ type: "send", message: { type: "transcript", role: "user", text, isFinal: true } });
  // Digits may arrive in the middle of words that are not final yet.
  if (pendingText(state.user.hearing) === "") clearDeadline(state, "endpointing");
  clearDeadline(state, "falseInterruption");
  state.user.utteranceBeganAtMs = undefined;
  state.user.voicedAtMs = Number.NEGATIVE_INFINITY;
  state.user.endOfTurn = followLanguage(state, endOfTurn, text, out);
  state.user.unanswered = joinWords(state.user.unanswered, text);
  state.record.unsaved = [...state.record.unsaved, said];
  dropCutSpeech(state);
  state.user.reminders = 0;
  state.user.repeatRequests = 0;
}

/** Whether the words let a goodbye finish. "Yes" to a question inside the goodbye does not. */
function isFarewell(state: ConversationState, text: string): boolean {
  const isLeave = isClosing(text, state.settings.language) || isBackchannelOf(state, text);
  return isLeave && !isAnsweringYes(state, text);
}

/** The goodbye was already played, and the call only waited for these words. */
function afterFarewell(
  state: ConversationState,
  turn: Turn,
  atMs: number,
  out: ConversationEffect[],
): void {
  const isHeard = isAllSent(turn) && atMs >= turn.ledger.endsAtMs;
  if (isHeard && !state.settings.isPaced) onPlaybackEnd(state, atMs, out);
  else resumeOutput(state, atMs, out);
}
