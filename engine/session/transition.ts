import { sentencesOf } from "../speech/sentence-splitter.js";
import { speakable } from "../speech/speakable-text.js";
import type { SessionEffect } from "./effects.js";
import { LISTENING_FAILED } from "./ending.js";
import type { OpenedEvent, SessionEvent, TimerFiredEvent, TurnEvent } from "./events.js";
import {
  onDigit,
  onDigitsTimer,
  onPhantomTimer,
  onSilence,
  onSpeechStarted,
  onTranscript,
  onUtteranceEnd,
} from "./hearing.js";
import { onHoldTimer, onSentenceHeard } from "./holding.js";
import {
  onPlaybackEnd,
  onReplyDone,
  onReplyFailed,
  onReplyToken,
  onStall,
  onToolDone,
} from "./replying.js";
import { onGrowthMissed, onSentenceAudio, onSentenceFailed } from "./sentence-growth.js";
import { endCall } from "./settlement.js";
import { advanceSpeech, beginScripted } from "./speaking.js";
import type { SessionState } from "./state.js";

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
  return { state: state.phase === "ended" ? state : next(state, event, effects), effects };
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
    case "toolDone":
      return onTurnEvent(state, event, out);
    case "opened":
      return onOpened(state, event, out);
    case "speechStarted":
      return onSpeechStarted(state, event, out);
    case "transcript":
      return onTranscript(state, event, out);
    case "utteranceEnd":
      return onUtteranceEnd(state, event, out);
    case "digit":
      return onDigit(state, event, out);
    case "listeningFailed":
      return endCall(state, LISTENING_FAILED, event.atMs, out);
    case "timerFired":
      return onTimer(state, event, out);
    case "endRequested":
      return endCall(state, event.ending, event.atMs, out);
  }
}

function onTurnEvent(state: SessionState, event: TurnEvent, out: SessionEffect[]): SessionState {
  const turn = state.turn;
  if (turn === undefined || turn.id !== event.turnId) return state;
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
    case "toolDone":
      return onToolDone(state, turn, event, out);
  }
}

function onTimer(state: SessionState, event: TimerFiredEvent, out: SessionEffect[]): SessionState {
  switch (event.timer) {
    case "silence":
      return onSilence(state, event.atMs, out);
    case "stall":
      return onStall(state, event.atMs, out);
    case "growth":
      return state.turn === undefined ? state : onGrowthMissed(state, state.turn, event.atMs, out);
    case "ahead":
      return state.turn === undefined ? state : advanceSpeech(state, state.turn, event.atMs, out);
    case "playback":
      return onPlaybackEnd(state, event.atMs, out);
    case "phantom":
      return onPhantomTimer(state, event.atMs, out);
    case "hold":
      return onHoldTimer(state, event.atMs, out);
    case "digits":
      return onDigitsTimer(state, event.atMs, out);
    case "duration":
      return endCall(state, durationLimit(state), event.atMs, out);
  }
}

function onOpened(state: SessionState, event: OpenedEvent, out: SessionEffect[]): SessionState {
  out.push({ type: "send", message: { type: "connected" } });
  out.push({ type: "startTimer", timer: "duration", delayMs: state.settings.durationMaxMs });
  const live: SessionState = { ...state, phase: "live" };
  const greeting = event.resumed ? "" : state.settings.greeting;
  const sentences = sentencesOf(greeting)
    .map(speakable)
    .filter((sentence) => sentence !== "");
  return sentences.length === 0
    ? live
    : beginScripted(live, "greeting", sentences, event.atMs, out);
}

function durationLimit(state: SessionState) {
  const seconds = Math.round(state.settings.durationMaxMs / 1_000);
  const message = `the call reached its limit of ${seconds} seconds`;
  return { reason: "durationLimit", status: "completed", message } as const;
}
