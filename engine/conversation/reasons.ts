/**
 * The closed lists of reasons why the agent stops, continues or waits, and why the caller's turn is over; and how
 * a turn records them.
 */

/** What the caller's speech does to the agent's output. */
export const BARGE_IN_ACTIONS = ["interrupt", "pause", "resume", "ignore", "wait"] as const;
export type BargeInAction = (typeof BARGE_IN_ACTIONS)[number];

/** `docs/guides/how-a-turn-works.md` has a line for each, and the console has a label. */
export const BARGE_IN_REASONS = [
  "words",
  "interruptionPhrase",
  "dtmf",
  "message",
  "turnContinued",
  "voice",
  "voiceEnded",
  "onlyWordsInterrupt",
  "nothingPlaying",
  "falseInterruption",
  "echo",
  "possibleEcho",
  "backchannel",
  "questionNotOver",
  "nextWordPending",
  "tooFewWords",
  "answeredAfterSpeech",
  "farewell",
  "sendingDtmf",
  "callIsEnding",
] as const;
export type BargeInReason = (typeof BARGE_IN_REASONS)[number];

export interface BargeInDecision {
  readonly action: BargeInAction;
  readonly reason: BargeInReason;
}

/** A decision as the record of the turn keeps it: `atMs` counts from the start of the turn. */
export interface BargeIn extends BargeInDecision {
  readonly atMs: number;
}

/** Why the caller's turn is over. */
export const END_OF_TURN_REASONS = [
  "vendor",
  "vendorTimeout",
  "endpointing",
  "utteranceEnd",
  "silenceTimeout",
  "maxEndpointingDelay",
  "interimTimeout",
  "dtmfDigits",
  "poundKey",
  "dtmfTimeout",
  "message",
] as const;
export type EndOfTurnReason = (typeof END_OF_TURN_REASONS)[number];

/** Why the caller is expected to say more: the turn may last `maxEndpointingDelayMs`. */
export const CONTINUATIONS = ["dictating", "openEnded", "missingPunctuation"] as const;
export type Continuation = (typeof CONTINUATIONS)[number];

/** Why the caller's turn is not over. */
export const END_OF_TURN_WAIT_REASONS = [
  ...CONTINUATIONS,
  "turnDetection",
  "interim",
  "silence",
  "stillSpeaking",
  "lateWords",
] as const;
export type EndOfTurnWaitReason = (typeof END_OF_TURN_WAIT_REASONS)[number];

export type EndOfTurnDecision =
  | {
      readonly isDone: true;
      readonly reason: EndOfTurnReason;
      /** Why the longest wait, `maxEndpointingDelayMs`, was granted. */
      readonly waitedFor?: Continuation;
    }
  | {
      readonly isDone: false;
      readonly reason: EndOfTurnWaitReason;
      /** When to decide again, if no event arrives before. */
      readonly recheckAtMs: number;
    };

/** The end of the caller's turn as the record of the agent's turn keeps it. */
export interface EndOfTurn {
  readonly reason: EndOfTurnReason;
  /** From the end of the caller's last word, or the last digit, to the decision. */
  readonly waitedMs: number;
  readonly waitedFor?: Continuation;
  /**
   * What the caller spoke: the tag of one of the agent's languages, or the code of another; omitted where the agent
   * has only one, or STT did not tell.
   */
  readonly language?: string;
  /** The call's language before this turn, or one before it that was not reported, changed it; omitted for others. */
  readonly switchedFrom?: string;
}

/** A turn keeps this many decisions: the first ones, and always the newest, which shows why it stopped. */
export const BARGE_INS_PER_TURN_MAX = 16;

/** The decisions of a turn with one more; the same list if it repeats the last decision. */
export function withBargeIn(
  bargeIns: readonly BargeIn[],
  { action, reason, atMs }: BargeIn,
): readonly BargeIn[] {
  const last = bargeIns.at(-1);
  // After output has resumed, there is nothing left to resume for the same reason.
  const isSame =
    last?.reason === reason &&
    (last.action === action || (last.action === "resume" && action === "ignore"));
  if (isSame) return bargeIns;
  return [...bargeIns.slice(0, BARGE_INS_PER_TURN_MAX - 1), { action, reason, atMs }];
}
