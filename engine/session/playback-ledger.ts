import { heardPart } from "../speech/heard-text.js";

/** One sentence that was sent to the caller, on the call's own clock. */
export interface SentSentence {
  readonly text: string;
  readonly startsAtMs: number;
  readonly durationMs: number;
}

/**
 * What one turn of the assistant put into the caller's ear, and when. A browser plays what it gets at once and in
 * order, so a sentence starts when it is sent or when the one before it ends, whichever is later. Transcript and
 * history are written from here alone: what was generated but not heard never reaches them.
 */
export interface PlaybackLedger {
  readonly sent: readonly SentSentence[];
  /** When the last sentence ends; before anything was sent, minus infinity. */
  readonly endsAtMs: number;
}

export const EMPTY_LEDGER: PlaybackLedger = { sent: [], endsAtMs: Number.NEGATIVE_INFINITY };

export function recordSent(
  ledger: PlaybackLedger,
  text: string,
  durationMs: number,
  atMs: number,
): PlaybackLedger {
  const startsAtMs = Math.max(atMs, ledger.endsAtMs);
  return {
    sent: [...ledger.sent, { text, startsAtMs, durationMs }],
    endsAtMs: startsAtMs + durationMs,
  };
}

/** What the caller can have heard by `atMs`, the sentence being spoken cut at a word. */
export function heardText(ledger: PlaybackLedger, atMs: number): string {
  const parts: string[] = [];
  for (const sentence of ledger.sent) {
    const part = heardOf(sentence, atMs);
    if (part !== "") parts.push(part);
    if (part !== sentence.text) break;
  }
  return parts.join(" ");
}

/** How many sentences, from the first, were heard to their end by `atMs`. */
export function sentencesHeard(ledger: PlaybackLedger, atMs: number): number {
  let count = 0;
  for (const sentence of ledger.sent) {
    if (sentence.startsAtMs + sentence.durationMs > atMs) break;
    count += 1;
  }
  return count;
}

/** Playing stood still from `fromMs` for `byMs`: what was not heard to its end by then is heard that much later. */
export function delayPlayback(
  ledger: PlaybackLedger,
  fromMs: number,
  byMs: number,
): PlaybackLedger {
  const sent = ledger.sent.map((sentence) =>
    sentence.startsAtMs + sentence.durationMs <= fromMs
      ? sentence
      : { ...sentence, startsAtMs: sentence.startsAtMs + byMs },
  );
  return ledgerOf(sent);
}

/** A sentence is known to have ended at `atMs`: it and what follows is put right by the difference. */
export function alignEnd(ledger: PlaybackLedger, index: number, atMs: number): PlaybackLedger {
  const heard = ledger.sent[index];
  if (heard === undefined) return ledger;
  const byMs = atMs - (heard.startsAtMs + heard.durationMs);
  const sent = ledger.sent.map((sentence, at) =>
    at < index ? sentence : { ...sentence, startsAtMs: sentence.startsAtMs + byMs },
  );
  return ledgerOf(sent);
}

function ledgerOf(sent: readonly SentSentence[]): PlaybackLedger {
  const last = sent.at(-1);
  return last === undefined ? EMPTY_LEDGER : { sent, endsAtMs: last.startsAtMs + last.durationMs };
}

function heardOf(sentence: SentSentence, atMs: number): string {
  if (atMs >= sentence.startsAtMs + sentence.durationMs) return sentence.text;
  if (atMs <= sentence.startsAtMs) return "";
  return heardPart(sentence.text, (atMs - sentence.startsAtMs) / sentence.durationMs);
}
