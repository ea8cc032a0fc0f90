/** Which words of the agent the caller has heard, and when. */

import { spokenWords, wordsOf } from "./lexicon.js";

/**
 * The number of words of the text that TTS may leave out or say differently, as with numbers, before the position
 * is lost.
 */
const WORDS_SKIPPED_MAX = 4;
const PUNCTUATION = /[\p{P}\p{S}]/u;

/** The text up to the character `end` has been said `atMs` after the beginning of its audio. */
export interface WordMark {
  readonly end: number;
  readonly atMs: number;
}

/** A word as TTS reports it, with the end of its sound. */
export interface TimedWord {
  readonly text: string;
  readonly endMs: number;
}

/** The word marks of a text after TTS has reported more words; words that are not in the text are skipped. */
export function markWords(
  text: string,
  marks: readonly WordMark[],
  words: readonly TimedWord[],
): readonly WordMark[] {
  if (words.length === 0) return marks;
  const last = marks.at(-1);
  let [from, fromMs] = [last?.end ?? 0, last?.atMs ?? 0];
  const left = spokenWords(text).filter(({ end }) => end > from);
  const more: WordMark[] = [];
  for (const { text: timed, endMs } of words) {
    for (const word of wordsOf(timed)) {
      const skipped = left.slice(0, WORDS_SKIPPED_MAX + 1).findIndex((each) => each.word === word);
      const found = left[skipped];
      if (found === undefined) continue;
      left.splice(0, skipped + 1);
      from = behindPunctuation(text, found.end);
      fromMs = Math.max(fromMs, endMs);
      more.push({ end: from, atMs: fromMs });
    }
  }
  return [...marks, ...more];
}

/**
 * How many characters of a text have been said after `playedMs` of its audio, which is `durationMs` long; evenly
 * between marks.
 */
export function charsSpoken(
  text: string,
  marks: readonly WordMark[],
  playedMs: number,
  durationMs: number,
): number {
  let before: WordMark = { end: 0, atMs: 0 };
  for (const mark of marks) {
    if (playedMs < mark.atMs) return between(before, mark, playedMs);
    before = mark;
  }
  return between(before, { end: text.length, atMs: durationMs }, playedMs);
}

/** How long the first `chars` characters of a text take if its audio is `durationMs` long; evenly between marks. */
export function spokenAfterMs(
  text: string,
  marks: readonly WordMark[],
  chars: number,
  durationMs: number,
): number {
  const before = marks.findLast(({ end }) => end < chars) ?? { end: 0, atMs: 0 };
  const after = marks.find(({ end }) => end >= chars) ?? { end: text.length, atMs: durationMs };
  const lengthChars = after.end - before.end;
  const share = lengthChars > 0 ? Math.min(1, (chars - before.end) / lengthChars) : 0;
  return before.atMs + Math.max(0, after.atMs - before.atMs) * share;
}

function between(before: WordMark, after: WordMark, playedMs: number): number {
  const lengthMs = after.atMs - before.atMs;
  const share = lengthMs > 0 ? Math.min(1, (playedMs - before.atMs) / lengthMs) : 0;
  return before.end + (after.end - before.end) * share;
}

function behindPunctuation(text: string, end: number): number {
  let at = end;
  while (PUNCTUATION.test(text.charAt(at))) at += 1;
  return at;
}

/** Scripts without spaces are cut between characters, all others between words. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

const graphemes = new Intl.Segmenter("und", { granularity: "grapheme" });

/** The whole words among the first `chars` characters of `text`; `chars` may be a fraction. */
export function wholeWords(text: string, chars: number): string {
  if (chars >= text.length) return text;
  return text.slice(0, lastBorder(text, Math.floor(chars))).trimEnd();
}

/** The latest index, at most `end`, that does not split a word or character. */
function lastBorder(text: string, end: number): number {
  for (let index = end; index > 0; index -= 1) {
    if (isBorder(text, index)) return index;
  }
  return 0;
}

function isBorder(text: string, index: number): boolean {
  const before = text.charAt(index - 1);
  const after = text.charAt(index);
  if (/\s/.test(before) || /\s/.test(after)) return true;
  if (!UNSPACED.test(before) && !UNSPACED.test(after)) return false;
  return graphemes.segment(text).containing(index)?.index === index;
}

/** One sentence that is being sent or was sent to the caller, on the call's own clock. */
export interface SentSentence {
  readonly text: string;
  readonly startsAtMs: number;
  /** The audio received so far; all of it once the sentence is whole. */
  readonly durationMs: number;
  /**
   * How long the text takes: an estimate until the sentence is whole; less than the received audio only if it was
   * cut.
   */
  readonly expectedMs: number;
  readonly isWhole: boolean;
  /** Where its words end, if TTS reports times; omitted or empty: an even pace. */
  readonly marks?: readonly WordMark[];
  /** The sentence is a filler. */
  readonly isFiller?: boolean;
  /** How long after the end of its audio the sentence was known, or made, to be whole: its mark was sent no sooner. */
  readonly markLateMs?: number;
}

/**
 * What the caller has heard of one turn of the agent's, and when. Sentences play in order, without a pause: one
 * starts when its first audio is sent or when the one before it ends, whichever is later. Only the last may still
 * be growing. Transcript and history are written from here alone: text that was generated but not heard never
 * reaches them.
 */
export interface PlaybackLedger {
  readonly sent: readonly SentSentence[];
  /** When the last received audio ends; minus infinity before anything was sent. */
  readonly endsAtMs: number;
}

export const EMPTY_LEDGER: PlaybackLedger = { sent: [], endsAtMs: Number.NEGATIVE_INFINITY };

/** The last word of a sentence that is not whole has not been heard, whatever the estimate says. */
const OPEN_FRACTION_MAX = 0.999;

/** A shorter gap is hidden by the buffer of the telephone or the browser. */
const GAP_MIN_MS = 20;

/** Times are sums of fractions: one ends where the next begins, within this tolerance. */
const ROUNDING_MS = 0.001;

/** Whether a silence of this length within speech is audible as a gap. */
export function isGap(silenceMs: number): boolean {
  return silenceMs > GAP_MIN_MS;
}

export function recordSent(
  ledger: PlaybackLedger,
  sentence: Omit<SentSentence, "startsAtMs">,
  atMs: number,
): PlaybackLedger {
  const startsAtMs = Math.max(atMs, ledger.endsAtMs);
  return ledgerOf([...ledger.sent, { ...sentence, startsAtMs }]);
}

/**
 * More of the last sentence has arrived at `atMs`. If the caller had heard everything before it, the new audio
 * plays from now on.
 */
export function recordGrowth(
  ledger: PlaybackLedger,
  grown: Omit<SentSentence, "startsAtMs" | "isFiller">,
  atMs: number,
): PlaybackLedger {
  const last = ledger.sent.at(-1);
  if (last === undefined || last.isWhole) return ledger;
  const hasMore = grown.durationMs > last.durationMs;
  const silentMs = Math.max(0, atMs - ledger.endsAtMs);
  const startsAtMs = hasMore ? last.startsAtMs + silentMs : last.startsAtMs;
  const markLateMs = grown.isWhole && !hasMore ? silentMs : 0;
  return ledgerOf([...ledger.sent.slice(0, -1), { ...last, ...grown, startsAtMs, markLateMs }]);
}

/** The last sentence is cut at `atMs`: it ends with these words, and may contain sound of the next one. */
export function cutGrowth(ledger: PlaybackLedger, text: string, atMs: number): PlaybackLedger {
  const last = ledger.sent.at(-1);
  if (last === undefined) return ledger;
  const { durationMs, expectedMs, marks = [] } = last;
  const saidMs = spokenAfterMs(last.text, marks, text.length, expectedMs);
  const cut = {
    text,
    durationMs,
    expectedMs: Math.min(durationMs, saidMs),
    isWhole: true,
    marks: marks.filter(({ end }) => end <= text.length),
  };
  return recordGrowth(ledger, cut, atMs);
}

/** What the caller can have heard by `atMs`; the current sentence is cut at a word. */
export function playedText(ledger: PlaybackLedger, atMs: number): string {
  const parts = ledger.sent.map((sentence) => heardOf(sentence, atMs));
  return parts.filter((part) => part !== "").join(" ");
}

/** The part of it that belongs to the answer, without fillers. */
export function playedAnswer(ledger: PlaybackLedger, atMs: number): string {
  const sent = ledger.sent.filter((sentence) => sentence.isFiller !== true);
  return playedText({ ...ledger, sent }, atMs);
}

/** The length of all received audio, whenever it was heard. */
export function lengthMsOf({ sent }: PlaybackLedger): number {
  return sent.reduce((sumMs, { durationMs }) => sumMs + durationMs, 0);
}

/** When the last received audio of the answer ends; fillers do not count. */
export function answerEndsAtMs(ledger: PlaybackLedger): number {
  const last = ledger.sent.findLast((sentence) => sentence.isFiller !== true);
  return last === undefined ? Number.NEGATIVE_INFINITY : endOf(last);
}

/** How many sentences, from the first, were heard to their end by `atMs`. */
export function playedSentenceCount(ledger: PlaybackLedger, atMs: number): number {
  let count = 0;
  for (const sentence of ledger.sent) {
    if (!isOver(sentence, atMs)) break;
    count += 1;
  }
  return count;
}

/**
 * The ledger as if everything had ended at `atMs`, in the sentence with this index; that sentence keeps the part
 * that was heard, if any.
 */
export function splitAt(
  ledger: PlaybackLedger,
  atMs: number,
): {
  readonly ledger: PlaybackLedger;
  readonly index: number;
  readonly played: SentSentence | undefined;
} {
  const index = playedSentenceCount(ledger, atMs);
  const before = ledger.sent.slice(0, index);
  const cut = ledger.sent[index];
  const text = cut === undefined ? "" : heardOf(cut, atMs);
  if (cut === undefined || text === "") {
    return { ledger: ledgerOf(before), index, played: undefined };
  }
  const durationMs = atMs - cut.startsAtMs;
  const played = { ...cut, text, durationMs, expectedMs: durationMs, isWhole: true, marks: [] };
  return { ledger: ledgerOf([...before, played]), index, played };
}

/** The received part of a sentence whose TTS fails: at most whole words. */
export function receivedOf({ text, durationMs, expectedMs, marks = [] }: SentSentence): string {
  return openPart(text, charsSpoken(text, marks, durationMs, expectedMs));
}

/**
 * The marks of a sentence whose rest after `text` is said by another attempt: a word that was not whole is said
 * again.
 */
export function marksBeforeRest(sent: SentSentence, text: string): readonly WordMark[] {
  const { durationMs, expectedMs, marks = [] } = sent;
  const end = text.length;
  const saidMs = Math.min(durationMs, spokenAfterMs(sent.text, marks, end, expectedMs));
  const before = marks.filter((mark) => mark.end <= end);
  return [...before, { end, atMs: saidMs }, { end, atMs: durationMs }];
}

/** Playback paused from `fromMs` for `byMs`: what was not heard to its end by then moves that much later. */
export function delayPlayback(
  ledger: PlaybackLedger,
  fromMs: number,
  byMs: number,
): PlaybackLedger {
  const sent = ledger.sent.map((sentence) =>
    isOver(sentence, fromMs) ? sentence : { ...sentence, startsAtMs: sentence.startsAtMs + byMs },
  );
  return ledgerOf(sent);
}

/** When the audio of a sentence had ended whose mark arrived at `atMs`. */
export function markedEndMs({ sent }: PlaybackLedger, index: number, atMs: number): number {
  return atMs - (sent[index]?.markLateMs ?? 0);
}

/**
 * The mark of a sentence arrived at `atMs`: the sentence moves by the difference, and so does what followed it
 * without a pause.
 */
export function alignEnd(ledger: PlaybackLedger, index: number, atMs: number): PlaybackLedger {
  const heard = ledger.sent[index];
  if (heard === undefined) return ledger;
  let beforeMarkedAtMs = markedAt(heard);
  let byMs = atMs - beforeMarkedAtMs;
  const sent = ledger.sent.map((sentence, at) => {
    if (at < index) return sentence;
    // Audio that was sent after a pause started when it was sent, unless earlier audio lasted until later.
    const pauseMs = Math.max(0, sentence.startsAtMs - beforeMarkedAtMs);
    if (at > index && pauseMs > ROUNDING_MS) byMs = Math.max(0, byMs - pauseMs);
    beforeMarkedAtMs = markedAt(sentence);
    return { ...sentence, startsAtMs: sentence.startsAtMs + byMs };
  });
  return ledgerOf(sent);
}

/**
 * By `atMs` the caller has heard this much of all sent audio, counted from its start; later playback follows from
 * there. Sentences play one after another, so correcting one moves all later ones.
 */
export function alignPlayed(
  ledger: PlaybackLedger,
  playedMs: number,
  atMs: number,
): PlaybackLedger {
  let leftMs = playedMs;
  let index = 0;
  for (const { durationMs } of ledger.sent.slice(0, -1)) {
    if (leftMs <= durationMs) break;
    leftMs -= durationMs;
    index += 1;
  }
  const playing = ledger.sent[index];
  if (playing === undefined) return ledger;
  const startsAtMs = atMs - Math.min(leftMs, playing.durationMs);
  const earlierMs = Math.min(0, startsAtMs - playing.startsAtMs);
  const sent: SentSentence[] = [];
  for (const [at, sentence] of ledger.sent.entries()) {
    const before = sent.at(-1);
    if (at < index) sent.push({ ...sentence, startsAtMs: sentence.startsAtMs + earlierMs });
    else if (at === index) sent.push({ ...sentence, startsAtMs });
    else if (before !== undefined) sent.push({ ...sentence, startsAtMs: endOf(before) });
  }
  return ledgerOf(sent);
}

function ledgerOf(sent: readonly SentSentence[]): PlaybackLedger {
  const last = sent.at(-1);
  return last === undefined ? EMPTY_LEDGER : { sent, endsAtMs: endOf(last) };
}

function endOf({ startsAtMs, durationMs }: SentSentence): number {
  return startsAtMs + durationMs;
}

/** When its mark was, or will be, sent after it. */
function markedAt(sentence: SentSentence): number {
  return endOf(sentence) + (sentence.markLateMs ?? 0);
}

/** All its words have been heard; a cut sentence may be followed by the beginning of another. */
function isOver({ isWhole, startsAtMs, durationMs, expectedMs }: SentSentence, atMs: number) {
  return isWhole && atMs > startsAtMs + Math.min(durationMs, expectedMs) - ROUNDING_MS;
}

function heardOf(sentence: SentSentence, atMs: number): string {
  const { text, startsAtMs, durationMs, expectedMs, marks = [] } = sentence;
  const playedMs = Math.min(atMs - startsAtMs, durationMs);
  if (playedMs <= 0) return "";
  if (isOver(sentence, atMs)) return text;
  return openPart(text, charsSpoken(text, marks, playedMs, expectedMs));
}

function openPart(text: string, chars: number): string {
  return wholeWords(text, Math.min(chars, text.length * OPEN_FRACTION_MAX));
}
