/** Ends a turn: the heard part goes into the history and the record; the rest is stored separately. */

import type { HistoryMessage } from "../../storage/records.js";
import { retryResultTurn } from "./background-tools.js";
import {
  type Ending,
  type EndReason,
  MACHINE_ANSWERED,
  MESSAGE_LEFT,
  NOT_PUT_THROUGH,
} from "./call-end.js";
import { clearDeadlines, DEADLINE_NAMES } from "./deadlines.js";
import { echoBehindSuspectedEcho, spokenBeforeAfter } from "./echo.js";
import type {
  ConversationEffect,
  SaidMessage,
  TurnOutcome,
  TurnReport,
  TurnSave,
} from "./effects.js";
import { playedAnswer, playedText, splitAt, wholeWords } from "./playback-ledger.js";
import { dropPreemptiveReply } from "./preemptive-generation.js";
import {
  type CarriedOverWait,
  type ConversationState,
  isFiller,
  joinWords,
  reportOf,
  SILENT,
  setAgentTurn,
  type Turn,
  turnMessages,
  turnOf,
  withMessages,
} from "./state.js";
import { estimatedTokens } from "./token-estimate.js";
import { withdrawUnheardFailure } from "./tool-failure.js";
import { toolsDoneAfter, toolsOfHeardReply } from "./tools.js";
import {
  EMPTY_TRANSCRIPT_BUFFER,
  onSilenceTimeout,
  pendingText,
  type TranscriptBuffer,
} from "./transcript-buffer.js";

/** The maximum length of unheard text that is stored with a turn: about three minutes of speech. */
const UNPLAYED_CHARACTERS_MAX = 3_000;

/** The unheard part of the text; the cut sentence starts at the word where it was cut. */
export function unplayedSentences(turn: Turn, atMs: number): readonly string[] {
  const { index, played } = splitAt(turn.ledger, atMs);
  const [cut, ...rest] = turn.sentences.slice(index);
  if (cut === undefined) return [];
  const begun = played === undefined ? cut.text : cut.text.slice(played.text.length).trimStart();
  return [{ ...cut, text: begun }, ...rest]
    .filter((sentence) => !isFiller(sentence))
    .map((sentence) => sentence.text);
}

/** The unheard text of a turn whose caller interrupted or hung up, for its record; undefined for every other turn. */
export function unplayedText(turn: Turn, outcome: TurnOutcome, atMs: number): string | undefined {
  if (outcome !== "interrupted" && outcome !== "cutOff") return undefined;
  const text = wholeWords(unplayedSentences(turn, atMs).join(" ").trim(), UNPLAYED_CHARACTERS_MAX);
  return text === "" ? undefined : text;
}

/** Maximum time without an answer, over all restarted turns; then the agent gives up. */
const REPLY_WAIT_MAX_MS = 20_000;
/** If that time is nearly over when a turn begins, a recovered vendor has this long to answer. */
const LAST_TRY_MS = 2_500;
/** A turn that is interrupted sooner does not count as a wait: a working vendor may take this long. */
const WAIT_MIN_MS = 1_000;
/** Impatient words count as waiting; a caller who speaks for longer is not waiting. */
const WORDS_BETWEEN_MAX_MS = 3_000;

/** Nothing of the turn was heard, and its question will be answered again: the wait is carried over. */
export function carriedOverWaitAfter(turn: Turn, atMs: number): CarriedOverWait | undefined {
  const hasAudio = turn.sentences.some(
    (sentence) => !isFiller(sentence) && sentence.durationMs !== undefined,
  );
  if (turn.kind !== "reply" || turn.toolRounds > 0 || hasAudio) return undefined;
  const ownMs = atMs - turn.decidedAtMs;
  const waitedMs = turn.waitedBeforeMs + (ownMs < WAIT_MIN_MS ? 0 : ownMs);
  return waitedMs === 0 ? undefined : { waitedMs, untilMs: atMs };
}

/** How long the caller has already waited for an answer when a turn begins. */
export function waitedBeforeMs({ carriedOverWait }: ConversationState, atMs: number): number {
  if (carriedOverWait === undefined) return 0;
  return carriedOverWait.waitedMs + Math.min(atMs - carriedOverWait.untilMs, WORDS_BETWEEN_MAX_MS);
}

/** When the agent gives up a reply of which nothing was heard. */
export function replyTimeoutAtMs({ decidedAtMs, waitedBeforeMs: beforeMs }: Turn): number {
  const leftMs = REPLY_WAIT_MAX_MS - beforeMs;
  if (leftMs >= LAST_TRY_MS) return decidedAtMs + leftMs;
  // Without this bound, a caller who speaks during every last attempt would wait forever.
  return decidedAtMs + Math.min(Math.max(leftMs + LAST_TRY_MS, 0), LAST_TRY_MS);
}

/** Deadlines that only apply while the agent has a turn. */
const TURN_DEADLINES = [
  "outputPause",
  "overlapBeforeReply",
  "sentenceFlush",
  "synthesisAhead",
  "underrun",
  "filler",
  "playbackEnd",
  "turnStall",
] as const;

/** Normal ends, which need no explanation. */
const EXPECTED_ENDINGS: ReadonlySet<EndReason> = new Set([
  "callerLeft",
  "agentHungUp",
  "transferred",
]);

/** Stops generating, speaking and waiting for the turn; the heard part still has to be committed. */
export function stopTurn(turn: Turn, out: ConversationEffect[]): void {
  out.push({ type: "abortTurn", turnId: turn.id });
}

/**
 * Closes a turn at `atMs`: its heard part enters the history and the transcript, the rest is dropped. If nothing of a
 * reply was heard, its question is kept, to be answered with the caller's next words.
 */
export function commitTurn(
  state: ConversationState,
  turn: Turn,
  outcome: TurnOutcome,
  atMs: number,
  out: ConversationEffect[],
): void {
  clearDeadlines(state, TURN_DEADLINES);
  const untilMs = Math.min(atMs, state.outputPausedAtMs ?? atMs);
  const played = playedText(turn.ledger, untilMs);
  // "One moment" is no answer: the model does not read it, and the question stays open after it.
  const answer = playedAnswer(turn.ledger, untilMs);
  const carried = answer === "" && (outcome === "superseded" || outcome === "interrupted");
  withdrawUnheardFailure(state, turn, answer);
  const isHeard = outcome === "played";
  const tools = isHeard ? toolsOfHeardReply(state, turn) : [];
  const added = carried ? [] : turnMessages(turn.userText, answer, tools);
  if (turn.sentCount > 0) {
    state.echo.spokenBefore = spokenBeforeAfter(state.echo.spokenBefore, turn.ledger, untilMs);
  }
  measure(state, turn, outcome);
  setAgentTurn(state, SILENT);
  state.outputPausedAtMs = undefined;
  if (carried) state.user.unanswered = joinWords(turn.userText, state.user.unanswered);
  state.cut = { ...state.cut, question: carried ? turn.userText : "" };
  state.toolsDone = toolsDoneAfter(state, turn, { isOpen: carried, isHeard });
  if (answer === "") retryResultTurn(state, turn, atMs);
  state.carriedOverWait = carried ? carriedOverWaitAfter(turn, atMs) : undefined;
  if (outcome === "interrupted") state.user.bargeInVoiceAtMs = Number.NEGATIVE_INFINITY;
  state.record.history = withMessages(state.record.history, added);
  if (turn.kind === "voicemail") {
    state.answerer.voicemail = { messageLeft: outcome === "played", text: played };
  }
  if (played !== "") {
    state.record.unsaved = [...state.record.unsaved, assistantMessage(turn, played)];
    out.push({
      type: "send",
      message: { type: "transcript", role: "assistant", text: played, isFinal: true },
    });
  }
  // Words that are still being said may show it to be an echo.
  if (pendingText(state.user.hearing) === "") acceptSuspectedEcho(state, out);
  const unheard = unplayedText(turn, outcome, untilMs);
  const report = { ...reportOf(turn, outcome), ...(unheard === undefined ? {} : { unheard }) };
  const save = { ...takeSave(state, report, added), ...takeSpoken(state) };
  out.push({ type: "saveTurn", save });
}

/** The agent says nothing more of its turn; a question of which the caller has heard no answer stays open. */
export function cutTurn(state: ConversationState, atMs: number, out: ConversationEffect[]): void {
  const turn = turnOf(state);
  if (turn === undefined) return;
  const untilMs = Math.min(atMs, state.outputPausedAtMs ?? atMs);
  const isAnswered = playedAnswer(turn.ledger, untilMs) !== "";
  if (turn.sentCount > 0) out.push({ type: "send", message: { type: "audioStop" } });
  stopTurn(turn, out);
  commitTurn(state, turn, isAnswered ? "cutOff" : "superseded", atMs, out);
}

/** Stores what the caller has said, where no turn of the agent's does. */
export function saveWords(state: ConversationState, out: ConversationEffect[]): void {
  if (state.record.unsaved.length === 0) return;
  out.push({ type: "saveTurn", save: takeSave(state, undefined, []) });
}

/** Words that did not turn out to be an echo are the caller's, and wait for an answer. */
export function acceptSuspectedEcho(state: ConversationState, out: ConversationEffect[]): void {
  const { suspected } = state.echo;
  if (suspected === undefined) return;
  const { text, beganAtMs, endOfTurn } = suspected;
  out.push({ type: "send", message: { type: "transcript", role: "user", text, isFinal: true } });
  state.echo.suspected = undefined;
  state.user.endOfTurn = endOfTurn;
  state.user.unanswered = joinWords(state.user.unanswered, text);
  state.record.unsaved = [...state.record.unsaved, { role: "user", text, atMs: beganAtMs }];
}

/** Ends the call: the turn in progress and unanswered words are stored as they are. */
export function endCall(
  state: ConversationState,
  requested: Ending,
  atMs: number,
  out: ConversationEffect[],
): void {
  dropPreemptiveReply(state, out);
  dropEcho(state, atMs);
  acceptSuspectedEcho(state, out);
  takePendingWords(state, atMs);
  const turn = turnOf(state);
  if (turn !== undefined) {
    stopTurn(turn, out);
    commitTurn(state, turn, "cutOff", atMs, out);
  }
  const ending = endingOfAnswerer(state, requested);
  if (!EXPECTED_ENDINGS.has(ending.reason)) {
    const { reason, message } = ending;
    out.push({ type: "send", message: { type: "error", reason, message } });
  }
  const added = turnMessages(state.user.unanswered, "");
  state.phase = "ended";
  state.user.unanswered = "";
  state.record.history = withMessages(state.record.history, added);
  clearDeadlines(state, DEADLINE_NAMES);
  out.push({ type: "end", ending, save: takeSave(state, undefined, added) });
}

/** A machine that hangs up is no caller who leaves, and a machine's record says what it got of the message. */
function endingOfAnswerer({ answerer }: ConversationState, ending: Ending): Ending {
  const { kind, voicemail } = answerer;
  const isLeft = ending.reason === "callerLeft";
  if (kind === "screener") return isLeft ? NOT_PUT_THROUGH : ending;
  if (kind !== "machine" && kind !== "voicemail") return ending;
  const isMachine = isLeft || ending.reason === "machine";
  const due = voicemail?.messageLeft === true ? MESSAGE_LEFT : MACHINE_ANSWERED;
  const own = isMachine ? due : ending;
  return { ...own, voicemail: voicemail ?? { messageLeft: false, text: "" } };
}

/** The caller's DTMF digits as the LLM and the transcript read them. */
export function keypadText(digits: string): string {
  return `[keypad] ${digits}`;
}

function assistantMessage(turn: Turn, text: string): SaidMessage {
  // A client may report playback that is ahead of time, but playback cannot start before the first
  // audio was sent.
  const sentAtMs = turn.firstAudioAtMs ?? turn.decidedAtMs;
  const first = turn.ledger.sent[0];
  if (first?.isFiller === true) return { role: "assistant", text, atMs: first.startsAtMs };
  return { role: "assistant", text, atMs: Math.max(first?.startsAtMs ?? sentAtMs, sentAtMs) };
}

/** Drops pending and current words that are an echo. */
function dropEcho(state: ConversationState, atMs: number): void {
  const words = pendingWords(state.user.hearing);
  if (words === "") return;
  // When the call ends, the agent's audio stops and its echo breaks off.
  const isSpeaking = (turnOf(state)?.sentCount ?? 0) > 0;
  const outputPausedAtMs = isSpeaking ? (state.outputPausedAtMs ?? atMs) : state.outputPausedAtMs;
  const { echo, suspectedEcho } = echoBehindSuspectedEcho({ ...state, outputPausedAtMs }, words);
  if (echo !== "certain") return;
  state.echo.suspected = suspectedEcho;
  state.user.hearing = EMPTY_TRANSCRIPT_BUFFER;
}

/** Keeps the words and digits of a turn that the end of the call cuts off, as unanswered. */
function takePendingWords(state: ConversationState, atMs: number): void {
  const keys = state.user.digits === "" ? "" : keypadText(state.user.digits);
  const text = joinWords(pendingWords(state.user.hearing), keys);
  if (text === "") return;
  state.user.unanswered = joinWords(state.user.unanswered, text);
  const said: SaidMessage = { role: "user", text, atMs: state.user.utteranceBeganAtMs ?? atMs };
  state.record.unsaved = [...state.record.unsaved, said];
}

function pendingWords(hearing: TranscriptBuffer): string {
  return onSilenceTimeout(hearing).turnText ?? "";
}

/** The unsaved part of the record; from now on it counts as saved. */
function takeSave(
  state: ConversationState,
  report: TurnReport | undefined,
  added: readonly HistoryMessage[],
): TurnSave {
  const messages = state.record.unsaved.toSorted((one, other) => one.atMs - other.atMs);
  state.record.unsaved = [];
  return { messages, metrics: state.record.metrics, report, added };
}

/** An ordered text whose turn is over has been said, whether or not the caller heard all of it. */
function takeSpoken({ control }: ConversationState): Pick<TurnSave, "unspoken"> {
  if (control.saying === undefined) return {};
  control.saying = undefined;
  return { unspoken: control.waiting };
}

/** Counts the turn in the call's metrics. */
function measure(state: ConversationState, turn: Turn, outcome: TurnOutcome): void {
  const metrics = { ...state.record.metrics };
  metrics.totalTokens += estimatedTokens(state, turn);
  if (turn.kind === "reply") {
    if (outcome !== "superseded") metrics.turnCount += 1;
    // A turn that a tool's result started has no caller who waited for it.
    if (turn.firstAudioAtMs !== undefined && turn.userText !== "") {
      const latencyMs = turn.firstAudioAtMs - turn.callerEndedAtMs;
      if (state.record.latencyCount === 0) metrics.ttfbMs = Math.round(latencyMs);
      state.record.latencySumMs += latencyMs;
      state.record.latencyCount += 1;
      metrics.avgLatencyMs = Math.round(state.record.latencySumMs / state.record.latencyCount);
    }
  }
  state.record.metrics = metrics;
}
