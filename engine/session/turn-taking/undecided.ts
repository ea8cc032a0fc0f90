import { isSameWords } from "../../speech/spoken-words.js";
import { pendingText } from "../../speech/turn-detector.js";
import type { TranscriptEvent } from "../events.js";
import type { SessionState } from "../state.js";

/** What Deepgram Flux takes where nobody has set it; the others end a turn sooner. */
const TURN_SILENCE_MAX_MS = 5_000;
/** The vendor's word is on its way for less than this. */
const ON_ITS_WAY_MAX_MS = 1_500;
/** Words that are new may come from a caller whom only the recognizer hears: more of them are waited for. */
const NEW_WORDS_MIN_MS = 3_000;

/** After so much silence a recognizer that decides turns has failed to; undefined for one that does not decide. */
export function undecidedMaxMs(event: TranscriptEvent): number | undefined {
  if (event.decidesTurns !== true) return undefined;
  return (event.turnSilenceMaxMs ?? TURN_SILENCE_MAX_MS) + ON_ITS_WAY_MAX_MS;
}

/** A recognizer that decides turns tells them several times in a second, also while nobody speaks. */
export function isRepeated({ hearing }: SessionState, event: TranscriptEvent): boolean {
  if (event.decidesTurns !== true || event.isFinal || hearing.interim === "") return false;
  return isSameWords(hearing.interim, event.text);
}

/** How long words of a recognizer that decides turns may stay the last of their turn. */
export function undecidedLeftMs(event: TranscriptEvent, maxMs: number): number {
  const isTimed = event.lastWordEndMs !== undefined;
  const quietMs = isTimed ? event.endedAgoMs : (event.voiceAgoMs ?? 0);
  return Math.max(NEW_WORDS_MIN_MS, maxMs - quietMs);
}

/** A recognizer that decides turns has words of one that it has not ended. */
export function isUndecided({ undecidedMaxMs: maxMs, hearing }: SessionState): boolean {
  return maxMs !== undefined && pendingText(hearing) !== "";
}
