/** Synthesizes sentences ahead of playback, and sends them to the caller in order. */

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

/** After a filler, the agent's own silence is no longer than this. */
export const FILLER_GAP_MS = 3_500;

/** Starts the silence watch now, or when all sent audio has been heard. */
export function watchSilence(state: ConversationState, turn: Turn, atMs: number): void {
  if (state.settings.fillerAfterMs === 0 || turn.kind !== "reply") return;
  setDeadline(state, "filler", Math.max(atMs, quietUntilMs(state, turn)));
}

/** When the caller will have heard nothing for longer than `fillerAfterMs` allows. */
export function quietUntilMs({ settings }: ConversationState, turn: Turn): number {
  const keysAtMs = turn.dtmfCallIds.length > 0 ? turn.progressAtMs : Number.NEGATIVE_INFINITY;
  const sinceMs = Math.max(turn.decidedAtMs, turn.ledger.endsAtMs, keysAtMs);
  return sinceMs + (turn.fillerCount === 0 ? settings.fillerAfterMs : FILLER_GAP_MS);
}

/** Two keep the next sentence ready while one is synthesized or plays; more would be wasted by an interruption. */
const SENTENCES_IN_SYNTHESIS_MAX = 2;
/** The LLM is stopped after this many sentences; callers do not listen to more. */
export const SENTENCES_MAX = 64;
/**
 * Unheard speech beyond this makes synthesis wait, since an interruption wastes it. TTS that returns whole
 * sentences at about real time needs as much as the next one lasts, plus its time to first audio.
 */
const SPEECH_AHEAD_MAX_MS = 10_000;
const FIRST_AUDIO_USUAL_MAX_MS = 1_000;
/** The maximum silence within a sentence, if another attempt or a ready phrase can end it. */
export const GAP_MAX_MS = 1_000;
/** How long another attempt takes at most to its first audio, if TTS is healthy. */
const SECOND_TRY_USUAL_MAX_MS = 650;
/** How long after the last received audio was heard a second attempt starts. */
const GROWTH_MISSED_MAX_MS = GAP_MAX_MS - SECOND_TRY_USUAL_MAX_MS;
/** After the last attempt no other follows, so it gets longer before TTS counts as failed. */
export const LAST_GROWTH_MISSED_MAX_MS = 600;
/** TTS that returns nothing for this long returns no more: vendors that send pieces pause less between two of them. */
const SILENT_MAX_MS = 1_200;
/** From this fraction on, the received audio may be the whole sentence, since its length is an estimate. */
const NEARLY_ALL_FRACTION = 0.8;
/**
 * The second attempt starts this long before the caller would hear the silence: most TTS vendors' time to first
 * audio.
 */
const SECOND_TRY_LEAD_MS = 400;
/** How much longer than the clock's estimate the server waits for the telephone's mark. */
const MARK_SLACK_MS = 1_500;
/** Attempts per sentence; a second failure ends it. */
export const SYNTHESIS_ATTEMPTS_MAX = 2;
/** A silence in a turn that a caller takes for a dead line; then the turn is retried or given up. */
export const STALL_MAX_MS = 7_000;

/** Says sentences that need no LLM: greeting, apology, the rest of what was cut off by mistake. */
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
  // A greeting that waited for a person, and the name for a screener, answer what was said before.
  if (kind === "greeting" || kind === "screening") return user.unanswered;
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

/** Sends what is ready, in order, and requests what comes next. Called whenever one of the two may have changed. */
export function advanceSpeech(
  state: ConversationState,
  turn: Turn,
  atMs: number,
  out: ConversationEffect[],
): void {
  const { sentCount } = turn;
  const isPaused = state.outputPausedAtMs !== undefined;
  // Unpaced audio would be heard immediately.
  if (!isPaused || state.settings.isPaced) sendReady(state, turn, atMs, out);
  synthesizeAhead(state, turn, atMs, out);
  sendDtmf(turn, atMs, out);
  if (isPaused) return;
  const slackMs = state.settings.isPaced ? MARK_SLACK_MS : 0;
  const hasProgressed = turn.sentCount > sentCount;
  watchPlayback(state, turn, hasProgressed, atMs, slackMs);
  if (hasProgressed && !isAllSent(turn)) watchSilence(state, turn, atMs);
}

/** A gap within a reply would be worse than its end: everything from `index` on is dropped. */
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
  // The caller's words come first; the reply waits until they are known.
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
 * When the last sent sentence has failed if no more of it has arrived. TTS that is silent for long within a
 * sentence fails its first attempt before the caller notices, so that the second is there in time. TTS that may
 * only be late with its end of sentence gets more time, and so does the second attempt.
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

/** The client receives all text that the turn has sent so far. */
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

/** Requests TTS for the text, as the sentence of that number or its rest, and counts the cost. */
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

/** Either the turn is whole and its end is due, or more must arrive before the caller hears a dead line. */
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
    // Audio that was not sent gets no mark.
    setDeadline(state, "playbackEnd", endsAtMs + (turn.sentCount === 0 ? 0 : slackMs));
  } else if (progressed) {
    setDeadline(state, "turnStall", endsAtMs + STALL_MAX_MS);
  }
}
