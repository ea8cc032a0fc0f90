import { markWords } from "../speech/word-marks.js";
import type { SessionEffect } from "./effects.js";
import type { SentenceFailedEvent, SentenceGrewEvent, SentenceWholeEvent } from "./events.js";
import { cameOf, recordGrowth } from "./playback-ledger.js";
import { advanceSpeech, GROWTH_MISSED_MAX_MS, giveUpRest } from "./speaking.js";
import { type SessionState, withTurnInState } from "./state.js";
import { asSent, isGrowing, type Sentence, type Turn } from "./turn.js";
import { withPace } from "./voice-pace.js";

const SYNTHESIS_ATTEMPTS_MAX = 2;
/** What the second try of a sentence may take to give its first audio, after the caller has heard that of the first. */
const SECOND_TRY_MAX_MS = 2_000;
/** A shorter gap is hidden by what the telephone or the browser has buffered. */
const GAP_MIN_MS = 20;

/** More of a sentence has come, or its last. */
export function onSentenceAudio(
  state: SessionState,
  turn: Turn,
  event: SentenceGrewEvent | SentenceWholeEvent,
  out: SessionEffect[],
): SessionState {
  const { index, durationMs, atMs, words = [] } = event;
  const sentence = turn.sentences[index];
  if (sentence === undefined || sentence.isWhole || index > turn.askedCount) return state;
  const isWhole = event.type === "sentenceWhole";
  const { slot, text, attempt, came } = sentence;
  // The times of a second try begin with its own audio, which is not the sentence's.
  const marks = came === undefined ? markWords(text, sentence.marks, words) : [];
  const grown: Sentence = { slot, text, attempt, durationMs, isWhole, marks, came };
  const firstByteAtMs = turn.firstByteAtMs ?? (slot === 0 ? event.firstByteAtMs : undefined);
  const sentences = turn.sentences.with(index, grown);
  const isOneVoice = isWhole && came === undefined;
  const paced = isOneVoice ? withPace(state, text, durationMs) : state;
  const isBeingSent = index < turn.sentCount;
  const playedAtMs = Math.min(atMs, state.heldAtMs ?? atMs);
  const ledger = isBeingSent
    ? recordGrowth(turn.ledger, asSent(grown, paced.voiceMsPerChar), playedAtMs)
    : turn.ledger;
  // That a sentence was the whole of it may be told after it was heard to its end.
  const hasMore = durationMs > (sentence.durationMs ?? 0);
  const hasGap = isBeingSent && hasMore && playedAtMs > turn.ledger.endsAtMs + GAP_MIN_MS;
  const underruns = turn.underruns + (hasGap ? 1 : 0);
  const next = { ...turn, sentences, firstByteAtMs, ledger, underruns };
  // Growth alone lets nothing begin; only what it is the first or the last of does.
  if (isBeingSent && !isWhole) return withTurnInState(paced, next);
  if (isBeingSent) out.push({ type: "cancelTimer", timer: "growth" });
  return advanceSpeech(paced, next, atMs, out);
}

export function onSentenceFailed(
  state: SessionState,
  turn: Turn,
  event: Omit<SentenceFailedEvent, "type">,
  out: SessionEffect[],
): SessionState {
  const { index, atMs, retryable } = event;
  const sentence = turn.sentences[index];
  if (sentence === undefined || sentence.isWhole || index > turn.askedCount) return state;
  const mayRetry = retryable && sentence.attempt < SYNTHESIS_ATTEMPTS_MAX;
  if (index < turn.sentCount) return goOnAfterFailure(state, turn, mayRetry, atMs, out);
  if (!mayRetry) {
    const hopeless = !retryable && sentence.slot === 0;
    return giveUpRest(state, { ...turn, hopeless }, index, atMs, out);
  }
  // Nothing of it was played, so that it is said from its first word.
  return askAgain(state, turn, index, { ...sentence, durationMs: undefined }, sentence.text, out);
}

/** The caller has heard all that has come of a sentence, and no more of it comes. */
export function onGrowthMissed(
  state: SessionState,
  turn: Turn,
  atMs: number,
  out: SessionEffect[],
): SessionState {
  if (!isGrowing(turn)) return state;
  const isHeld = state.heldAtMs !== undefined;
  const dueMs = isHeld ? atMs + GROWTH_MISSED_MAX_MS : turn.ledger.endsAtMs + GROWTH_MISSED_MAX_MS;
  if (atMs < dueMs) {
    out.push({ type: "startTimer", timer: "growth", delayMs: dueMs - atMs });
    return state;
  }
  const failed = { turnId: turn.id, index: turn.sentCount - 1, retryable: true, atMs };
  return onSentenceFailed(state, turn, failed, out);
}

/** A voice fails in the middle of what the caller is hearing: another try says the words that have not come yet. */
function goOnAfterFailure(
  state: SessionState,
  turn: Turn,
  mayRetry: boolean,
  atMs: number,
  out: SessionEffect[],
): SessionState {
  const index = turn.sentCount - 1;
  const sentence = turn.sentences[index];
  const sent = turn.ledger.sent.at(-1);
  if (sentence === undefined || sent === undefined) return state;
  // Its pace may be known better by now than when the sentence began.
  const { expectedMs } = asSent(sentence, state.voiceMsPerChar);
  const came = { text: cameOf({ ...sent, expectedMs }), durationMs: sent.durationMs };
  const rest = sentence.text.slice(came.text.length).trimStart();
  if (mayRetry && rest !== "") {
    const asked = askAgain(state, turn, index, { ...sentence, came }, rest, out);
    const delayMs = Math.max(0, turn.ledger.endsAtMs - atMs) + SECOND_TRY_MAX_MS;
    out.push({ type: "startTimer", timer: "growth", delayMs });
    return asked;
  }
  return giveUpRest(state, cutSentence(turn, out), index + 1, atMs, out);
}

/** The sentence that is being sent ends with what has come of it. */
export function cutSentence(turn: Turn, out: SessionEffect[]): Turn {
  const index = turn.sentCount - 1;
  const sentence = turn.sentences[index];
  const sent = turn.ledger.sent.at(-1);
  if (sentence === undefined || sent === undefined || !isGrowing(turn)) return turn;
  out.push({ type: "cutSentence", turnId: turn.id, index: sentence.slot });
  out.push({ type: "cancelTimer", timer: "growth" });
  const cut: Sentence = { ...sentence, text: cameOf(sent), isWhole: true, marks: [] };
  const ledger = recordGrowth(turn.ledger, asSent(cut, 0), turn.ledger.endsAtMs);
  return { ...turn, sentences: turn.sentences.with(index, cut), ledger };
}

function askAgain(
  state: SessionState,
  turn: Turn,
  index: number,
  sentence: Sentence,
  text: string,
  out: SessionEffect[],
): SessionState {
  const again = { ...sentence, attempt: sentence.attempt + 1, marks: [] };
  out.push({ type: "synthesize", turnId: turn.id, index: sentence.slot, text });
  const metrics = { ...state.metrics, ttsChars: state.metrics.ttsChars + text.length };
  return { ...state, metrics, turn: { ...turn, sentences: turn.sentences.with(index, again) } };
}
