import {
  EMPTY_LEDGER,
  type PlaybackLedger,
  recordSent,
  type SentSentence,
} from "../../../engine/conversation/playback-ledger.js";

export type Sent = Omit<SentSentence, "startsAtMs">;

/** Four words of four letters, a second long. */
export const WHOLE: Sent = {
  text: "word word word word",
  durationMs: 1_000,
  expectedMs: 1_000,
  isWhole: true,
};
/** The same, of which more may come. */
export const OPEN: Sent = { ...WHOLE, isWhole: false };

/** A ledger of sentences that were all sent at one moment. */
export function sentAt(atMs: number, ...sentences: readonly Sent[]): PlaybackLedger {
  return sentences.reduce((ledger, sentence) => recordSent(ledger, sentence, atMs), EMPTY_LEDGER);
}
