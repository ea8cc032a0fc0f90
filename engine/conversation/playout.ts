/** Has sentences synthesized ahead of what plays, and sends them to the caller in order. */

import type { Ending } from "./call-end.js";
import { clearDeadline, setDeadline } from "./deadlines.js";
import type { ConversationEffect, TurnKind } from "./effects.js";
import { type PlaybackLedger, recordSent } from "./playback-ledger.js";
import { dropPreemptiveReply } from "./preemptive-generation.js";
import {
  asSent,
  type ConversationState,
  isAllSent,
  isGrowing,
  newTurn,
  type Sentence,
  setAgentTurn,
  type Turn,
} from "./state.js";
import { countStoppedReply } from "./token-estimate.js";
import { sendDtmf } from "./tools.js";

/** No silence of the agent's own making is longer, once it has said that it is at work. */
const RECHECK_MS = 3_500;

/** Starts the watch over a silence that begins now, or when all that was sent has been heard. */
export function watchSilence(state: ConversationState, turn: Turn, atMs: number): void {
  if (state.settings.fillerAfterMs === 0 || turn.kind !== "reply") return;
  setDeadline(state, "filler", Math.max(atMs, quietUntilMs(state, turn)));
}

/** When the caller will have heard nothing for longer than the agent lets pass without a word. */
export function quietUntilMs({ settings }: ConversationState, turn: Turn): number {
  const keysAtMs = turn.dtmfCallIds.length > 0 ? turn.progressAtMs : Number.NEGATIVE_INFINITY;
  const sinceMs = Math.max(turn.decidedAtMs, turn.ledger.endsAtMs, keysAtMs);
  return sinceMs + (turn.fillerCount === 0 ? settings.fillerAfterMs : RECHECK_MS);
}

/** Two at once keep the next sentence ready while one comes or plays; more would only be thrown away at an interruption. */
const SENTENCES_IN_SYNTHESIS_MAX = 2;
/** Nobody listens to more; the model is stopped there. */
export const SENTENCES_MAX = 64;
/**
 * Speech that the caller has not heard yet; beyond it synthesis waits, since an interruption wastes it. TTS that gives a whole
 * sentence no faster than it is spoken needs as much as the next one lasts, and what it takes to its first audio.
 */
const SPEECH_AHEAD_MAX_MS = 10_000;
const FIRST_AUDIO_USUAL_MAX_MS = 1_000;
/** No silence in the middle of a sentence is longer, where another try or words that are ready can end it. */
export const GAP_MAX_MS = 1_000;
/** What another try takes to its first audio, or less, where its voice is well. */
const SECOND_TRY_USUAL_MAX_MS = 650;
/** How long after the last received audio was heard a second attempt starts. */
const GROWTH_MISSED_MAX_MS = GAP_MAX_MS - SECOND_TRY_USUAL_MAX_MS;
/** Nobody is asked after the last try, which is waited for longer before its voice has failed. */
export const LAST_GROWTH_MISSED_MAX_MS = 600;
/** A voice that gives nothing for so long gives no more: voices that speak in pieces are shorter between two of them. */
const SILENT_MAX_MS = 1_200;
/** What came may be all of a sentence whose length is an estimate. */
const NEARLY_ALL_FRACTION = 0.8;
/** So long before the caller would hear the silence, another try is begun: what most voices take to their first audio. */
const SECOND_TRY_LEAD_MS = 400;
/** How much longer than the clock's estimate the telephone's mark is waited for. */
const MARK_SLACK_MS = 1_500;
/** Tries of a sentence; a second failure is the end of it. */
export const SYNTHESIS_ATTEMPTS_MAX = 2;
/** Silence in a turn that a caller takes for a dead line; then the turn is retried or given up. */
export const STALL_MAX_MS = 7_000;

/** Says sentences that no model has to make: greeting, apology, the rest of what was cut off by mistake. */
export function startScripted(
  state: ConversationState,
  kind: Exclude<TurnKind, "reply">,
  texts: readonly string[],
  atMs: number,
  out: ConversationEffect[],
  ending?: Ending,
): void {
  dropPreemptiveReply(state, out);
  state.lastTurnId += 1;
  const userText = scriptedQuestion(state, kind);
  const times = { callerEndedAtMs: atMs, decidedAtMs: atMs, attempt: 1 };
  const turn = newTurn({ id: state.lastTurnId, kind, userText, ...times });
  turn.generating = false;
  turn.sentences = texts.map((text, slot) => newSentence(text, slot));
  turn.firstSentenceAtMs = atMs;
  turn.ending = ending;
  setAgentTurn(state, { state: "saying", turn });
  state.user.unanswered = state.user.unanswered.slice(userText.length).trimStart();
  setDeadline(state, "turnStall", atMs + STALL_MAX_MS);
  advanceSpeech(state, turn, atMs, out);
}

/** A repetition answers the first of the unanswered questions; what is said for a muted agent answers all. */
function scriptedQuestion(
  { cut, control, user }: ConversationState,
  kind: Exclude<TurnKind, "reply">,
): string {
  if (kind === "announcement" && control.isMuted) return user.unanswered;
  return kind === "resumed" ? cut.question : "";
}

export function newSentence(text: string, slot: number): Sentence {
  return {
    slot,
    text,
    attempt: 1,
    requestedAtMs: undefined,
    durationMs: undefined,
    grewAtMs: Number.NEGATIVE_INFINITY,
    isWhole: false,
    marks: [],
    firstTry: undefined,
  };
}

/** Sends what is ready, in order, and asks for what comes next. Called whenever one of the two may have changed. */
export function advanceSpeech(
  state: ConversationState,
  turn: Turn,
  atMs: number,
  out: ConversationEffect[],
): void {
  const { sentCount } = turn;
  const isPaused = state.outputPausedAtMs !== undefined;
  // Audio that is not paced would be heard at once.
  if (!isPaused || state.settings.isPaced) sendReady(state, turn, atMs, out);
  synthesizeAhead(state, turn, atMs, out);
  sendDtmf(turn, atMs, out);
  if (isPaused) return;
  const slackMs = state.settings.isPaced ? MARK_SLACK_MS : 0;
  const hasProgressed = turn.sentCount > sentCount;
  watchPlayback(state, turn, hasProgressed, atMs, slackMs);
  if (hasProgressed && !isAllSent(turn)) watchSilence(state, turn, atMs);
}

/** A hole in the middle of a reply would be worse than its end: everything from `index` on is dropped. */
export function abandonRest(
  state: ConversationState,
  turn: Turn,
  index: number,
  atMs: number,
  out: ConversationEffect[],
): void {
  if (turn.generating) out.push({ type: "stopModel", turnId: turn.id });
  countStoppedReply(state, turn);
  turn.sentences.length = Math.min(turn.sentences.length, Math.max(index, turn.sentCount));
  turn.requestedCount = Math.min(turn.requestedCount, turn.sentences.length);
  turn.generating = false;
  turn.faulty = true;
  advanceSpeech(state, turn, atMs, out);
}

/**
 * The playback position at `atMs`: paused audio resumes where it paused, followed directly by what was sent meanwhile.
 */
export function soundAtMs(
  { outputPausedAtMs }: Pick<ConversationState, "outputPausedAtMs">,
  atMs: number,
): number {
  return Math.min(atMs, outputPausedAtMs ?? atMs);
}

function sendReady(
  state: ConversationState,
  turn: Turn,
  atMs: number,
  out: ConversationEffect[],
): void {
  // What the caller says comes first; the reply waits until it is known what that is.
  if (isGrowing(turn) || turn.overlapAtMs !== undefined) return;
  const playedAtMs = soundAtMs(state, atMs);
  for (;;) {
    const sentence = turn.sentences[turn.sentCount];
    if (sentence?.durationMs === undefined) return;
    turn.ledger = recordSent(turn.ledger, asSent(sentence, state.voiceMsPerChar), playedAtMs);
    out.push({ type: "play", turnId: turn.id, index: sentence.slot });
    turn.sentCount += 1;
    turn.firstAudioAtMs ??= atMs;
    reportSentText(turn.ledger, out);
    if (sentence.isWhole) continue;
    setDeadline(state, "underrun", Math.max(atMs, growthDueMs(sentence, turn.ledger)));
    return;
  }
}

/**
 * When the sentence that was sent last has failed if no more of it has come. A voice that is silent for long in the middle of it
 * ends its first try before the caller hears of that, so that the second may be there in time; one that may only be late with the
 * word that it was all is waited for, and so is the second try.
 */
export function growthDueMs(
  { attempt, grewAtMs }: Sentence,
  { sent, endsAtMs }: PlaybackLedger,
): number {
  const last = sent.at(-1);
  if (last === undefined || attempt >= SYNTHESIS_ATTEMPTS_MAX) {
    return endsAtMs + LAST_GROWTH_MISSED_MAX_MS;
  }
  const missedMs = endsAtMs + GROWTH_MISSED_MAX_MS;
  if (last.durationMs > NEARLY_ALL_FRACTION * last.expectedMs) return missedMs;
  const silentSinceMs = Math.max(grewAtMs, last.startsAtMs);
  const silentMs = Math.max(silentSinceMs + SILENT_MAX_MS, endsAtMs - SECOND_TRY_LEAD_MS);
  return Math.min(missedMs, silentMs);
}

/** The client is told all that the turn has sent it so far. */
export function reportSentText(ledger: PlaybackLedger, out: ConversationEffect[]): void {
  const text = ledger.sent.map((sent) => sent.text).join(" ");
  out.push({
    type: "send",
    message: { type: "transcript", role: "assistant", text, isFinal: false },
  });
}

function synthesizeAhead(
  state: ConversationState,
  turn: Turn,
  atMs: number,
  out: ConversationEffect[],
): void {
  const { voiceMsPerChar, settings } = state;
  const nextChars = settings.isStreamed
    ? 0
    : (turn.sentences[turn.requestedCount]?.text.length ?? 0);
  const nextMs = nextChars * voiceMsPerChar + FIRST_AUDIO_USUAL_MAX_MS;
  const aheadMaxMs = Math.max(SPEECH_AHEAD_MAX_MS, nextMs);
  if (turn.ledger.endsAtMs - atMs >= aheadMaxMs) {
    setDeadline(state, "synthesisAhead", turn.ledger.endsAtMs - aheadMaxMs + 1);
    return;
  }
  const doneCount = isGrowing(turn) ? turn.sentCount - 1 : turn.sentCount;
  while (turn.requestedCount - doneCount < SENTENCES_IN_SYNTHESIS_MAX) {
    const sentence = turn.sentences[turn.requestedCount];
    if (sentence === undefined) return;
    sentence.requestedAtMs = atMs;
    turn.requestedCount += 1;
    synthesize(state, turn, sentence.slot, sentence.text, out);
  }
}

/** Has TTS say the text, as the sentence of that number or its rest, and counts what that costs. */
export function synthesize(
  state: ConversationState,
  turn: Turn,
  index: number,
  text: string,
  out: ConversationEffect[],
): void {
  out.push({ type: "synthesize", turnId: turn.id, index, text });
  state.record.metrics = {
    ...state.record.metrics,
    ttsChars: state.record.metrics.ttsChars + text.length,
  };
}

/** Either the turn is whole and its end is waited for, or more must come before the caller hears a dead call. */
function watchPlayback(
  state: ConversationState,
  turn: Turn,
  progressed: boolean,
  atMs: number,
  slackMs: number,
): void {
  const endsAtMs = Math.max(atMs, turn.ledger.endsAtMs);
  if (isAllSent(turn)) {
    clearDeadline(state, "turnStall");
    // No mark comes back for what was not sent.
    setDeadline(state, "playbackEnd", endsAtMs + (turn.sentCount === 0 ? 0 : slackMs));
  } else if (progressed) {
    setDeadline(state, "turnStall", endsAtMs + STALL_MAX_MS);
  }
}
