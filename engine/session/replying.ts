import { sentencesOf, splitEnd, splitToken } from "../speech/sentence-splitter.js";
import { speakable } from "../speech/speakable-text.js";
import type { SessionEffect } from "./effects.js";
import { LANGUAGE_MODEL_FAILED, SPEECH_FAILED } from "./ending.js";
import type { ReplyDoneEvent, ReplyFailedEvent, ReplyTokenEvent, ToolDoneEvent } from "./events.js";
import { cutSentence } from "./sentence-growth.js";
import { endCall, estimatedTokens, settleTurn, withTurn } from "./settlement.js";
import { advanceSpeech, beginScripted, giveUpRest, newSentence, STALL_MAX_MS } from "./speaking.js";
import { type SessionState, withTurnInState } from "./state.js";
import { useTools, withToolResult } from "./tool-use.js";
import { newTurn, type Turn, withToken } from "./turn.js";

/** Nobody listens to a longer reply on a telephone; the model is stopped there. */
const REPLY_CHARS_MAX = 4_000;
const SENTENCES_MAX = 64;
const MODEL_ATTEMPTS_MAX = 2;
/** Turns that failed one after another; then the call ends with the reason, instead of going on deaf or mute. */
const FAILED_TURNS_MAX = 3;

/** Answers what the caller has said and nobody has answered yet. */
export function beginReply(state: SessionState, atMs: number, out: SessionEffect[]): SessionState {
  const callerEndedAtMs = Math.min(state.callerEndedAtMs, atMs);
  const fields = { userText: state.unanswered, callerEndedAtMs, decidedAtMs: atMs, attempt: 1 };
  return askAnew({ ...state, unanswered: "", cutSentences: [] }, fields, out);
}

export function onReplyToken(
  state: SessionState,
  turn: Turn,
  event: ReplyTokenEvent,
  out: SessionEffect[],
): SessionState {
  if (!turn.generating) return state;
  const split = splitToken(turn.splitter, event.text);
  const next = withToken(turn, split.state, event.text.length, event.atMs);
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
    const used = useTools(state, whole, event.toolCalls, out);
    if (used !== undefined) return advanceSpeech({ ...state, metrics }, used, event.atMs, out);
    return giveUpTools({ ...state, metrics }, done, event.atMs, out);
  }
  if (done.sentences.length === 0)
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
  const answered = withToolResult(turn, event.callId, event.content);
  if (answered === undefined) return state;
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
  if (turn.sentCount > 0) return giveUpRest(state, turn, turn.sentences.length, event.atMs, out);
  return retryOrApologize(state, turn, event.atMs, event.retryable, out);
}

/** Nothing came in time: ask again, or say what there is, or give up with a reason. Never just silence. */
export function onStall(state: SessionState, atMs: number, out: SessionEffect[]): SessionState {
  const turn = state.turn;
  if (turn === undefined) return state;
  if (turn.sentCount === 0 && turn.kind === "reply") {
    return retryOrApologize(state, turn, atMs, true, out);
  }
  // The sentence that plays has become longer since the timer was set.
  const leftMs = turn.sentCount === 0 ? 0 : turn.ledger.endsAtMs + STALL_MAX_MS - atMs;
  if (leftMs > 0) {
    out.push({ type: "startTimer", timer: "stall", delayMs: leftMs });
    return state;
  }
  const cut = cutSentence(turn, out);
  out.push({ type: "abortTurn", turnId: turn.id });
  return giveUpRest(state, cut, cut.sentCount, atMs, out);
}

/** The last sentence was heard. Words that came meanwhile and did not interrupt are answered now. */
export function onPlaybackEnd(
  state: SessionState,
  atMs: number,
  out: SessionEffect[],
): SessionState {
  const turn = state.turn;
  if (turn === undefined) return state;
  // A timer may fire a fraction early; what it was set for has been heard all the same.
  const endedAtMs = Math.max(atMs, turn.ledger.endsAtMs);
  const settled = settleTurn(state, turn, turn.faulty ? "failed" : "played", endedAtMs, out);
  if (turn.sentCount > 0) out.push({ type: "send", message: { type: "audioEnd" } });
  if (turn.ending !== undefined) return endCall(settled, turn.ending, atMs, out);
  const counted = turn.faulty ? countFailure(settled, turn, out) : withoutFailures(settled, turn);
  if (turn.hopeless || counted.failedTurns >= FAILED_TURNS_MAX) {
    return endCall(counted, SPEECH_FAILED, atMs, out);
  }
  // Until now the caller was listening, not waiting.
  return counted.unanswered === ""
    ? counted
    : beginReply({ ...counted, callerEndedAtMs: atMs }, atMs, out);
}

/** The model asks for tools again and again and does not answer. */
function giveUpTools(
  state: SessionState,
  turn: Turn,
  atMs: number,
  out: SessionEffect[],
): SessionState {
  if (turn.sentences.length > 0) return advanceSpeech(state, { ...turn, faulty: true }, atMs, out);
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
  // What a tool has done is not done twice.
  if (retryable && turn.attempt < MODEL_ATTEMPTS_MAX && turn.toolRounds === 0) {
    const { userText, callerEndedAtMs, decidedAtMs, attempt } = turn;
    const fields = { userText, callerEndedAtMs, decidedAtMs, attempt: attempt + 1 };
    return askAnew(paid(state, turn), fields, out);
  }
  const settled = settleTurn(state, turn, "failed", atMs, out);
  const failedTurns = settled.failedTurns + 1;
  const fatal = !retryable || failedTurns >= FAILED_TURNS_MAX;
  const failed = { ...settled, failedTurns };
  const ending = fatal ? LANGUAGE_MODEL_FAILED : undefined;
  return beginScripted(failed, "apology", [state.settings.apology], atMs, out, ending);
}

function askAnew(
  state: SessionState,
  fields: Pick<Turn, "userText" | "callerEndedAtMs" | "decidedAtMs" | "attempt">,
  out: SessionEffect[],
): SessionState {
  const turn = newTurn({ id: state.lastTurnId + 1, kind: "reply", ...fields });
  askModel(state, turn, out);
  return { ...state, lastTurnId: turn.id, turn };
}

/** Asks for the rest of the reply, now that it is known what came of the tools. */
export function askModel(state: SessionState, turn: Turn, out: SessionEffect[]): void {
  const history = withTurn(state.history, turn.userText, "");
  out.push({ type: "askModel", turnId: turn.id, history, toolMessages: turn.toolMessages });
  out.push({ type: "startTimer", timer: "stall", delayMs: STALL_MAX_MS });
}

function withSentences(turn: Turn, texts: readonly string[], atMs: number): Turn {
  const room = SENTENCES_MAX - turn.sentences.length;
  const spoken = texts.map(speakable).filter((text) => text !== "");
  if (spoken.length === 0) return turn;
  return {
    ...turn,
    sentences: [...turn.sentences, ...spoken.slice(0, room).map(newSentence)],
    firstSentenceAtMs: turn.firstSentenceAtMs ?? atMs,
  };
}

/** Counts a generation that ends without the vendor's own count. */
function paid(state: SessionState, turn: Turn): SessionState {
  const tokens = estimatedTokens(state, turn);
  const metrics = { ...state.metrics, totalTokens: state.metrics.totalTokens + tokens };
  return { ...state, metrics };
}

function countFailure(state: SessionState, turn: Turn, out: SessionEffect[]): SessionState {
  const message =
    turn.sentCount === 0 ? "the reply could not be spoken" : "the reply was cut short";
  out.push({ type: "send", message: { type: "error", message } });
  return { ...state, failedTurns: state.failedTurns + 1 };
}

function withoutFailures(state: SessionState, turn: Turn): SessionState {
  return turn.kind === "reply" ? { ...state, failedTurns: 0 } : state;
}
