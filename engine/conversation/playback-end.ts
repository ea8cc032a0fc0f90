/** What happens when the caller has heard all of a turn: the next turn, a goodbye, or the end of the call. */

import { backchannelPhrases } from "./backchannel.js";
import { type Ending, isRevocable, SPEECH_FAILED } from "./call-end.js";
import { commitTurn } from "./commit-turn.js";
import { clearDeadline, setDeadline } from "./deadlines.js";
import type { ConversationEffect } from "./effects.js";
import type { PlayedEvent, SoundLateEvent } from "./events.js";
import { watchCaller } from "./idle.js";
import { LEXICONS, PhraseList, tablePhrases } from "./lexicon.js";
import { sayWaiting } from "./live-control.js";
import { alignPlayed, delayPlayback, isGap } from "./playback-ledger.js";
import { advanceSpeech, startScripted } from "./playout.js";
import { FAILED_TURNS_MAX, startTurnReply } from "./reply.js";
import { answersSent, type ConversationState, isAllSent, type Turn, turnOf } from "./state.js";
import { pendingText } from "./transcript-buffer.js";
import { endAfterSpeech, providerFailureEnd } from "./transfer.js";

const FALLBACK_LANGUAGE = "en";
const lists = new Map(
  Object.entries(LEXICONS).flatMap(([language, { closings }]) => {
    if (closings === undefined) return [];
    const phrases = [...backchannelPhrases(language), ...tablePhrases(closings)];
    return [[language, new PhraseList(phrases)]];
  }),
);

/**
 * Whether these words let a goodbye finish: "thanks, bye", or just "okay". `language` is the first part of a tag;
 * an unknown one counts as English.
 */
export function isClosing(text: string, language: string): boolean {
  return (lists.get(language) ?? lists.get(FALLBACK_LANGUAGE))?.makesUp(text) === true;
}

/** A voice becomes words within this time, or it was noise. */
const FAREWELL_GRACE_MS = 1_000;
/** How long ago an unanswered voice that may be continuing can have begun. */
const VOICE_START_MAX_MS = 10_000;
/** Some STTs return words only after the voice has ended. */
const WORDS_AFTER_VOICE_MS = 1_500;
/** The longest time that a noise like a voice keeps a call open. */
const VOICE_WITHOUT_WORDS_MAX_MS = 6_000;

/** The last sentence was heard. Words that arrived meanwhile and did not interrupt are answered now. */
export function onPlaybackEnd(
  state: ConversationState,
  atMs: number,
  out: ConversationEffect[],
  voiceAgoMs?: number,
): void {
  const turn = turnOf(state);
  if (turn === undefined) return;
  const graceMs = farewellGraceMs(state, turn, atMs, voiceAgoMs);
  if (graceMs > 0) {
    setDeadline(state, "playbackEnd", atMs + graceMs);
    return;
  }
  const ending =
    turn.ending === undefined || isOwedAnswer(state, turn.ending) ? undefined : turn.ending;
  // A timer may fire a fraction early; the audio that it was set for has still been heard.
  const endedAtMs = Math.max(atMs, turn.ledger.endsAtMs);
  commitTurn(state, turn, turn.faulty ? "failed" : "played", endedAtMs, out);
  if (turn.sentCount > 0) out.push({ type: "send", message: { type: "audioEnd" } });
  if (ending !== undefined) {
    endAfterSpeech(state, turn.id, ending, atMs, out);
    return;
  }
  if (turn.faulty) countFailure(state, turn, out);
  else if (turn.kind === "reply") state.failedTurns = 0;
  if (turn.hopeless || state.failedTurns >= FAILED_TURNS_MAX) {
    endWithoutVoice(state, turn, atMs, out);
    return;
  }
  const { apology } = state.settings;
  const isOwed = turn.faulty && turn.kind === "reply" && lacksEnd(turn, apology);
  const mayApologize = isReady(state, apology) || (turn.restLost && answersSent(turn) > 0);
  if (sayWaiting(state, atMs, out)) return;
  if (isOwed && state.user.unanswered === "" && mayApologize) {
    startScripted(state, "apology", [apology], atMs, out);
  } else if (state.user.unanswered !== "") {
    // Until now the caller was listening, not waiting.
    state.user.endedAtMs = atMs;
    startTurnReply(state, atMs, out);
  } else watchCaller(state, atMs);
}

/** The caller said something before the end of the call was decided; it did not interrupt, and is no goodbye. */
function isOwedAnswer(
  { user: { unanswered }, settings }: ConversationState,
  ending: Ending,
): boolean {
  return isRevocable(ending) && unanswered !== "" && !isClosing(unanswered, settings.language);
}

/** The apology was prepared while TTS still worked. */
function endWithoutVoice(
  state: ConversationState,
  turn: Turn,
  atMs: number,
  out: ConversationEffect[],
): void {
  const { apology } = state.settings;
  const ending = providerFailureEnd(state, SPEECH_FAILED);
  if (isReady(state, apology)) startScripted(state, "apology", [apology], atMs, out, ending);
  else endAfterSpeech(state, turn.id, ending, atMs, out);
}

/** The caller has heard nothing of the reply, or a filler last, or waits for tools. */
function lacksEnd(turn: Turn, apology: string): boolean {
  if (turn.toolsWaiting.length > 0) return true;
  const last = turn.ledger.sent.at(-1);
  if (last?.isFiller === true && last.text === apology) return false;
  return turn.restLost || answersSent(turn) === 0 || last?.isFiller === true;
}

function isReady({ readyPhrases }: ConversationState, phrase: string): boolean {
  return readyPhrases.some(({ text }) => text === phrase);
}

/** How long the end of a call waits for the words of a caller who has started to speak. */
function farewellGraceMs(
  state: ConversationState,
  turn: Turn,
  atMs: number,
  voiceAgoMs = Number.POSITIVE_INFINITY,
): number {
  if (turn.ending === undefined || !isRevocable(turn.ending)) return 0;
  const isVoiced = state.user.voicedAtMs > atMs - VOICE_START_MAX_MS;
  if (!isVoiced && pendingText(state.user.hearing) === "") return 0;
  const { endsAtMs } = turn.ledger;
  const voiceLeftMs = Math.min(
    WORDS_AFTER_VOICE_MS - voiceAgoMs,
    endsAtMs + VOICE_WITHOUT_WORDS_MAX_MS - atMs,
  );
  return Math.max(endsAtMs + FAREWELL_GRACE_MS - atMs, voiceLeftMs);
}

function countFailure(state: ConversationState, turn: Turn, out: ConversationEffect[]): void {
  const message =
    answersSent(turn) === 0 ? "the reply could not be spoken" : "the reply was cut short";
  out.push({ type: "send", message: { type: "error", reason: "speechFailed", message } });
  state.failedTurns += 1;
}

/** Clients report whole milliseconds. */
const ROUNDED_MS = 1;

/** The client's report replaces the estimate; until the next report the clock continues from there. */
export function onPlayed(
  state: ConversationState,
  turn: Turn,
  event: PlayedEvent,
  out: ConversationEffect[],
): void {
  // The server itself counts audio that is paused.
  if (turn.sentCount === 0 || state.outputPausedAtMs !== undefined) return;
  const playedMs = turn.playedBeforeMs + event.playedMs;
  const aligned = alignPlayed(turn.ledger, playedMs, event.atMs);
  // A report that everything was played does not say when: the gap since then has the length on the clock.
  const wasPlayed =
    turn.ledger.endsAtMs <= event.atMs && aligned.endsAtMs < event.atMs + ROUNDED_MS;
  if (!wasPlayed) turn.ledger = aligned;
  if (isAllSent(turn) && turn.ledger.endsAtMs <= event.atMs) {
    clearDeadline(state, "playbackEnd");
    onPlaybackEnd(state, event.atMs, out);
  } else advanceSpeech(state, turn, event.atMs, out);
}

/** Unheard audio moves this much later, after a gap. */
export function onSoundLate(
  state: ConversationState,
  { lateMs, atMs }: SoundLateEvent,
  out: ConversationEffect[],
): void {
  const turn = turnOf(state);
  if (turn === undefined || turn.sentCount === 0 || state.outputPausedAtMs !== undefined) return;
  turn.ledger = delayPlayback(turn.ledger, atMs - lateMs, lateMs);
  if (isGap(lateMs)) turn.underruns += 1;
  advanceSpeech(state, turn, atMs, out);
}
