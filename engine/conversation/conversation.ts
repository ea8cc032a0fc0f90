import { onNextWordTimer, onOnsetTimer, onOutputPauseTimer, onSentenceHeard } from "./barge-in.js";
import { endCall } from "./commit-turn.js";
import type { SessionEffect } from "./effects.js";
import type { OpenedEvent, SessionEvent, TimerFiredEvent, TurnEvent } from "./events.js";
import {
  durationLimit,
  onSttFailed,
  onTimeUp,
  onVendorMissing,
  requestEnd,
  watchDuration,
} from "./farewell.js";
import { onPhraseReady, onWaitingTimer, preparedPhrases } from "./filler.js";
import { onIdleTimer, onUnrecognizedTimer, onVoiceHeard, watchCaller } from "./idle.js";
import { onPlaybackEnd, onPlayed, onSoundLate } from "./playback-end.js";
import { advanceSpeech, beginScripted } from "./playout.js";
import {
  dropPreemptiveReply,
  onEarlyEvent,
  onEarlyTimer,
  onPreemptiveRefused,
  onTurnEnding,
  withoutStaleEarly,
} from "./preemptive-generation.js";
import {
  onFlushTimer,
  onLateToolDone,
  onReplyDone,
  onReplyFailed,
  onReplyToken,
  onStall,
  onToolDone,
} from "./reply.js";
import { sentencesOf, speakable } from "./sentences.js";
import { inTurnShape, placeOf, type SessionState, type Turn, withTurnInState } from "./state.js";
import { onTransferRefused, onTransferTaken, onTransferTimer } from "./transfer.js";
import { onGrowthMissed, onSentenceAudio, onSentenceFailed } from "./underrun.js";
import {
  onCallerTurnEnded,
  onDigit,
  onDtmfTimer,
  onPhantomTimer,
  onSilence,
  onSpeechStarted,
  onTranscript,
  onUtteranceEnd,
  onWritten,
} from "./user-turn.js";

/**
 * The same state, with its turn, as one literal makes it. In V8 each place of the code that spreads an object of this size gives
 * its copy a layout of its own: after a few events no two states were alike, and whatever reads or copies one of many
 * layouts takes several times as long (docs/decisions/009). A turn that `before` had has its shape already.
 */
export function inOneShape(state: SessionState, before?: SessionState): SessionState {
  const { turn } = state;
  const isKept = turn === undefined || turn === before?.turn;
  return withTurnInState(state, isKept ? turn : inTurnShape(turn));
}

export interface Transition {
  readonly state: SessionState;
  readonly effects: readonly SessionEffect[];
}

/**
 * The whole behaviour of a call: what happened, and what is to be done about it. Pure: no clock, promise, id or
 * randomness; the same state and event give the same answer, which is how it is tested.
 */
export function transition(state: SessionState, event: SessionEvent): Transition {
  const effects: SessionEffect[] = [];
  if (state.phase === "ended") return { state, effects };
  const after = withoutStaleEarly(next(withVoice(state, event), event, effects), effects);
  // Tokens are most of what happens to a call, and keep the shape.
  const isShaped = after === state || event.type === "replyToken";
  return { state: isShaped ? after : inOneShape(after, state), effects };
}

/** After an interruption it counts when the caller's voice ended, whatever words were made of it. */
function withVoice(state: SessionState, event: SessionEvent): SessionState {
  if (state.bargeInVoiceAtMs === undefined) return state;
  if (!("voiceAgoMs" in event) || event.voiceAgoMs === undefined) return state;
  const voiceAtMs = event.atMs - event.voiceAgoMs;
  if (voiceAtMs <= state.bargeInVoiceAtMs) return state;
  return { ...state, bargeInVoiceAtMs: voiceAtMs };
}

function next(state: SessionState, event: SessionEvent, out: SessionEffect[]): SessionState {
  switch (event.type) {
    case "replyToken":
    case "replyDone":
    case "replyFailed":
    case "sentenceGrew":
    case "sentenceWhole":
    case "sentenceFailed":
    case "sentenceHeard":
    case "played":
    case "toolDone":
      return onTurnEvent(state, event, out);
    case "opened":
      return onOpened(state, event, out);
    case "speechStarted":
      return onSpeechStarted(state, event, out);
    case "voiceHeard":
      return onVoiceHeard(state, event, out);
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
    case "timerFired":
      return onTimer(state, event, out);
    case "transferTaken":
      return onTransferTaken(state, event.atMs, out);
    case "transferRefused":
      return onTransferRefused(state, event, out);
    case "endRequested":
      return requestEnd(state, event.ending, event.atMs, out);
  }
}

function onTurnEvent(state: SessionState, told: TurnEvent, out: SessionEffect[]): SessionState {
  const { turn, early } = state;
  if (early?.turnId === told.turnId) return onEarlyEvent(state, early, told);
  if (turn === undefined || turn.id !== told.turnId) {
    return told.type === "toolDone" ? onLateToolDone(state, told, out) : state;
  }
  const event = placed(turn, told);
  if (event === undefined) return state;
  switch (event.type) {
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
    case "sentenceHeard":
      return onSentenceHeard(state, turn, event, out);
    case "played":
      return onPlayed(state, turn, event, out);
    case "toolDone":
      return onToolDone(state, turn, event, out);
  }
}

/** What is told of a sentence names its number; from here on it is its place among those of the turn. */
function placed(turn: Turn, event: TurnEvent): TurnEvent | undefined {
  if (!("index" in event)) return event;
  const index = placeOf(turn, event.index);
  if (index === event.index) return event;
  return index < 0 ? undefined : { ...event, index };
}

function onTimer(state: SessionState, event: TimerFiredEvent, out: SessionEffect[]): SessionState {
  switch (event.timer) {
    case "silence":
      return onSilence(state, event, out);
    case "stall":
      return onStall(state, event.atMs, out);
    case "growth":
      return state.turn === undefined ? state : onGrowthMissed(state, state.turn, event, out);
    case "flush":
      return state.turn === undefined ? state : onFlushTimer(state, state.turn, event.atMs, out);
    case "ahead":
      return state.turn === undefined ? state : advanceSpeech(state, state.turn, event.atMs, out);
    case "playback":
      return onPlaybackEnd(state, event.atMs, out, event.voiceAgoMs);
    case "falseInterruption":
      return onPhantomTimer(state, event.atMs, out);
    case "hold":
      return onOutputPauseTimer(state, event.atMs, out);
    case "digits":
      return onDtmfTimer(state, event.atMs, out);
    case "waiting":
      return onWaitingTimer(state, event, out);
    case "onset":
      return onOnsetTimer(state, event, out);
    case "nextWord":
      return onNextWordTimer(state, event.atMs, out);
    case "idle":
      return onIdleTimer(state, event, out);
    case "unrecognized":
      return onUnrecognizedTimer(state, event, out);
    case "timeUp":
      return onTimeUp(state, event.atMs, out);
    case "transfer":
      return onTransferTimer(state, event.atMs, out);
    case "early":
      return onEarlyTimer(state, event, out);
    case "duration":
      return endCall(state, durationLimit(state), event.atMs, out);
  }
}

function onOpened(state: SessionState, event: OpenedEvent, out: SessionEffect[]): SessionState {
  out.push({ type: "send", message: { type: "connected" } });
  watchDuration(state, out);
  const texts = preparedPhrases(state);
  if (texts.length > 0) out.push({ type: "preparePhrases", texts });
  const live: SessionState = { ...state, phase: "live" };
  if (event.lost !== undefined) return onVendorMissing(live, event.lost, event.atMs, out);
  const greeting = event.resumed ? "" : state.settings.greeting;
  const sentences = sentencesOf(greeting)
    .map(speakable)
    .filter((sentence) => sentence !== "");
  if (sentences.length > 0) return beginScripted(live, "greeting", sentences, event.atMs, out);
  watchCaller(live, out);
  return live;
}
