/** Deadlines at which a call acts without an event. The runner keeps one timer, for the earliest of them. */

/** Deadlines that are due at the same moment are handled in this order. */
export const DEADLINE_NAMES = [
  /** The caller's turn may be over, though STT has not reported it. */
  "endpointing",
  /** The caller has been quiet for long enough to request a reply before the end of the turn is certain. */
  "preemptiveGeneration",
  /** A word may become a backchannel with the next one. */
  "nextWord",
  /** No DTMF digit has followed. */
  "dtmf",
  /** No words have followed an interruption. */
  "falseInterruption",
  /** No words have followed the voice that output was paused for. */
  "outputPause",
  /** The caller speaks before the reply does. */
  "overlapBeforeReply",
  /** The LLM may have stalled after a complete sentence. */
  "sentenceFlush",
  /** Enough audio has played that TTS may get the next sentence. */
  "synthesisAhead",
  /** More of a sentence must arrive before the caller has heard all of it that is there. */
  "underrun",
  /** A tool takes so long that its sentence is said. */
  "toolDelay",
  /** The caller has heard nothing of a reply for a while. */
  "filler",
  /** The caller has heard all of the turn. */
  "playbackEnd",
  /** LLM, TTS or tools have given nothing for too long. */
  "turnStall",
  /** The caller has said nothing for too long. */
  "idle",
  /** A text that a person of the organization has the agent say waits for its turn. */
  "say",
  /** The STT has returned no words for a voice. */
  "unrecognizedVoice",
  /** A tool in the background has a result that starts a turn. */
  "backgroundResult",
  /** The telephony vendor has not answered a request to transfer the call. */
  "transfer",
  /** No verdict on who has answered has come, a machine's greeting is over, no person has come, or one has finished speaking. */
  "answerer",
  /** The limit of the call's duration is near. */
  "timeUp",
  /** The limit of the call's duration. */
  "maxDuration",
] as const;

/** Due times are sums of fractions; a due time counts as reached within this tolerance. */
const ROUNDING_MS = 0.001;

export type DeadlineName = (typeof DEADLINE_NAMES)[number];

/** Due times on the call's clock; undefined if not set. */
export type Deadlines = Record<DeadlineName, number | undefined>;

export interface WithDeadlines {
  readonly deadlines: Deadlines;
}

export function noDeadlines(): Deadlines {
  return {
    endpointing: undefined,
    preemptiveGeneration: undefined,
    nextWord: undefined,
    dtmf: undefined,
    falseInterruption: undefined,
    outputPause: undefined,
    overlapBeforeReply: undefined,
    sentenceFlush: undefined,
    synthesisAhead: undefined,
    underrun: undefined,
    toolDelay: undefined,
    filler: undefined,
    playbackEnd: undefined,
    turnStall: undefined,
    idle: undefined,
    say: undefined,
    unrecognizedVoice: undefined,
    backgroundResult: undefined,
    transfer: undefined,
    answerer: undefined,
    timeUp: undefined,
    maxDuration: undefined,
  };
}

/** Replaces an earlier due time of the same name. */
export function setDeadline({ deadlines }: WithDeadlines, name: DeadlineName, dueMs: number): void {
  deadlines[name] = dueMs;
}

export function clearDeadline({ deadlines }: WithDeadlines, name: DeadlineName): void {
  deadlines[name] = undefined;
}

export function clearDeadlines({ deadlines }: WithDeadlines, names: readonly DeadlineName[]): void {
  for (const name of names) deadlines[name] = undefined;
}

/** The earliest due time; undefined if no deadline is set. */
export function nextDeadline({ deadlines }: WithDeadlines): number | undefined {
  let earliestMs: number | undefined;
  for (const name of DEADLINE_NAMES) {
    const dueMs = deadlines[name];
    if (dueMs !== undefined && (earliestMs === undefined || dueMs < earliestMs)) earliestMs = dueMs;
  }
  return earliestMs;
}

/** The deadlines that are due at `atMs`, in the order of their times. */
export function dueDeadlines({ deadlines }: WithDeadlines, atMs: number): readonly DeadlineName[] {
  return DEADLINE_NAMES.filter((name) => isDue(deadlines[name], atMs)).sort(
    (one, other) => (deadlines[one] ?? 0) - (deadlines[other] ?? 0),
  );
}

/** Whether the deadline is still due: a rule that ran before may have moved it. Clears a due deadline. */
export function takeDueDeadline(
  { deadlines }: WithDeadlines,
  name: DeadlineName,
  atMs: number,
): boolean {
  if (!isDue(deadlines[name], atMs)) return false;
  deadlines[name] = undefined;
  return true;
}

function isDue(dueMs: number | undefined, atMs: number): boolean {
  return dueMs !== undefined && dueMs <= atMs + ROUNDING_MS;
}
