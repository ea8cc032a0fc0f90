import { clearDeadline, setDeadline } from "./deadlines.js";
import type { SessionEffect } from "./effects.js";
import type {
  DeadlineReachedEvent,
  SentenceFailedEvent,
  SentenceGrewEvent,
  SentenceWholeEvent,
} from "./events.js";
import { isCallerHeard, nextPhrase, sayPhrase } from "./filler.js";
import {
  cutGrowth,
  isGap,
  marksBeforeRest,
  markWords,
  receivedOf,
  recordGrowth,
} from "./playback-ledger.js";
import {
  advanceSpeech,
  GAP_MAX_MS,
  giveUpRest,
  growthDueMs,
  LAST_GROWTH_MISSED_MAX_MS,
  newSentence,
  SENTENCES_MAX,
  SYNTHESIS_ATTEMPTS_MAX,
  soundAtMs,
} from "./playout.js";
import { speakable } from "./sentences.js";
import {
  asSent,
  isGrowing,
  type Sentence,
  type SessionState,
  type Turn,
  withTurnInState,
} from "./state.js";
import { withPace } from "./voice-pace.js";

/** What the second try of a sentence may take to give its first audio, or longer where the caller has not heard that of the first. */
const SECOND_TRY_MAX_MS = 2_000;
/** No silence in the middle of a sentence is longer, where no words are ready or the agent's author wants none. */
const HOLE_WITHOUT_WORDS_MAX_MS = 2_000;

/** Words that end a hole could not be said just now, because the caller speaks: it is looked again after so long. */
const LOOK_AGAIN_MS = 250;

/** More of a sentence has come, or its last. */
export function onSentenceAudio(
  state: SessionState,
  turn: Turn,
  event: SentenceGrewEvent | SentenceWholeEvent,
  out: SessionEffect[],
): SessionState {
  const { index, durationMs, atMs, words = [] } = event;
  const sentence = turn.sentences[index];
  if (sentence === undefined || sentence.isWhole || index >= turn.askedCount) return state;
  const isWhole = event.type === "sentenceWhole";
  const { slot, text, attempt, askedAtMs, came } = sentence;
  // The times of a second try begin with its own audio, which follows that of the first.
  const earlierMs = came?.durationMs ?? 0;
  const timed = words.map((word) => ({ text: word.text, endMs: word.endMs + earlierMs }));
  const marks = markWords(text, sentence.marks, timed);
  const hasMore = durationMs > (sentence.durationMs ?? 0);
  const grewAtMs = hasMore ? atMs : sentence.grewAtMs;
  const grown: Sentence = {
    slot,
    text,
    attempt,
    askedAtMs,
    durationMs,
    grewAtMs,
    isWhole,
    marks,
    came,
  };
  const firstByteAtMs = turn.firstByteAtMs ?? (slot === 0 ? event.firstByteAtMs : undefined);
  const sentences = turn.sentences.with(index, grown);
  const isOneVoice = isWhole && came === undefined;
  const paced = isOneVoice ? withPace(state, text, durationMs) : state;
  const isBeingSent = index < turn.sentCount;
  const playedAtMs = soundAtMs(state, atMs);
  const ledger = isBeingSent
    ? recordGrowth(turn.ledger, asSent(grown, paced.voiceMsPerChar), playedAtMs)
    : turn.ledger;
  // That a sentence was the whole of it may be told after it was heard to its end.
  const hasGap = isBeingSent && hasMore && isGap(playedAtMs - turn.ledger.endsAtMs);
  const underruns = turn.underruns + (hasGap ? 1 : 0);
  const next = { ...turn, sentences, firstByteAtMs, ledger, underruns };
  // Growth alone lets nothing begin; only what it is the first or the last of does.
  if (isBeingSent && !isWhole) return withTurnInState(paced, next);
  if (isBeingSent) clearDeadline(state, "underrun");
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
  if (sentence === undefined || sentence.isWhole || index >= turn.askedCount) return state;
  const mayRetry = retryable && sentence.attempt < SYNTHESIS_ATTEMPTS_MAX;
  if (index < turn.sentCount) return goOnAfterFailure(state, turn, mayRetry, atMs, out);
  if (!mayRetry) {
    const hopeless = !retryable && sentence.slot === 0;
    return giveUpRest(state, { ...turn, hopeless, restLost: true }, index, atMs, out);
  }
  // Nothing of it was played, so that it is said from its first word.
  const again = { ...sentence, durationMs: undefined, marks: [] };
  return askAgain(state, turn, index, again, sentence.text, out);
}

/** No more comes of a sentence, and the caller has heard all that has, or soon will have. */
export function onUnderrunDeadline(
  state: SessionState,
  turn: Turn,
  event: Pick<DeadlineReachedEvent, "atMs" | "voiceAgoMs">,
  out: SessionEffect[],
): SessionState {
  const { atMs } = event;
  const sentence = turn.sentences[turn.sentCount - 1];
  if (sentence === undefined || !isGrowing(turn)) return state;
  const isHeld = state.outputPausedAtMs !== undefined;
  const dueMs = isHeld ? atMs + LAST_GROWTH_MISSED_MAX_MS : dueOf(sentence, turn);
  if (atMs >= dueMs) {
    const failed = { turnId: turn.id, index: turn.sentCount - 1, retryable: true, atMs };
    return onSentenceFailed(state, turn, failed, out);
  }
  const bridged = isHeld ? undefined : bridgeGap(state, turn, sentence, event, out);
  if (bridged !== undefined) return bridged;
  const lookInMs = isHeld ? undefined : bridgeInMs(state, turn, sentence, atMs);
  const delayMs = Math.min(dueMs - atMs, lookInMs ?? Number.POSITIVE_INFINITY);
  setDeadline(state, "underrun", atMs + delayMs);
  return state;
}

/** When to check again whether to fill the gap. */
function bridgeInMs(
  { settings }: SessionState,
  { ledger }: Turn,
  sentence: Sentence,
  atMs: number,
): number | undefined {
  if (settings.fillerAfterMs === 0 || !isAwaited(sentence)) return undefined;
  const gapInMs = ledger.endsAtMs + GAP_MAX_MS - atMs;
  return gapInMs > 0 ? gapInMs : LOOK_AGAIN_MS;
}

/** Another try was asked for the rest of a sentence, and nothing of that has come. */
function isAwaited({ came, durationMs }: Sentence): boolean {
  return came !== undefined && came.durationMs === durationMs;
}

/** When the try that a sentence waits for has failed. */
function dueOf(sentence: Sentence, { ledger }: Turn): number {
  const { came } = sentence;
  const dueMs = growthDueMs(sentence, ledger);
  if (came === undefined || !isAwaited(sentence)) return dueMs;
  const gapMaxMs = ledger.endsAtMs + HOLE_WITHOUT_WORDS_MAX_MS;
  return Math.min(Math.max(dueMs, came.atMs + SECOND_TRY_MAX_MS), gapMaxMs);
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
  const came = { text: receivedOf({ ...sent, expectedMs }), durationMs: sent.durationMs, atMs };
  const again = { ...sentence, came, marks: marksBeforeRest({ ...sent, expectedMs }, came.text) };
  const rest = restOf(again);
  const playedAtMs = soundAtMs(state, atMs);
  // A voice that is asked for a mark alone says nothing, or something odd.
  if (speakable(rest) === "") {
    const ended = { ...sentence, came: { ...came, text: sentence.text } };
    const sentences = turn.sentences.with(index, ended);
    return advanceSpeech(
      state,
      cutSentence(state, { ...turn, sentences }, playedAtMs, out),
      atMs,
      out,
    );
  }
  if (mayRetry) {
    const asked = askAgain(state, turn, index, again, rest, out);
    const failsInMs = dueOf({ ...again, attempt: SYNTHESIS_ATTEMPTS_MAX }, turn) - atMs;
    const gapInMs = turn.ledger.endsAtMs + GAP_MAX_MS - atMs;
    setDeadline(state, "underrun", atMs + Math.min(failsInMs, gapInMs));
    return asked;
  }
  return apologizeForRest(state, cutSentence(state, turn, playedAtMs, out), atMs, out);
}

/** The caller is told why the sentence ends there, in words that are ready, and hears nothing more of the turn. */
function apologizeForRest(
  state: SessionState,
  turn: Turn,
  atMs: number,
  out: SessionEffect[],
): SessionState {
  const apology = state.readyPhrases.find(({ text }) => text === state.settings.apology);
  const isOwed =
    apology !== undefined && turn.kind === "reply" && state.outputPausedAtMs === undefined;
  const said = isOwed ? sayPhrase(state, turn, apology, atMs, out) : turn;
  return giveUpRest(state, said, said.sentCount, atMs, out);
}

/**
 * The caller has heard nothing for too long in the middle of a sentence whose second try gives nothing either. It ends there, the
 * agent says that it is at work, and the rest becomes a sentence of its own, which is asked for once more. Undefined where
 * nothing is ready to be said, or the caller speaks.
 */
function bridgeGap(
  state: SessionState,
  turn: Turn,
  sentence: Sentence,
  { atMs, voiceAgoMs }: Pick<DeadlineReachedEvent, "atMs" | "voiceAgoMs">,
  out: SessionEffect[],
): SessionState | undefined {
  const { slot } = sentence;
  const phrase = state.settings.fillerAfterMs === 0 ? undefined : nextPhrase(state, turn);
  if (!isAwaited(sentence) || phrase === undefined) return;
  if (atMs < turn.ledger.endsAtMs + GAP_MAX_MS || turn.sentences.length >= SENTENCES_MAX) return;
  if (isCallerHeard(state, turn, voiceAgoMs)) return;
  const cut = cutSentence(state, turn, atMs, out);
  out.push({ type: "dropAudio", turnId: turn.id, index: slot + 1 });
  const said = sayPhrase(state, cut, phrase, atMs, out);
  const rest = { ...newSentence(restOf(sentence), slot + 1), attempt: SYNTHESIS_ATTEMPTS_MAX };
  const after = said.sentences.slice(said.sentCount).map((one) => ({
    ...newSentence(one.text, one.slot + 1),
    attempt: one.attempt,
  }));
  const sentences = [...said.sentences.slice(0, said.sentCount), rest, ...after];
  return advanceSpeech(state, { ...said, sentences, askedCount: said.sentCount }, atMs, out);
}

/** The words of a sentence that had not come when its voice failed. */
function restOf({ text, came }: Sentence): string {
  return text.slice(came?.text.length ?? 0).trimStart();
}

/** The sentence that is being sent ends at `atMs` with what has come of it. */
export function cutSentence(
  state: SessionState,
  turn: Turn,
  atMs: number,
  out: SessionEffect[],
): Turn {
  const index = turn.sentCount - 1;
  const sentence = turn.sentences[index];
  const sent = turn.ledger.sent.at(-1);
  if (sentence === undefined || sent === undefined || !isGrowing(turn)) return turn;
  out.push({ type: "cutSentence", turnId: turn.id, index: sentence.slot });
  clearDeadline(state, "underrun");
  const { came } = sentence;
  const text = came?.durationMs === sent.durationMs ? came.text : receivedOf(sent);
  const cut: Sentence = { ...sentence, text, isWhole: true, marks: [], came: undefined };
  const ledger = cutGrowth(turn.ledger, text, atMs);
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
  const again = { ...sentence, attempt: sentence.attempt + 1 };
  out.push({ type: "synthesize", turnId: turn.id, index: sentence.slot, text });
  const metrics = { ...state.metrics, ttsChars: state.metrics.ttsChars + text.length };
  return { ...state, metrics, turn: { ...turn, sentences: turn.sentences.with(index, again) } };
}
