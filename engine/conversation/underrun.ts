import { clearDeadline, setDeadline } from "./deadlines.js";
import type { ConversationEffect } from "./effects.js";
import type {
  DeadlineReachedEvent,
  SentenceFailedEvent,
  SentenceGrewEvent,
  SentenceWholeEvent,
} from "./events.js";
import { isCallerSpeaking, nextPhrase, playPhrase } from "./filler.js";
import {
  cutGrowth,
  isGap,
  marksBeforeRest,
  markWords,
  receivedOf,
  recordGrowth,
} from "./playback-ledger.js";
import {
  abandonRest,
  advanceSpeech,
  GAP_MAX_MS,
  growthDueMs,
  LAST_GROWTH_MISSED_MAX_MS,
  newSentence,
  SENTENCES_MAX,
  SYNTHESIS_ATTEMPTS_MAX,
  soundAtMs,
  synthesize,
} from "./playout.js";
import { speakable } from "./sentences.js";
import { asSent, type ConversationState, isGrowing, type Sentence, type Turn } from "./state.js";
import { notePace } from "./voice-pace.js";

/**
 * The maximum time to first audio of a sentence's second attempt; longer if the caller has not heard the audio of
 * the first.
 */
const SECOND_TRY_MAX_MS = 2_000;
/** The maximum silence within a sentence if no filler is ready or the agent has none. */
const HOLE_WITHOUT_WORDS_MAX_MS = 2_000;

/** A filler could not be played, because the caller speaks: it is checked again after this time. */
const RECHECK_MS = 250;

/** More audio of a sentence has arrived, or its last. */
export function onSentenceAudio(
  state: ConversationState,
  turn: Turn,
  event: SentenceGrewEvent | SentenceWholeEvent,
  out: ConversationEffect[],
): void {
  const { index, durationMs, atMs, words = [] } = event;
  const sentence = turn.sentences[index];
  if (sentence === undefined || sentence.isWhole || index >= turn.requestedCount) return;
  const isWhole = event.type === "sentenceWhole";
  const { slot, text, firstTry } = sentence;
  const hasMore = durationMs > (sentence.durationMs ?? 0);
  if (words.length > 0) {
    // The word times of a second attempt begin with its own audio, which follows that of the first.
    const earlierMs = firstTry?.durationMs ?? 0;
    const timed = words.map((word) => ({ text: word.text, endMs: word.endMs + earlierMs }));
    sentence.marks = markWords(text, sentence.marks, timed);
  }
  if (hasMore) sentence.grewAtMs = atMs;
  sentence.durationMs = durationMs;
  sentence.isWhole = isWhole;
  if (slot === 0) turn.firstByteAtMs ??= event.firstByteAtMs;
  if (isWhole && firstTry === undefined) notePace(state, text, durationMs);
  if (index < turn.sentCount) {
    const playedAtMs = soundAtMs(state, atMs);
    // The end of a sentence may be reported after it was heard to its end.
    if (hasMore && isGap(playedAtMs - turn.ledger.endsAtMs)) turn.underruns += 1;
    turn.ledger = recordGrowth(turn.ledger, asSent(sentence, state.voiceMsPerChar), playedAtMs);
    // More audio of a sentence starts nothing; only its first or last audio does.
    if (!isWhole) return;
    clearDeadline(state, "underrun");
  }
  advanceSpeech(state, turn, atMs, out);
}

export function onSentenceFailed(
  state: ConversationState,
  turn: Turn,
  event: Omit<SentenceFailedEvent, "type">,
  out: ConversationEffect[],
): void {
  const { index, atMs, retryable } = event;
  const sentence = turn.sentences[index];
  if (sentence === undefined || sentence.isWhole || index >= turn.requestedCount) return;
  const mayRetry = retryable && sentence.attempt < SYNTHESIS_ATTEMPTS_MAX;
  if (index < turn.sentCount) {
    continueAfterFailure(state, turn, mayRetry, atMs, out);
  } else if (mayRetry) {
    // Nothing of it was played, so it is said again from its first word.
    sentence.durationMs = undefined;
    sentence.marks = [];
    retrySynthesis(state, turn, sentence, sentence.text, out);
  } else {
    turn.hopeless = !retryable && sentence.slot === 0;
    turn.restLost = true;
    abandonRest(state, turn, index, atMs, out);
  }
}

/** No more audio of a sentence arrives, and the caller has heard all that has, or soon will have. */
export function onUnderrunDeadline(
  state: ConversationState,
  turn: Turn,
  event: Pick<DeadlineReachedEvent, "atMs" | "voiceAgoMs">,
  out: ConversationEffect[],
): void {
  const { atMs } = event;
  const sentence = turn.sentences[turn.sentCount - 1];
  if (sentence === undefined || !isGrowing(turn)) return;
  const isPaused = state.outputPausedAtMs !== undefined;
  const dueMs = isPaused ? atMs + LAST_GROWTH_MISSED_MAX_MS : dueOf(sentence, turn);
  if (atMs >= dueMs) {
    const failed = { turnId: turn.id, index: turn.sentCount - 1, retryable: true, atMs };
    onSentenceFailed(state, turn, failed, out);
    return;
  }
  if (!isPaused && bridgeGap(state, turn, sentence, event, out)) return;
  const lookInMs = isPaused ? undefined : bridgeInMs(state, turn, sentence, atMs);
  const delayMs = Math.min(dueMs - atMs, lookInMs ?? Number.POSITIVE_INFINITY);
  setDeadline(state, "underrun", atMs + delayMs);
}

/** When to check again whether to fill the gap. */
function bridgeInMs(
  { settings }: ConversationState,
  { ledger }: Turn,
  sentence: Sentence,
  atMs: number,
): number | undefined {
  if (settings.fillerAfterMs === 0 || !isAwaited(sentence)) return undefined;
  const gapInMs = ledger.endsAtMs + GAP_MAX_MS - atMs;
  return gapInMs > 0 ? gapInMs : RECHECK_MS;
}

/** A second attempt for the rest of a sentence is in progress, and has returned no audio yet. */
function isAwaited({ firstTry, durationMs }: Sentence): boolean {
  return firstTry !== undefined && firstTry.durationMs === durationMs;
}

/** When the current attempt at a sentence counts as failed. */
function dueOf(sentence: Sentence, { ledger }: Turn): number {
  const { firstTry } = sentence;
  const dueMs = growthDueMs(sentence, ledger);
  if (firstTry === undefined || !isAwaited(sentence)) return dueMs;
  const gapMaxMs = ledger.endsAtMs + HOLE_WITHOUT_WORDS_MAX_MS;
  return Math.min(Math.max(dueMs, firstTry.atMs + SECOND_TRY_MAX_MS), gapMaxMs);
}

/** TTS fails within a sentence that the caller is hearing: another attempt says the words that have not arrived yet. */
function continueAfterFailure(
  state: ConversationState,
  turn: Turn,
  mayRetry: boolean,
  atMs: number,
  out: ConversationEffect[],
): void {
  const sentence = turn.sentences[turn.sentCount - 1];
  const last = turn.ledger.sent.at(-1);
  if (sentence === undefined || last === undefined) return;
  // The pace may be known better by now than when the sentence began.
  const { expectedMs } = asSent(sentence, state.voiceMsPerChar);
  const sent = { ...last, expectedMs };
  const received = receivedOf(sent);
  const rest = sentence.text.slice(received.length).trimStart();
  const playedAtMs = soundAtMs(state, atMs);
  // TTS that gets only a mark returns nothing, or something odd.
  if (speakable(rest) === "") {
    sentence.firstTry = { text: sentence.text, durationMs: sent.durationMs, atMs };
    cutSentence(state, turn, playedAtMs, out);
    advanceSpeech(state, turn, atMs, out);
  } else if (mayRetry) {
    sentence.firstTry = { text: received, durationMs: sent.durationMs, atMs };
    sentence.marks = marksBeforeRest(sent, received);
    retrySynthesis(state, turn, sentence, rest, out);
    const failsAtMs = dueOf({ ...sentence, attempt: SYNTHESIS_ATTEMPTS_MAX }, turn);
    setDeadline(state, "underrun", Math.min(failsAtMs, turn.ledger.endsAtMs + GAP_MAX_MS));
  } else {
    cutSentence(state, turn, playedAtMs, out);
    apologizeForRest(state, turn, atMs, out);
  }
}

/** A prepared phrase tells the caller why the sentence ends there; nothing more of the turn is played. */
function apologizeForRest(
  state: ConversationState,
  turn: Turn,
  atMs: number,
  out: ConversationEffect[],
): void {
  const apology = state.readyPhrases.find(({ text }) => text === state.settings.apology);
  const isOwed =
    apology !== undefined && turn.kind === "reply" && state.outputPausedAtMs === undefined;
  if (isOwed) playPhrase(state, turn, apology, atMs, out);
  abandonRest(state, turn, turn.sentCount, atMs, out);
}

/**
 * TTS has underrun twice in this sentence. Cuts it, plays a filler and synthesizes the remaining text as a sentence of its own.
 * Returns false where no filler is ready or the caller speaks.
 */
function bridgeGap(
  state: ConversationState,
  turn: Turn,
  sentence: Sentence,
  { atMs, voiceAgoMs }: Pick<DeadlineReachedEvent, "atMs" | "voiceAgoMs">,
  out: ConversationEffect[],
): boolean {
  const { slot } = sentence;
  const phrase = state.settings.fillerAfterMs === 0 ? undefined : nextPhrase(state, turn);
  if (!isAwaited(sentence) || phrase === undefined) return false;
  if (atMs < turn.ledger.endsAtMs + GAP_MAX_MS || turn.sentences.length >= SENTENCES_MAX) {
    return false;
  }
  if (isCallerSpeaking(state, turn, voiceAgoMs)) return false;
  const rest = newSentence(restOf(sentence), slot + 1);
  rest.attempt = SYNTHESIS_ATTEMPTS_MAX;
  cutSentence(state, turn, atMs, out);
  out.push({ type: "dropAudio", turnId: turn.id, index: slot + 1 });
  playPhrase(state, turn, phrase, atMs, out);
  const after = turn.sentences.splice(turn.sentCount);
  const renumbered = after.map(({ text, slot: number, attempt }) => ({
    ...newSentence(text, number + 1),
    attempt,
  }));
  turn.sentences.push(rest, ...renumbered);
  turn.requestedCount = turn.sentCount;
  advanceSpeech(state, turn, atMs, out);
  return true;
}

/** The words of a sentence that had not arrived when its TTS failed. */
function restOf({ text, firstTry }: Sentence): string {
  return text.slice(firstTry?.text.length ?? 0).trimStart();
}

/** The sentence that is being sent ends at `atMs` with the audio received so far. */
export function cutSentence(
  state: ConversationState,
  turn: Turn,
  atMs: number,
  out: ConversationEffect[],
): void {
  const sentence = turn.sentences[turn.sentCount - 1];
  const sent = turn.ledger.sent.at(-1);
  if (sentence === undefined || sent === undefined || !isGrowing(turn)) return;
  out.push({ type: "cutSentence", turnId: turn.id, index: sentence.slot });
  clearDeadline(state, "underrun");
  const { firstTry } = sentence;
  sentence.text = firstTry?.durationMs === sent.durationMs ? firstTry.text : receivedOf(sent);
  sentence.isWhole = true;
  sentence.marks = [];
  sentence.firstTry = undefined;
  turn.ledger = cutGrowth(turn.ledger, sentence.text, atMs);
}

function retrySynthesis(
  state: ConversationState,
  turn: Turn,
  sentence: Sentence,
  text: string,
  out: ConversationEffect[],
): void {
  sentence.attempt += 1;
  synthesize(state, turn, sentence.slot, text, out);
}
