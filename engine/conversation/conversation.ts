import { takeBackgroundResult } from "./background-tools.js";
import {
  onNextWordDeadline,
  onOutputPauseDeadline,
  onOverlapDeadline,
  onSentencePlayed,
} from "./barge-in.js";
import { endCall } from "./commit-turn.js";
import { type DeadlineName, dueDeadlines, takeDueDeadline } from "./deadlines.js";
import { onDigit, onDtmfDeadline } from "./dtmf.js";
import type { ContinuedAnswerer, ConversationEffect } from "./effects.js";
import type { ConversationEvent, DeadlineReachedEvent, OpenedEvent, TurnEvent } from "./events.js";
import {
  durationLimit,
  onSttFailed,
  onTimeUp,
  onVendorMissing,
  requestEnd,
  watchDuration,
} from "./farewell.js";
import { onFillerDeadline, onPhraseReady, preparedPhrases } from "./filler.js";
import { onIdleDeadline, onUnrecognizedVoiceDeadline, onVoiceHeard } from "./idle.js";
import { onControlRequested, onSayDeadline, sayUnspoken } from "./live-control.js";
import { onPlaybackEnd, onPlayed, onSoundLate } from "./playback-end.js";
import { advanceSpeech, startScripted } from "./playout.js";
import {
  dropPreemptiveReply,
  dropStaleReply,
  onPreemptiveEvent,
  onPreemptiveGenerationDeadline,
  onPreemptiveRefused,
  onTurnEnding,
} from "./preemptive-generation.js";
import {
  onBackgroundResultDeadline,
  onLateToolDone,
  onReplyDone,
  onReplyFailed,
  onReplyToken,
  onSentenceFlushDeadline,
  onToolDone,
  onTurnStallDeadline,
} from "./reply.js";
import { speakableSentences } from "./sentences.js";
import { type ConversationState, placeOf, type Turn, turnOf } from "./state.js";
import { onToolDelayDeadline } from "./tool-delay.js";
import { onTransferDeadline, onTransferRefused, onTransferStarted } from "./transfer.js";
import { onSentenceAudio, onSentenceFailed, onUnderrunDeadline } from "./underrun.js";
import {
  onCallerTurnEnded,
  onEndpointingDeadline,
  onFalseInterruptionDeadline,
  onSpeechStarted,
  onTranscript,
  onUtteranceEnd,
  onWritten,
} from "./user-turn.js";
import {
  answerOrGreet,
  mayGreet,
  onAnswererDeadline,
  onAnswererDetected,
  onBeepHeard,
  watchAnswerer,
} from "./voicemail.js";

/**
 * The whole behaviour of a call: changes the state for the event and returns the effects in order. Deterministic:
 * no clock, promise, id or randomness; the same state and event give the same result.
 */
export function step(
  state: ConversationState,
  event: ConversationEvent,
): readonly ConversationEffect[] {
  if (state.phase === "ended") return NOTHING_TO_DO;
  const out: ConversationEffect[] = [];
  const before = { ...state.answerer };
  noteVoice(state, event);
  handle(state, event, out);
  dropStaleReply(state, out);
  reportAnswerer(state, before, out);
  return out;
}

const NOTHING_TO_DO: readonly ConversationEffect[] = [];

/** A call that continues this one goes on with the same person or machine. */
function reportAnswerer(
  { answerer: { kind, isGreetingDue, screeningAnswers } }: ConversationState,
  before: ContinuedAnswerer,
  out: ConversationEffect[],
): void {
  const isSame =
    kind === before.kind &&
    isGreetingDue === before.isGreetingDue &&
    screeningAnswers === before.screeningAnswers;
  if (isSame) return;
  out.push({ type: "reportAnswerer", answerer: { kind, isGreetingDue, screeningAnswers } });
}

/** After an interruption, the wait counts from the end of the caller's voice, whatever words STT returned. */
function noteVoice(state: ConversationState, event: ConversationEvent): void {
  if (state.user.bargeInVoiceAtMs === undefined) return;
  if (!("voiceAgoMs" in event) || event.voiceAgoMs === undefined) return;
  state.user.bargeInVoiceAtMs = Math.max(
    state.user.bargeInVoiceAtMs,
    event.atMs - event.voiceAgoMs,
  );
}

function handle(
  state: ConversationState,
  event: ConversationEvent,
  out: ConversationEffect[],
): void {
  switch (event.type) {
    case "passagesAdded":
    case "replyToken":
    case "replyDone":
    case "replyFailed":
    case "sentenceGrew":
    case "sentenceWhole":
    case "sentenceFailed":
    case "sentencePlayed":
    case "played":
    case "toolDone":
      return onTurnEvent(state, event, out);
    case "opened":
      return onOpened(state, event, out);
    case "speechStarted":
      return onSpeechStarted(state, event, out);
    case "voiceHeard":
      return onVoiceHeard(state, event);
    case "transcript":
      return onTranscript(state, event, out);
    case "callerTurnEnded":
      return onCallerTurnEnded(state, event, out);
    case "callerTurnEnding":
      return onTurnEnding(state, event, out);
    case "callerTurnResumed":
      return dropPreemptiveReply(state, out);
    case "preemptiveRefused":
      return onPreemptiveRefused(state, event.turnId);
    case "utteranceEnd":
      return onUtteranceEnd(state, event, out);
    case "digit":
      return onDigit(state, event, out);
    case "written":
      return onWritten(state, event, out);
    case "sttFailed":
      return onSttFailed(state, event.atMs, out);
    case "phraseReady":
      return onPhraseReady(state, event);
    case "soundLate":
      return onSoundLate(state, event, out);
    case "deadlineReached":
      return onDeadlines(state, event, out);
    case "transferTaken":
      return onTransferStarted(state, event, out);
    case "transferRefused":
      return onTransferRefused(state, event, out);
    case "controlRequested":
      return onControlRequested(state, event, out);
    case "endRequested":
      return requestEnd(state, event.ending, event.atMs, out);
    case "answererDetected":
      return onAnswererDetected(state, event, out);
    case "beepHeard":
      return onBeepHeard(state, event.atMs, out);
  }
}

function onTurnEvent(
  state: ConversationState,
  received: TurnEvent,
  out: ConversationEffect[],
): void {
  if (received.type === "toolDone" && takeBackgroundResult(state, received)) return;
  const { agent } = state;
  if (agent.state === "speculating" && agent.reply.turnId === received.turnId) {
    onPreemptiveEvent(state, agent.reply, received);
    return;
  }
  const turn = turnOf(state);
  if (turn === undefined || turn.id !== received.turnId) {
    if (received.type === "toolDone") onLateToolDone(state, received, out);
    return;
  }
  const event = placed(turn, received);
  if (event === undefined) return;
  switch (event.type) {
    case "passagesAdded":
      turn.passagesChars = event.chars;
      return;
    case "replyToken":
      return onReplyToken(state, turn, event, out);
    case "replyDone":
      return onReplyDone(state, turn, event, out);
    case "replyFailed":
      return onReplyFailed(state, turn, event, out);
    case "sentenceGrew":
    case "sentenceWhole":
      return onSentenceAudio(state, turn, event, out);
    case "sentenceFailed":
      return onSentenceFailed(state, turn, event, out);
    case "sentencePlayed":
      return onSentencePlayed(state, turn, event, out);
    case "played":
      return onPlayed(state, turn, event, out);
    case "toolDone":
      return onToolDone(state, turn, event, out);
  }
}

/** Reports identify a sentence by its number; this maps it to the index among the turn's sentences. */
function placed(turn: Turn, event: TurnEvent): TurnEvent | undefined {
  if (!("index" in event)) return event;
  const index = placeOf(turn, event.index);
  if (index === event.index) return event;
  return index < 0 ? undefined : { ...event, index };
}

/** A deadline is cleared before its rule runs, which may set it again. */
function onDeadlines(
  state: ConversationState,
  event: DeadlineReachedEvent,
  out: ConversationEffect[],
): void {
  for (const name of dueDeadlines(state, event.atMs)) {
    if (takeDueDeadline(state, name, event.atMs)) onDeadline(state, name, event, out);
  }
}

function onDeadline(
  state: ConversationState,
  name: DeadlineName,
  event: DeadlineReachedEvent,
  out: ConversationEffect[],
): void {
  const turn = turnOf(state);
  switch (name) {
    case "endpointing":
      return onEndpointingDeadline(state, event, out);
    case "preemptiveGeneration":
      return onPreemptiveGenerationDeadline(state, event, out);
    case "nextWord":
      return onNextWordDeadline(state, event.atMs, out);
    case "dtmf":
      return onDtmfDeadline(state, event.atMs, out);
    case "falseInterruption":
      return onFalseInterruptionDeadline(state, event.atMs, out);
    case "outputPause":
      return onOutputPauseDeadline(state, event.atMs, out);
    case "overlapBeforeReply":
      return onOverlapDeadline(state, event, out);
    case "sentenceFlush":
      if (turn !== undefined) onSentenceFlushDeadline(state, turn, event.atMs, out);
      return;
    case "synthesisAhead":
      if (turn !== undefined) advanceSpeech(state, turn, event.atMs, out);
      return;
    case "underrun":
      if (turn !== undefined) onUnderrunDeadline(state, turn, event, out);
      return;
    case "toolDelay":
      return onToolDelayDeadline(state, event, out);
    case "filler":
      return onFillerDeadline(state, event, out);
    case "playbackEnd":
      return onPlaybackEnd(state, event.atMs, out, event.voiceAgoMs);
    case "turnStall":
      return onTurnStallDeadline(state, event.atMs, out);
    case "idle":
      return onIdleDeadline(state, event, out);
    case "say":
      return onSayDeadline(state, event.atMs, out);
    case "unrecognizedVoice":
      return onUnrecognizedVoiceDeadline(state, event, out);
    case "backgroundResult":
      return onBackgroundResultDeadline(state, event, out);
    case "transfer":
      return onTransferDeadline(state, event.atMs, out);
    case "answerer":
      return onAnswererDeadline(state, event, out);
    case "timeUp":
      return onTimeUp(state, event.atMs, out);
    case "maxDuration":
      return endCall(state, durationLimit(state), event.atMs, out);
  }
}

function onOpened(state: ConversationState, event: OpenedEvent, out: ConversationEffect[]): void {
  if (state.phase !== "opening") return;
  out.push({ type: "send", message: { type: "connected" } });
  watchDuration(state, event.atMs);
  const texts = preparedPhrases(state);
  if (texts.length > 0) out.push({ type: "preparePhrases", texts });
  state.phase = "live";
  if (event.lost !== undefined) {
    onVendorMissing(state, event.lost, event.atMs, out);
    return;
  }
  // A caller who spoke before the greeting is already getting an answer.
  const isSilent = state.agent.state === "silent";
  const isGreeting = !event.resumed && isSilent && !state.control.isMuted && mayGreet(state);
  const greeting = isGreeting ? state.settings.greeting : "";
  watchAnswerer(state, event.atMs, out);
  sayUnspoken(state, event.atMs);
  const sentences = speakableSentences(greeting);
  if (sentences.length > 0) startScripted(state, "greeting", sentences, event.atMs, out);
  else if (isSilent) answerOrGreet(state, event.atMs, out);
}
