import type { SessionState } from "../state.js";
import { isWaitingWord, type Turn } from "../turn.js";

/** A caller has heard nothing of an answer for so long, over all turns that were begun anew: it is given up. */
const REPLY_WAIT_MAX_MS = 20_000;
/** When that time is nearly over as a turn begins, a vendor that is well again has so long to answer. */
const LAST_TRY_MS = 2_500;
/** A vendor that is well may be taken the floor from so early. */
const WAIT_MIN_MS = 1_000;
/** Words of impatience count as waiting; a caller who speaks for longer is not waiting. */
const WORDS_BETWEEN_MAX_MS = 3_000;

/** What a caller has waited in vain who speaks again and again, and until when. */
export interface VainWait {
  readonly waitedMs: number;
  readonly untilMs: number;
}

/** Nothing of the turn was heard, and its question is asked again: what was waited for it is not forgotten. */
export function vainWaitAfter(turn: Turn, atMs: number): VainWait | undefined {
  const hasAudio = turn.sentences.some(
    (sentence) => !isWaitingWord(sentence) && sentence.durationMs !== undefined,
  );
  if (turn.kind !== "reply" || turn.toolRounds > 0 || hasAudio) return undefined;
  const ownMs = atMs - turn.decidedAtMs;
  const waitedMs = turn.waitedBeforeMs + (ownMs < WAIT_MIN_MS ? 0 : ownMs);
  return waitedMs === 0 ? undefined : { waitedMs, untilMs: atMs };
}

/** What the caller has waited for an answer already when a turn begins. */
export function waitedBeforeMs({ vainWait }: SessionState, atMs: number): number {
  if (vainWait === undefined) return 0;
  return vainWait.waitedMs + Math.min(atMs - vainWait.untilMs, WORDS_BETWEEN_MAX_MS);
}

/** When a reply that was not heard is not waited for any more, whatever has come of it. */
export function givenUpAtMs({ decidedAtMs, waitedBeforeMs: beforeMs }: Turn): number {
  const leftMs = REPLY_WAIT_MAX_MS - beforeMs;
  if (leftMs >= LAST_TRY_MS) return decidedAtMs + leftMs;
  // Who speaks again in every last try would wait for ever.
  return decidedAtMs + Math.min(Math.max(leftMs + LAST_TRY_MS, 0), LAST_TRY_MS);
}
