import { isClosing } from "../../speech/closing-words.js";
import { pendingText } from "../../speech/turn-detector.js";
import { wordCount } from "../../speech/word-count.js";
import type { SaidMessage, SessionEffect } from "../effects.js";
import { isRevocable } from "../ending.js";
import { joinWords } from "../kept-conversation.js";
import { onPlaybackEnd } from "../playback/playback-end.js";
import { beginReply } from "../replying.js";
import { settleTurn, withDoubtful } from "../settlement.js";
import type { SessionState } from "../state.js";
import { isAtKeys } from "../tool-use/tool-use.js";
import { isAllSent, type Turn } from "../turn.js";
import { goOn, hold } from "./holding.js";
import { interrupt, onPhantom, wordsInterrupt } from "./interruption.js";
import {
  isAnsweringYes,
  isListening,
  isOnlyListening,
  mayShowListening,
  noteAgreement,
  waitsForQuestion,
} from "./listening.js";
import { echoBehindDoubtful, noteEcho, ownEcho } from "./own-echo.js";

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
export function takeFloor(
  state: SessionState,
  { text, words, isSettled, isRepeated = false }: HeardWords,
  atMs: number,
  out: SessionEffect[],
): SessionState {
  const { turn } = state;
  if (turn === undefined || isAtKeys(turn, atMs)) return state;
  const echo = ownEcho(state, text, { mayGoOn: !isSettled });
  if (echo === "certain") return goOn(noteEcho(state, words, atMs), atMs, out);
  if (echo === "possible") return state;
  if (turn.ending !== undefined) {
    return isFarewell(state, text) ? goOn(state, atMs, out) : interrupt(state, turn, atMs, out);
  }
  const { sensitivity } = state.settings;
  if (isListening(state, text, atMs)) {
    // Where any voice stops the assistant, a word does so too; it goes on when nothing else follows.
    const isFirst = sensitivity === "high" && state.heldAtMs === undefined;
    return isFirst ? hold(state, turn, atMs, out) : goOn(state, atMs, out);
  }
  if (sensitivity !== "high" && waitsForQuestion(state, text)) return goOn(state, atMs, out);
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
  return takeFloor(state, { text, words: wordCount(text), isSettled: true }, atMs, out);
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
  if (isDone) return answerDoubtful(goOn(told, atMs, out), atMs, out);
  const state = told;
  if (state.settings.agreementWords === "ignored" && isListening(state, text, atMs)) {
    // It has not stopped the agent; the answer to a question of a moment ago waits until that has spoken.
    if (!isOnlyListening(state, text, atMs)) {
      return answerCaller(goOn(state, atMs, out), text, atMs, out);
    }
    const said: SaidMessage = { role: "user", text, atMs: beganAtMs };
    return onPhantom(goOn(noteAgreement(state, said, out), atMs, out), atMs, out);
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
  if (turn.sentCount > 0 || turn.kind !== "reply" || isAtKeys(turn, atMs)) return noted;
  out.push({ type: "abortTurn", turnId: turn.id });
  // A turn of which nothing could be said waits for its end, which must not become the end of the next one.
  if (isAllSent(turn)) out.push({ type: "cancelTimer", timer: "playback" });
  return beginReply(settleTurn(noted, turn, "superseded", atMs, out), atMs, out);
}

/** The recognizer took back words for which doubtful ones waited: those are answered if nobody speaks. */
export function answerDoubtful(
  state: SessionState,
  atMs: number,
  out: SessionEffect[],
): SessionState {
  if (state.turn !== undefined || state.doubtful === undefined) return state;
  if (pendingText(state.hearing) !== "") return state;
  return beginReply(withDoubtful(state, out), atMs, out);
}

function noteSaid(state: SessionState, said: SaidMessage, out: SessionEffect[]): SessionState {
  const sure = withDoubtful(state, out);
  const { text } = said;
  out.push({ type: "send", message: { type: "transcript", role: "user", text, isFinal: true } });
  // Keys may come in the middle of words, which are still to be settled.
  if (pendingText(state.hearing) === "") out.push({ type: "cancelTimer", timer: "silence" });
  out.push({ type: "cancelTimer", timer: "phantom" });
  return {
    ...sure,
    utteranceBeganAtMs: undefined,
    voicedAtMs: Number.NEGATIVE_INFINITY,
    unanswered: joinWords(sure.unanswered, text),
    unsaved: [...sure.unsaved, said],
    cutSentences: [],
    cutEnding: undefined,
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
    : goOn(state, atMs, out);
}

/** What is certainly an echo is dropped, what may be one waits while the agent speaks; the caller's own words are not done with. */
function afterEcho(
  state: SessionState,
  text: string,
  beganAtMs: number,
): { readonly told: SessionState; readonly isDone: boolean } {
  const { turn } = state;
  const { echo, doubtful, echoHeard } = echoBehindDoubtful(state, text);
  const told = echoHeard === state.echoHeard ? state : { ...state, echoHeard };
  if (echo === "certain") {
    return { told: { ...told, utteranceBeganAtMs: undefined, doubtful }, isDone: true };
  }
  const isSpeaking = turn !== undefined && turn.sentCount > 0;
  if (echo === "none" || !isSpeaking) return { told, isDone: false };
  const waiting = {
    text: joinWords(doubtful?.text ?? "", text),
    beganAtMs: doubtful?.beganAtMs ?? beganAtMs,
  };
  return { told: { ...told, utteranceBeganAtMs: undefined, doubtful: waiting }, isDone: true };
}
