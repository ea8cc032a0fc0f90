import { isBackchannel } from "./backchannel.js";
import { clearDeadline, setDeadline } from "./deadlines.js";
import { agentEcho } from "./echo.js";
import type { ConversationEffect } from "./effects.js";
import { predictsContinuation } from "./endpointing.js";
import type {
  CallerTurnEndingEvent,
  DeadlineReachedEvent,
  TranscriptEvent,
  TurnEvent,
} from "./events.js";
import { isSameWords } from "./lexicon.js";
import {
  type ConversationState,
  contextOf,
  isBeingTransferred,
  isPersonThere,
  joinWords,
  type PreemptiveReply,
  preemptiveReplyOf,
  SILENT,
  setAgentTurn,
  turnMessages,
  withMessages,
} from "./state.js";
import { estimateTokens } from "./token-estimate.js";
import { pendingText } from "./transcript-buffer.js";

/** Words that ended more recently may be continuing. */
const QUIET_MIN_MS = 150;
/** A caller who continued twice will probably do so again: then the LLM waits for the end of the turn. */
const TRIES_MAX = 2;
/** A longer reply is not spoken. */
const TEXT_CHARS_MAX = 4_000;

/** Final words have arrived, and STT has not reported the end of the turn. */
export function considerPreemptiveReply(
  state: ConversationState,
  { isFinal, hasTurnDetection, endedAgoMs, atMs }: TranscriptEvent,
  out: ConversationEffect[],
): void {
  if (!isFinal || hasTurnDetection === true || !mayBegin(state, atMs)) return;
  if (endedAgoMs >= QUIET_MIN_MS) startPreemptiveReply(state, atMs, out);
  else setDeadline(state, "preemptiveGeneration", atMs + QUIET_MIN_MS - endedAgoMs);
}

export function onPreemptiveGenerationDeadline(
  state: ConversationState,
  { atMs, voiceAgoMs = QUIET_MIN_MS }: DeadlineReachedEvent,
  out: ConversationEffect[],
): void {
  if (state.user.hearing.interim !== "" || !mayBegin(state, atMs)) return;
  const leftMs = QUIET_MIN_MS - voiceAgoMs;
  if (leftMs < 1) startPreemptiveReply(state, atMs, out);
  else setDeadline(state, "preemptiveGeneration", atMs + leftMs);
}

/** An STT with turn detection expects this turn to end; it reports if it was wrong. */
export function onTurnEnding(
  state: ConversationState,
  { atMs }: CallerTurnEndingEvent,
  out: ConversationEffect[],
): void {
  if (mayBegin(state, atMs, true)) startPreemptiveReply(state, atMs, out);
}

/** The LLM answers words that may not be the last. Its tool calls wait too; a failure costs nothing yet. */
export function onPreemptiveEvent(
  state: ConversationState,
  reply: PreemptiveReply,
  event: TurnEvent,
): void {
  switch (event.type) {
    case "passagesAdded":
      reply.passagesChars = event.chars;
      return;
    case "replyToken":
      if (reply.text.length < TEXT_CHARS_MAX) reply.text += event.text;
      return;
    case "replyDone":
      reply.done = event;
      return;
    case "replyFailed":
      refuse(state);
      return;
    // Nothing of it was spoken or run.
    case "toolDone":
    case "sentenceGrew":
    case "sentenceWhole":
    case "sentenceFailed":
    case "sentencePlayed":
    case "played":
      return;
  }
}

/** The organization's budget for discarded preemptive replies is used up. */
export function onPreemptiveRefused(state: ConversationState, turnId: number): void {
  if (preemptiveReplyOf(state)?.turnId === turnId) refuse(state);
}

function refuse(state: ConversationState): void {
  setAgentTurn(state, SILENT);
  state.preemptiveTries = TRIES_MAX;
}

/** Whether the caller's final words are those that the preemptive reply answers. */
export function isAnswered(reply: PreemptiveReply, userText: string): boolean {
  return isSameWords(reply.userText, userText);
}

/** The caller said more or something else, or no reply is needed any longer: the preemptive reply is discarded. */
export function dropPreemptiveReply(state: ConversationState, out: ConversationEffect[]): void {
  const { metrics } = state.record;
  const reply = preemptiveReplyOf(state);
  if (reply === undefined) return;
  const { turnId, userText, passagesChars, text, done } = reply;
  const tokens = done?.tokens ?? estimateTokens(state, userText, passagesChars + text.length);
  out.push({ type: "dropPreemptiveReply", turnId, tokens });
  setAgentTurn(state, SILENT);
  state.wastedTokens += tokens;
  state.record.metrics = { ...metrics, totalTokens: metrics.totalTokens + tokens };
}

/** Called after every event: a preemptive reply is valid only while its words are the last. */
export function dropStaleReply(state: ConversationState, out: ConversationEffect[]): void {
  const reply = preemptiveReplyOf(state);
  if (reply === undefined || isSameWords(pendingText(state.user.hearing), reply.words)) return;
  dropPreemptiveReply(state, out);
}

function startPreemptiveReply(
  state: ConversationState,
  atMs: number,
  out: ConversationEffect[],
): void {
  state.lastTurnId += 1;
  const turnId = state.lastTurnId;
  const words = pendingText(state.user.hearing);
  const userText = joinWords(state.user.unanswered, words);
  const history = withMessages(state.record.history, turnMessages(userText, ""));
  clearDeadline(state, "preemptiveGeneration");
  out.push({ type: "startPreemptiveReply", turnId, history, ...contextOf(state) });
  const received = { passagesChars: 0, text: "", done: undefined };
  const reply = { turnId, userText, words, requestedAtMs: atMs, ...received };
  setAgentTurn(state, { state: "speculating", reply });
  state.preemptiveTries += 1;
}

function mayBegin(state: ConversationState, atMs: number, isDecided = false): boolean {
  const { settings, agent, preemptiveTries } = state;
  if (!settings.preemptiveGeneration || agent.state !== "silent") return false;
  if (state.toolsDone !== undefined || state.background.results.length > 0) return false;
  if (state.control.isMuted || !isPersonThere(state)) return false;
  if (
    preemptiveTries >= TRIES_MAX ||
    state.echo.suspected !== undefined ||
    state.user.digits !== ""
  )
    return false;
  const text = pendingText(state.user.hearing);
  if (text === "" || isBeingTransferred(state) || agentEcho(state, text) !== "none") return false;
  if (settings.backchannels === "ignore" && isBackchannel(state, text, atMs)) return false;
  return isDecided || !predictsContinuation(state, text);
}
