import { type Ending, LANGUAGE_MODEL_FAILED, SPEECH_FAILED } from "./call-end.js";
import { commitTurn, givenUpAtMs, waitedBeforeMs } from "./commit-turn.js";
import { setDeadline } from "./deadlines.js";
import type { SessionEffect } from "./effects.js";
import type { ReplyDoneEvent, ReplyFailedEvent, ReplyTokenEvent, ToolDoneEvent } from "./events.js";
import { answerEndsAtMs, lengthMsOf } from "./playback-ledger.js";
import {
  advanceSpeech,
  beginScripted,
  giveUpRest,
  newSentence,
  SENTENCES_MAX,
  STALL_MAX_MS,
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
  isBeingTransferred,
  newTurn,
  type PreemptiveReply,
  type SessionState,
  splitterFor,
  type Turn,
  withToken,
  withTurnInState,
} from "./state.js";
import { paid } from "./token-estimate.js";
import {
  conversationOf,
  pendingToolsMs,
  toolsDueMs,
  useTools,
  withLateResult,
  withToolResult,
} from "./tools.js";
import { providerFailureEnd } from "./transfer.js";
import { cutSentence } from "./underrun.js";

const MODEL_ATTEMPTS_MAX = 2;

export type TurnFields = Pick<Turn, "userText" | "callerEndedAtMs" | "decidedAtMs" | "attempt">;

export function askAnew(
  state: SessionState,
  fields: TurnFields & Partial<Turn>,
  out: SessionEffect[],
): SessionState {
  const id = state.lastTurnId + 1;
  const splitter = splitterFor(state.settings);
  const turn: Turn = { ...newTurn({ id, kind: "reply", ...fields }), splitter, ...fields };
  const pendingMs = pendingToolsMs(state, turn.progressAtMs);
  if (pendingMs > 0) setDeadline(state, "turnStall", turn.progressAtMs + pendingMs);
  else askModel(state, turn, out);
  if (turn.attempt === 1) watchSilence(state, turn, turn.decidedAtMs);
  return { ...state, lastTurnId: id, turn: { ...turn, waitsForTools: pendingMs > 0 } };
}

/** A tool call of an earlier turn has finished. The reply that waits for the last of these calls is requested now. */
export function onLateToolDone(
  state: SessionState,
  event: ToolDoneEvent,
  out: SessionEffect[],
): SessionState {
  const told = withLateResult(state, event);
  const isWaiting = told.turn?.waitsForTools === true && pendingToolsMs(told, event.atMs) > 0;
  return isWaiting ? told : askAfterTools(told, event.atMs, out);
}

/** Their results have come, or are not waited for any longer. */
export function askAfterTools(
  state: SessionState,
  atMs: number,
  out: SessionEffect[],
): SessionState {
  if (state.turn?.waitsForTools !== true) return state;
  const turn = { ...state.turn, waitsForTools: false, progressAtMs: atMs };
  askModel(state, turn, out);
  return { ...state, turn };
}

/** The caller has heard these words all the same, and is told the rest by another try. */
function saidOf(turn: Turn): Partial<Turn> {
  const { fillerCount, ledger, overlapAtMs, hasWaitedForWords, wastedTokens } = turn;
  const { waitedBeforeMs: beforeMs, endOfTurn, bargeIns } = turn;
  const sentences = turn.sentences.slice(0, fillerCount);
  const counts = { sentCount: fillerCount, askedCount: fillerCount, fillerCount };
  return {
    sentences,
    ...counts,
    ledger,
    // Its client counts the audio of each turn by itself.
    playedBeforeMs: lengthMsOf(ledger),
    overlapAtMs,
    hasWaitedForWords,
    wastedTokens,
    waitedBeforeMs: beforeMs,
    endOfTurn,
    bargeIns,
  };
}

/** Asks for the rest of the reply, now that it is known what came of the tools. */
export function askModel(state: SessionState, turn: Turn, out: SessionEffect[]): void {
  out.push({ type: "askModel", turnId: turn.id, ...conversationOf(state, turn) });
  setDeadline(state, "turnStall", turn.progressAtMs + firstStallMs(turn));
}

/** So long the model has before it is looked after. */
export function firstStallMs(turn: Turn): number {
  if (turn.toolRounds > 0) return STALL_MAX_MS;
  return Math.min(STALL_MAX_MS, givenUpAtMs(turn) - turn.progressAtMs);
}

/** What a tool has done is not done twice. */
export function mayAskAgain({ attempt, toolRounds }: Turn): boolean {
  return attempt < MODEL_ATTEMPTS_MAX && toolRounds === 0;
}

export function askOnceMore(
  state: SessionState,
  turn: Turn,
  atMs: number,
  out: SessionEffect[],
): SessionState {
  const { userText, callerEndedAtMs, decidedAtMs, attempt } = turn;
  const fields = { userText, callerEndedAtMs, decidedAtMs, attempt: attempt + 1 };
  return askAnew(paid(state, turn), { ...fields, ...saidOf(turn), progressAtMs: atMs }, out);
}

/** Nobody listens to a longer reply on a telephone; the model is stopped there. */
const REPLY_CHARS_MAX = 4_000;
/** Two tries of a voice that says nothing have their own, shorter limits, which have passed by then. */
const VOICE_STALL_MAX_MS = 10_000;
/** Turns that failed one after another; then the call ends with the reason, instead of going on deaf or mute. */
export const FAILED_TURNS_MAX = 3;

/** Answers what the caller has said and nobody has answered yet. */
export function beginReply(state: SessionState, atMs: number, out: SessionEffect[]): SessionState {
  if (isBeingTransferred(state)) return state;
  // Who interrupts often goes on without words: the wait for the answer begins with the silence.
  const { bargeInVoiceAtMs = Number.NEGATIVE_INFINITY } = state;
  const callerEndedAtMs = Math.min(Math.max(state.callerEndedAtMs, bargeInVoiceAtMs), atMs);
  const { early, unanswered: userText, endOfTurn } = state;
  const ready = early !== undefined && isAnswered(early, userText) ? early : undefined;
  const free = ready === undefined ? dropPreemptiveReply(state, out) : state;
  const { wastedTokens } = free;
  const waits = { decidedAtMs: atMs, waitedBeforeMs: waitedBeforeMs(state, atMs) };
  const fields = { userText, callerEndedAtMs, ...waits, attempt: 1, wastedTokens, endOfTurn };
  const answered = {
    unanswered: "",
    bargeInVoiceAtMs: undefined,
    carriedOverWait: undefined,
    early: undefined,
    preemptiveTries: 0,
    wastedTokens: 0,
  };
  const begun = { ...free, ...answered, cutSentences: [], cutEndReason: undefined };
  const turnId = ready?.turnId ?? begun.lastTurnId + 1;
  if (endOfTurn !== undefined) out.push({ type: "reportEndOfTurn", turnId, endOfTurn });
  return ready === undefined
    ? askAnew(begun, fields, out)
    : goOnWithEarly(begun, ready, fields, out);
}

/** The words were the last: what has come of the reply is taken as if it came now. */
function goOnWithEarly(
  state: SessionState,
  { turnId, askedAtMs, text, done }: PreemptiveReply,
  fields: TurnFields & Partial<Turn>,
  out: SessionEffect[],
): SessionState {
  const atMs = fields.decidedAtMs;
  const turn: Turn = {
    ...newTurn({ id: turnId, kind: "reply", ...fields }),
    ...fields,
    splitter: splitterFor(state.settings),
    preemptiveMs: atMs - askedAtMs,
  };
  setDeadline(state, "turnStall", atMs + firstStallMs(turn));
  watchSilence(state, turn, atMs);
  const begun: SessionState = { ...state, turn };
  const told = { turnId, text, atMs };
  const spoken = text === "" ? begun : onReplyToken(begun, turn, told, out);
  if (done === undefined || spoken.turn === undefined) return spoken;
  return onReplyDone(spoken, spoken.turn, { ...done, atMs }, out);
}

export function onReplyToken(
  state: SessionState,
  turn: Turn,
  event: Omit<ReplyTokenEvent, "type">,
  out: SessionEffect[],
): SessionState {
  if (!turn.generating) return state;
  const split = splitReplyToken(turn.splitter, event.text);
  const next = withToken(turn, split.state, event.text.length, event.atMs);
  const stallMs = stallMsOf(split.state);
  if (stallMs !== undefined) setDeadline(state, "sentenceFlush", event.atMs + stallMs);
  if (split.sentences.length === 0 && next.replyChars < REPLY_CHARS_MAX) {
    return withTurnInState(state, next);
  }
  const longer = withSentences(next, split.sentences, event.atMs);
  if (longer.sentences.length < SENTENCES_MAX && longer.replyChars < REPLY_CHARS_MAX) {
    return advanceSpeech(state, longer, event.atMs, out);
  }
  out.push({ type: "stopModel", turnId: turn.id });
  return advanceSpeech(paid(state, longer), { ...longer, generating: false }, event.atMs, out);
}

/** The model has given nothing since a sentence seemed to end: if it is whole, TTS gets it without the character after it. */
export function onSentenceFlushDeadline(
  state: SessionState,
  turn: Turn,
  atMs: number,
  out: SessionEffect[],
): SessionState {
  if (!turn.generating) return state;
  const split = splitStalled(turn.splitter, Math.round(atMs - turn.progressAtMs));
  if (split === undefined) return state;
  const longer = withSentences({ ...turn, splitter: split.state }, split.sentences, atMs);
  return advanceSpeech(state, longer, atMs, out);
}

export function onReplyDone(
  state: SessionState,
  turn: Turn,
  event: ReplyDoneEvent,
  out: SessionEffect[],
): SessionState {
  if (!turn.generating) return state;
  const rest = splitEnd(turn.splitter);
  const whole = withSentences(turn, rest === undefined ? [] : [rest], event.atMs);
  const metrics = { ...state.metrics, totalTokens: state.metrics.totalTokens + event.tokens };
  const done = { ...whole, generating: false };
  if (event.toolCalls !== undefined && event.toolCalls.length > 0) {
    const used = useTools(state, whole, event, out);
    if (used !== undefined) return advanceSpeech({ ...state, metrics }, used, event.atMs, out);
    return giveUpTools({ ...state, metrics }, done, event.atMs, out);
  }
  if (answersOf(done) === 0)
    return retryOrApologize({ ...state, metrics }, done, event.atMs, true, out);
  return advanceSpeech({ ...state, metrics }, done, event.atMs, out);
}

/** What the tool says goes to the model when all of its round have answered. */
export function onToolDone(
  state: SessionState,
  turn: Turn,
  event: ToolDoneEvent,
  out: SessionEffect[],
): SessionState {
  const told = withToolResult(turn, event.callId, event.content);
  if (told === undefined) return state;
  const answered = { ...told, progressAtMs: event.atMs };
  const isLast = answered.toolsWaiting.length === 0;
  if (event.spoken === undefined) {
    if (isLast) askModel(state, answered, out);
    return { ...state, turn: answered };
  }
  const texts = sentencesOf(event.spoken.slice(0, REPLY_CHARS_MAX));
  const spoken = withSentences(answered, texts, event.atMs);
  return advanceSpeech(state, { ...spoken, generating: !isLast }, event.atMs, out);
}

/** Before anything was heard a reply can be asked for anew; after that it ends with its last whole sentence. */
export function onReplyFailed(
  state: SessionState,
  turn: Turn,
  event: ReplyFailedEvent,
  out: SessionEffect[],
): SessionState {
  if (!turn.generating) return state;
  if (answersSent(turn) > 0) return giveUpRest(state, turn, turn.sentences.length, event.atMs, out);
  return retryOrApologize(state, turn, event.atMs, event.retryable, out);
}

/** Nothing came in time: ask again, or say what there is, or give up with a reason. Never just silence. */
export function onTurnStallDeadline(
  state: SessionState,
  atMs: number,
  out: SessionEffect[],
): SessionState {
  const turn = state.turn;
  if (turn === undefined) return state;
  if (turn.waitsForTools) {
    const pendingMs = pendingToolsMs(state, atMs);
    if (pendingMs <= 0) return askAfterTools(state, atMs, out);
    setDeadline(state, "turnStall", atMs + pendingMs);
    return state;
  }
  if (answersSent(turn) === 0 && turn.kind === "reply") {
    // A waiting word that is being heard is heard to its end.
    const waitMs = Math.max(progressDueMs(turn), turn.ledger.endsAtMs) - atMs;
    if (waitMs < 1) return giveUpHung(state, turn, atMs, out);
    setDeadline(state, "turnStall", atMs + waitMs);
    return state;
  }
  // The sentence that plays has become longer since the timer was set.
  const heardMs = answerEndsAtMs(turn.ledger);
  const sinceMs = turn.generating ? Math.max(heardMs, turn.progressAtMs) : heardMs;
  const dueMs = Math.max(sinceMs + STALL_MAX_MS, toolsDueMs(turn));
  if (dueMs > atMs) {
    setDeadline(state, "turnStall", dueMs);
    return state;
  }
  const cut = cutSentence(state, turn, atMs, out);
  out.push({ type: "abortTurn", turnId: turn.id });
  const restLost = cut.sentences.length > cut.sentCount;
  return giveUpRest(state, { ...cut, restLost }, cut.sentCount, atMs, out);
}

/** What has begun to come is waited for, as long as more of it comes and the caller has not waited too long. */
function progressDueMs(turn: Turn): number {
  if (turn.toolsWaiting.length > 0) return toolsDueMs(turn);
  const stallMs = isWithVoice(turn) ? VOICE_STALL_MAX_MS : STALL_MAX_MS;
  return Math.min(turn.progressAtMs + stallMs, givenUpAtMs(turn));
}

function isWithVoice({ askedCount, sentCount }: Turn): boolean {
  return askedCount > sentCount;
}

/** A vendor gives nothing. A caller who has waited for too long, in this turn or in those before it, waits for no other try. */
function giveUpHung(
  state: SessionState,
  turn: Turn,
  atMs: number,
  out: SessionEffect[],
): SessionState {
  const hung = isWithVoice(turn) ? "tts" : "llm";
  out.push({ type: "abortTurn", turnId: turn.id, hung });
  const isLate = atMs >= givenUpAtMs(turn);
  if (!isLate && mayAskAgain(turn)) return askOnceMore(state, turn, atMs, out);
  // The apology may hang as well.
  if (hung === "tts") {
    out.push({
      type: "send",
      message: { type: "error", reason: "speechFailed", message: "the reply could not be spoken" },
    });
  }
  const ending = hung === "tts" ? SPEECH_FAILED : LANGUAGE_MODEL_FAILED;
  return apologize(state, turn, { isLast: false, ending }, atMs, out);
}

/** The model asks for tools again and again and does not answer. */
function giveUpTools(
  state: SessionState,
  turn: Turn,
  atMs: number,
  out: SessionEffect[],
): SessionState {
  if (answersOf(turn) > 0) return advanceSpeech(state, { ...turn, faulty: true }, atMs, out);
  return retryOrApologize(state, turn, atMs, true, out);
}

function retryOrApologize(
  state: SessionState,
  turn: Turn,
  atMs: number,
  retryable: boolean,
  out: SessionEffect[],
): SessionState {
  out.push({ type: "abortTurn", turnId: turn.id });
  if (retryable && mayAskAgain(turn)) return askOnceMore(state, turn, atMs, out);
  const cause = { isLast: !retryable, ending: LANGUAGE_MODEL_FAILED };
  return apologize(state, turn, cause, atMs, out);
}

/** The call goes on after it, unless trying again would not help, or too many turns have failed. */
function apologize(
  state: SessionState,
  turn: Turn,
  { isLast, ending }: { readonly isLast: boolean; readonly ending: Ending },
  atMs: number,
  out: SessionEffect[],
): SessionState {
  // Else the apology would wait for the end of a pause that nothing ends any more.
  if (state.outputPausedAtMs !== undefined && state.settings.isPaced) {
    out.push({ type: "resumeAudio" });
  }
  const settled = commitTurn(state, turn, "failed", atMs, out);
  const failedTurns = settled.failedTurns + 1;
  const failed = { ...settled, failedTurns };
  const isOver = isLast || failedTurns >= FAILED_TURNS_MAX;
  const words = [state.settings.apology];
  const last = isOver ? providerFailureEnd(failed, ending) : undefined;
  return beginScripted(failed, "apology", words, atMs, out, last);
}

function withSentences(turn: Turn, texts: readonly string[], atMs: number): Turn {
  const room = SENTENCES_MAX - turn.sentences.length;
  const spoken = texts.map(speakable).filter((text) => text !== "");
  if (spoken.length === 0) return turn;
  return {
    ...turn,
    sentences: [
      ...turn.sentences,
      ...spoken.slice(0, room).map((text, at) => newSentence(text, answersOf(turn) + at)),
    ],
    firstSentenceAtMs: turn.firstSentenceAtMs ?? atMs,
  };
}
