import { areResultsTold, takeFailure, useBackgroundResults } from "./background-tools.js";
import { type Ending, LANGUAGE_MODEL_FAILED, SPEECH_FAILED } from "./call-end.js";
import { takeEndOfTurn } from "./call-language.js";
import { meetAnswerer } from "./call-screening.js";
import { commitTurn, replyTimeoutAtMs, saveWords, waitedBeforeMs } from "./commit-turn.js";
import { UNANSWERED_CHARS_MAX } from "./control-command.js";
import { setDeadline } from "./deadlines.js";
import type { ConversationEffect } from "./effects.js";
import type {
  DeadlineReachedEvent,
  ReplyDoneEvent,
  ReplyFailedEvent,
  ReplyTokenEvent,
  ToolDoneEvent,
} from "./events.js";
import { answerEndsAtMs, lengthMsOf } from "./playback-ledger.js";
import {
  abandonRest,
  advanceSpeech,
  newSentence,
  SENTENCES_MAX,
  STALL_MAX_MS,
  startScripted,
  watchSilence,
} from "./playout.js";
import { dropPreemptiveReply, isAnswered } from "./preemptive-generation.js";
import {
  sentencesOf,
  speakable,
  splitEnd,
  splitReplyToken,
  splitStalled,
  stallMsOf,
} from "./sentences.js";
import {
  answersOf,
  answersSent,
  type ConversationState,
  contextOf,
  dropCutSpeech,
  isBeingTransferred,
  isPersonThere,
  newTurn,
  type PreemptiveReply,
  preemptiveReplyOf,
  setAgentTurn,
  splitterFor,
  type Turn,
  turnOf,
} from "./state.js";
import { countStoppedReply } from "./token-estimate.js";
import { isFloorFree } from "./tool-delay.js";
import { takeFailureSentence, withdrawUnheardFailure, withSaid } from "./tool-failure.js";
import {
  conversationOf,
  mustAnswer,
  pendingToolsMs,
  startSentences,
  takeLateResult,
  takeToolResult,
  toolsDueMs,
  useTools,
} from "./tools.js";
import { providerFailureEnd } from "./transfer.js";
import { cutSentence } from "./underrun.js";

const MODEL_ATTEMPTS_MAX = 2;

export type TurnFields = Pick<Turn, "userText" | "callerEndedAtMs" | "decidedAtMs" | "attempt">;

export function startReply(
  state: ConversationState,
  fields: TurnFields & Partial<Turn>,
  out: ConversationEffect[],
): void {
  state.lastTurnId += 1;
  const turn = replyTurn(state, state.lastTurnId, fields);
  setAgentTurn(state, { state: "replying", turn });
  const pendingMs = pendingToolsMs(state, turn.progressAtMs);
  turn.waitsForTools = pendingMs > 0;
  if (pendingMs > 0) setDeadline(state, "turnStall", turn.progressAtMs + pendingMs);
  else requestReply(state, turn, out);
  if (turn.attempt === 1) watchSilence(state, turn, turn.decidedAtMs);
}

function replyTurn(state: ConversationState, id: number, fields: TurnFields & Partial<Turn>): Turn {
  const turn = newTurn({ id, kind: "reply", ...fields });
  if (fields.userText !== "") state.toolRounds = 0;
  turn.splitter = splitterFor(state.settings);
  return Object.assign(turn, fields);
}

/** A tool call of an earlier turn has finished. The reply that waits for the last of these calls is requested now. */
export function onLateToolDone(
  state: ConversationState,
  event: ToolDoneEvent,
  out: ConversationEffect[],
): void {
  const { atMs, content } = event;
  const turn = turnOf(state);
  const waiting = turn?.waitsForTools === true ? turn : undefined;
  const sentence = waiting && takeFailureSentence(state, waiting, event);
  const told = sentence === undefined ? content : withSaid(content, sentence);
  takeLateResult(state, { ...event, content: told });
  if (waiting === undefined) return;
  if (sentence !== undefined) addSentences(waiting, [sentence], atMs);
  if (pendingToolsMs(state, atMs) <= 0) requestReplyAfterTools(state, atMs, out);
  if (sentence !== undefined) advanceSpeech(state, waiting, atMs, out);
}

/** Their results have arrived, or are not awaited any longer. */
export function requestReplyAfterTools(
  state: ConversationState,
  atMs: number,
  out: ConversationEffect[],
): void {
  const turn = turnOf(state);
  if (turn?.waitsForTools !== true) return;
  turn.waitsForTools = false;
  turn.progressAtMs = atMs;
  requestReply(state, turn, out);
}

/** The caller has heard these words, and another attempt says the rest. */
function resumedFields(turn: Turn): Partial<Turn> {
  const { fillerCount, ledger, overlapAtMs, hasWaitedForWords, wastedTokens } = turn;
  const { waitedBeforeMs: beforeMs, endOfTurn, bargeIns, resultTry } = turn;
  const sentences = turn.sentences.slice(0, fillerCount);
  const counts = { sentCount: fillerCount, requestedCount: fillerCount, fillerCount };
  return {
    sentences,
    ...counts,
    ledger,
    // The client counts the audio of each turn separately.
    playedBeforeMs: lengthMsOf(ledger),
    overlapAtMs,
    hasWaitedForWords,
    wastedTokens,
    waitedBeforeMs: beforeMs,
    endOfTurn,
    bargeIns,
    resultTry,
  };
}

/** Requests the rest of the reply after the tools have returned. */
export function requestReply(
  state: ConversationState,
  turn: Turn,
  out: ConversationEffect[],
): void {
  useBackgroundResults(state, turn);
  const { id: turnId } = turn;
  out.push({
    type: "requestReply",
    turnId,
    ...conversationOf(state, turn),
    ...(mustAnswer(state) && { mustAnswer: true }),
    ...contextOf(state),
  });
  setDeadline(state, "turnStall", turn.progressAtMs + firstStallMs(turn));
}

/** The interval between checks while either side speaks. */
const RESULT_RECHECK_MS = 500;

/** A background tool has a result for the caller: the agent speaks when neither side does. */
export function onBackgroundResultDeadline(
  state: ConversationState,
  { atMs, voiceAgoMs }: DeadlineReachedEvent,
  out: ConversationEffect[],
): void {
  if (!state.background.isTurnDue || isBeingTransferred(state)) return;
  if (!isFloorFree(state, voiceAgoMs)) {
    setDeadline(state, "backgroundResult", atMs + RESULT_RECHECK_MS);
    return;
  }
  if (areResultsTold(state)) {
    state.background = { ...state.background, isTurnDue: false, isLastTry: false };
    return;
  }
  const resultTry = state.background.isLastTry ? "last" : "first";
  const fields = { userText: "", callerEndedAtMs: atMs, decidedAtMs: atMs, attempt: 1 };
  const sentence = takeFailure(state);
  startReply(state, { ...fields, resultTry, progressAtMs: atMs }, out);
  const turn = turnOf(state);
  if (turn === undefined || sentence === undefined) return;
  turn.failureSentence = sentence;
  addSentences(turn, [sentence], atMs);
  advanceSpeech(state, turn, atMs, out);
}

/** How long the LLM has before the first check. */
export function firstStallMs(turn: Turn): number {
  if (turn.toolRounds > 0) return STALL_MAX_MS;
  return Math.min(STALL_MAX_MS, replyTimeoutAtMs(turn) - turn.progressAtMs);
}

/** A tool call is not repeated. */
export function mayRetryReply({ attempt, toolRounds }: Turn): boolean {
  return attempt < MODEL_ATTEMPTS_MAX && toolRounds === 0;
}

export function retryReply(
  state: ConversationState,
  turn: Turn,
  atMs: number,
  out: ConversationEffect[],
): void {
  const { userText, callerEndedAtMs, decidedAtMs, attempt } = turn;
  const fields = { userText, callerEndedAtMs, decidedAtMs, attempt: attempt + 1 };
  countStoppedReply(state, turn);
  withdrawUnheardFailure(state, turn, "");
  startReply(state, { ...fields, ...resumedFields(turn), progressAtMs: atMs }, out);
}

/** The LLM is stopped at this length; callers do not listen to a longer reply. */
const REPLY_CHARS_MAX = 4_000;
/** Two attempts of a silent TTS have their own, shorter limits, which have passed by then. */
const VOICE_STALL_MAX_MS = 10_000;
/** After this many consecutive failed turns the call ends with the reason. */
export const FAILED_TURNS_MAX = 3;

/** Answers all unanswered words of the caller. */
export function startTurnReply(
  state: ConversationState,
  atMs: number,
  out: ConversationEffect[],
): void {
  if (isBeingTransferred(state) || meetAnswerer(state, atMs, out)) return;
  if (state.control.isMuted || !isPersonThere(state)) {
    const { unanswered } = state.user;
    state.user.unanswered = unanswered.slice(-UNANSWERED_CHARS_MAX).trimStart();
    state.user.bargeInVoiceAtMs = undefined;
    saveWords(state, out);
    return;
  }
  // A caller who interrupts often continues without words: the wait for the answer begins with the silence.
  const { bargeInVoiceAtMs = Number.NEGATIVE_INFINITY } = state.user;
  const callerEndedAtMs = Math.min(Math.max(state.user.endedAtMs, bargeInVoiceAtMs), atMs);
  const { unanswered: userText } = state.user;
  const endOfTurn = takeEndOfTurn(state);
  const early = preemptiveReplyOf(state);
  const ready = early !== undefined && isAnswered(early, userText) ? early : undefined;
  if (ready === undefined) dropPreemptiveReply(state, out);
  const { wastedTokens } = state;
  const waits = { decidedAtMs: atMs, waitedBeforeMs: waitedBeforeMs(state, atMs) };
  const fields = { userText, callerEndedAtMs, ...waits, attempt: 1, wastedTokens, endOfTurn };
  state.user.unanswered = "";
  state.user.bargeInVoiceAtMs = undefined;
  state.carriedOverWait = undefined;
  state.preemptiveTries = 0;
  state.wastedTokens = 0;
  dropCutSpeech(state);
  const turnId = ready?.turnId ?? state.lastTurnId + 1;
  if (endOfTurn !== undefined) out.push({ type: "reportEndOfTurn", turnId, endOfTurn });
  if (ready === undefined) startReply(state, fields, out);
  else usePreemptiveReply(state, ready, fields, out);
}

/** The words were the last: the received part of the preemptive reply is used as if it arrived now. */
function usePreemptiveReply(
  state: ConversationState,
  { turnId, requestedAtMs, passagesChars, text, done }: PreemptiveReply,
  fields: TurnFields & Partial<Turn>,
  out: ConversationEffect[],
): void {
  const atMs = fields.decidedAtMs;
  const turn = replyTurn(state, turnId, fields);
  turn.preemptiveMs = atMs - requestedAtMs;
  turn.passagesChars = passagesChars;
  setAgentTurn(state, { state: "replying", turn });
  setDeadline(state, "turnStall", atMs + firstStallMs(turn));
  watchSilence(state, turn, atMs);
  if (text !== "") onReplyToken(state, turn, { turnId, text, atMs }, out);
  if (done !== undefined) onReplyDone(state, turn, { ...done, atMs }, out);
}

export function onReplyToken(
  state: ConversationState,
  turn: Turn,
  event: Omit<ReplyTokenEvent, "type">,
  out: ConversationEffect[],
): void {
  if (!turn.generating) return;
  const { atMs, text } = event;
  const split = splitReplyToken(turn.splitter, text);
  turn.splitter = split.state;
  turn.replyChars += text.length;
  turn.progressAtMs = atMs;
  turn.firstTokenAtMs ??= atMs;
  const stallMs = stallMsOf(split.state);
  if (stallMs !== undefined) setDeadline(state, "sentenceFlush", atMs + stallMs);
  if (split.sentences.length === 0 && turn.replyChars < REPLY_CHARS_MAX) return;
  addSentences(turn, split.sentences, atMs);
  if (turn.sentences.length >= SENTENCES_MAX || turn.replyChars >= REPLY_CHARS_MAX) {
    out.push({ type: "stopModel", turnId: turn.id });
    countStoppedReply(state, turn);
    turn.generating = false;
  }
  advanceSpeech(state, turn, atMs, out);
}

/**
 * The LLM has sent nothing since a sentence seemed to end: if it is complete, TTS gets it without waiting for the
 * next character.
 */
export function onSentenceFlushDeadline(
  state: ConversationState,
  turn: Turn,
  atMs: number,
  out: ConversationEffect[],
): void {
  if (!turn.generating) return;
  const split = splitStalled(turn.splitter, Math.round(atMs - turn.progressAtMs));
  if (split === undefined) return;
  turn.splitter = split.state;
  addSentences(turn, split.sentences, atMs);
  advanceSpeech(state, turn, atMs, out);
}

export function onReplyDone(
  state: ConversationState,
  turn: Turn,
  event: ReplyDoneEvent,
  out: ConversationEffect[],
): void {
  if (!turn.generating) return;
  const { tokens, toolCalls = [], atMs } = event;
  const rest = splitEnd(turn.splitter);
  addSentences(turn, rest === undefined ? [] : [rest], atMs);
  state.record.metrics = {
    ...state.record.metrics,
    totalTokens: state.record.metrics.totalTokens + tokens,
  };
  const hasTools = toolCalls.length > 0;
  addSentences(turn, startSentences(state, turn, toolCalls), atMs);
  if (hasTools && useTools(state, turn, event, out)) {
    // All of them run in the background: the model speaks on at once.
    if (turn.generating && turn.toolsWaiting.length === 0) requestReply(state, turn, out);
    advanceSpeech(state, turn, atMs, out);
    return;
  }
  turn.generating = false;
  if (answersOf(turn) === 0) {
    retryOrApologize(state, turn, atMs, true, out);
    return;
  }
  // The LLM calls tools again and again and does not answer.
  if (hasTools) turn.faulty = true;
  advanceSpeech(state, turn, atMs, out);
}

/** The LLM gets the tool results when all tools of the round have returned. */
export function onToolDone(
  state: ConversationState,
  turn: Turn,
  event: ToolDoneEvent,
  out: ConversationEffect[],
): void {
  const { callId, content, spoken, atMs } = event;
  const sentence = takeFailureSentence(state, turn, event);
  const told = sentence === undefined ? content : withSaid(content, sentence);
  if (!takeToolResult(turn, callId, told)) return;
  turn.progressAtMs = atMs;
  const isLast = turn.toolsWaiting.length === 0;
  if (spoken === undefined) {
    if (sentence !== undefined) addSentences(turn, [sentence], atMs);
    if (isLast) requestReply(state, turn, out);
    if (sentence !== undefined) advanceSpeech(state, turn, atMs, out);
    return;
  }
  addSentences(turn, sentencesOf(spoken.slice(0, REPLY_CHARS_MAX)), atMs);
  turn.generating = !isLast;
  advanceSpeech(state, turn, atMs, out);
}

/** Before anything was heard, a reply can be requested again; after that it ends with its last complete sentence. */
export function onReplyFailed(
  state: ConversationState,
  turn: Turn,
  event: ReplyFailedEvent,
  out: ConversationEffect[],
): void {
  if (!turn.generating) return;
  const { atMs, retryable } = event;
  if (answersSent(turn) > 0) abandonRest(state, turn, turn.sentences.length, atMs, out);
  else retryOrApologize(state, turn, atMs, retryable, out);
}

/** Nothing arrived in time: retries, or says what there is, or gives up with a reason. Never just silence. */
export function onTurnStallDeadline(
  state: ConversationState,
  atMs: number,
  out: ConversationEffect[],
): void {
  const turn = turnOf(state);
  if (turn === undefined) return;
  if (turn.waitsForTools) {
    const pendingMs = pendingToolsMs(state, atMs);
    if (pendingMs <= 0) requestReplyAfterTools(state, atMs, out);
    else setDeadline(state, "turnStall", atMs + pendingMs);
    return;
  }
  if (answersSent(turn) === 0 && turn.kind === "reply") {
    // A filler that is playing plays to its end.
    const waitMs = Math.max(progressDueMs(turn), turn.ledger.endsAtMs) - atMs;
    if (waitMs < 1) abandonHungReply(state, turn, atMs, out);
    else setDeadline(state, "turnStall", atMs + waitMs);
    return;
  }
  // The sentence that plays has become longer since the timer was set.
  const heardMs = answerEndsAtMs(turn.ledger);
  const sinceMs = turn.generating ? Math.max(heardMs, turn.progressAtMs) : heardMs;
  const dueMs = Math.max(sinceMs + STALL_MAX_MS, toolsDueMs(turn));
  if (dueMs > atMs) {
    setDeadline(state, "turnStall", dueMs);
    return;
  }
  cutSentence(state, turn, atMs, out);
  out.push({ type: "abortTurn", turnId: turn.id });
  turn.restLost = turn.sentences.length > turn.sentCount;
  abandonRest(state, turn, turn.sentCount, atMs, out);
}

/**
 * Output that has started to arrive is awaited, as long as more of it arrives and the caller has not waited too
 * long.
 */
function progressDueMs(turn: Turn): number {
  if (turn.toolsWaiting.length > 0) return toolsDueMs(turn);
  const stallMs = isWithVoice(turn) ? VOICE_STALL_MAX_MS : STALL_MAX_MS;
  return Math.min(turn.progressAtMs + stallMs, replyTimeoutAtMs(turn));
}

function isWithVoice({ requestedCount, sentCount }: Turn): boolean {
  return requestedCount > sentCount;
}

/**
 * A vendor returns nothing. A caller who has waited too long, in this turn or in those before it, does not wait
 * for another attempt.
 */
function abandonHungReply(
  state: ConversationState,
  turn: Turn,
  atMs: number,
  out: ConversationEffect[],
): void {
  const hung = isWithVoice(turn) ? "tts" : "llm";
  out.push({ type: "abortTurn", turnId: turn.id, hung });
  const isLate = atMs >= replyTimeoutAtMs(turn);
  if (!isLate && mayRetryReply(turn)) {
    retryReply(state, turn, atMs, out);
    return;
  }
  // The apology may hang too.
  if (hung === "tts") {
    out.push({
      type: "send",
      message: { type: "error", reason: "speechFailed", message: "the reply could not be spoken" },
    });
  }
  const ending = hung === "tts" ? SPEECH_FAILED : LANGUAGE_MODEL_FAILED;
  apologize(state, turn, { isLast: false, ending }, atMs, out);
}

function retryOrApologize(
  state: ConversationState,
  turn: Turn,
  atMs: number,
  retryable: boolean,
  out: ConversationEffect[],
): void {
  out.push({ type: "abortTurn", turnId: turn.id });
  if (retryable && mayRetryReply(turn)) {
    retryReply(state, turn, atMs, out);
    return;
  }
  const cause = { isLast: !retryable, ending: LANGUAGE_MODEL_FAILED };
  apologize(state, turn, cause, atMs, out);
}

/** The call continues after it, unless retrying would not help, or too many turns have failed. */
function apologize(
  state: ConversationState,
  turn: Turn,
  { isLast, ending }: { readonly isLast: boolean; readonly ending: Ending },
  atMs: number,
  out: ConversationEffect[],
): void {
  // Without this the apology would wait for the end of a pause that nothing ends.
  if (state.outputPausedAtMs !== undefined && state.settings.isPaced) {
    out.push({ type: "resumeAudio" });
  }
  commitTurn(state, turn, "failed", atMs, out);
  state.failedTurns += 1;
  const isOver = isLast || state.failedTurns >= FAILED_TURNS_MAX;
  const last = isOver ? providerFailureEnd(state, ending) : undefined;
  startScripted(state, "apology", [state.settings.apology], atMs, out, last);
}

function addSentences(turn: Turn, texts: readonly string[], atMs: number): void {
  const spoken = texts.map(speakable).filter((text) => text !== "");
  if (spoken.length === 0) return;
  for (const text of spoken.slice(0, SENTENCES_MAX - turn.sentences.length)) {
    turn.sentences.push(newSentence(text, answersOf(turn)));
  }
  turn.firstSentenceAtMs ??= atMs;
}
