import type { VendorFault } from "../contracts.js";

/** Failures one after another that open a breaker. */
const FAILURES_IN_ROW_MAX = 3;
/** Or half of the newest answers, once there are enough to speak of a rate. */
const RECENT_MAX = 20;
const RECENT_MIN = 10;
const FAILURE_RATE_MAX = 0.5;

/** So long an open breaker lets nobody try; twice as long after each try that failed. */
const PAUSE_MS = 5_000;
/** As long as an open or half-open one waits at the most. */
export const PAUSE_MAX_MS = 60_000;
/** The one call that tries again has told nothing by then: another may. */
const TRIAL_MAX_MS = 15_000;

export type BreakerPhase = "closed" | "open" | "halfOpen";

/** What is known of one credential; every function below is pure. */
export interface BreakerState {
  readonly phase: BreakerPhase;
  readonly failuresInRow: number;
  /** The newest answers, the oldest first: whether each has failed. */
  readonly recent: readonly boolean[];
  /** How long an open one waits, and until when; a half-open one waits so long for the call that tries, a closed one never. */
  readonly pauseMs: number;
  readonly untilMs: number;
  /** How many changes of phase it has gone through, with those that others have told of: who has heard of more knows better. */
  readonly changeCount: number;
  /** A half-open one is tried by a call of another process. */
  readonly isTriedElsewhere: boolean;
}

/** A breaker as another process tells of it: clocks differ, so it tells for how much longer it waits. */
export interface ToldBreaker {
  readonly phase: BreakerPhase;
  readonly changeCount: number;
  readonly pauseMs: number;
  readonly leftMs: number;
}

export const CLOSED_BREAKER: BreakerState = {
  phase: "closed",
  failuresInRow: 0,
  recent: [],
  pauseMs: PAUSE_MS,
  untilMs: 0,
  changeCount: 0,
  isTriedElsewhere: false,
};

/** Processes that have gone through as many changes believe the one that knows the worst, which stands last. */
const WORSE: readonly BreakerPhase[] = ["closed", "halfOpen", "open"];

/** These say that the credential itself is refused: another call with it is refused as well. */
const LASTING: ReadonlySet<VendorFault> = new Set(["unauthorized", "quotaExceeded"]);
/** These say something of one request or one caller, and nothing of the vendor. */
export const NOT_THE_VENDORS: ReadonlySet<VendorFault> = new Set([
  "refused",
  "notFound",
  "aborted",
]);

/** Whether a call is to turn to somebody else, without waiting. */
export function isSkipped({ untilMs }: BreakerState, nowMs: number): boolean {
  return nowMs < untilMs;
}

/** A call turns to the vendor. The first one after the pause is the one that tries, and the others wait for what it tells. */
export function asked(state: BreakerState, nowMs: number): BreakerState {
  if (state.phase === "closed" || nowMs < state.untilMs) return state;
  const changeCount = state.changeCount + 1;
  const untilMs = nowMs + TRIAL_MAX_MS;
  return { ...state, phase: "halfOpen", untilMs, changeCount, isTriedElsewhere: false };
}

export function answered(state: BreakerState): BreakerState {
  if (state.phase === "halfOpen") return { ...CLOSED_BREAKER, changeCount: state.changeCount + 1 };
  // One that is answered among many that are not changes nothing: its pause is short.
  if (state.phase === "open") return state;
  if (state.recent.length === 0 && state.failuresInRow === 0) return state;
  return { ...state, failuresInRow: 0, recent: withAnswer(state.recent, false) };
}

/** `retryAfterMs` is what the vendor has asked for itself. */
export function failed(
  state: BreakerState,
  fault: VendorFault,
  retryAfterMs: number | undefined,
  nowMs: number,
): BreakerState {
  if (NOT_THE_VENDORS.has(fault)) return state;
  if (state.phase === "halfOpen") {
    return open(state, Math.min(state.pauseMs * 2, PAUSE_MAX_MS), retryAfterMs, nowMs);
  }
  // What was asked before it opened, or for want of anybody else, says nothing new.
  if (state.phase === "open") return state;
  const failuresInRow = state.failuresInRow + 1;
  const recent = withAnswer(state.recent, true);
  const worse = { ...state, failuresInRow, recent };
  const isWorse = LASTING.has(fault) || failuresInRow >= FAILURES_IN_ROW_MAX || isBad(recent);
  return isWorse || retryAfterMs !== undefined ? open(worse, PAUSE_MS, retryAfterMs, nowMs) : worse;
}

/** The call that was to try has ended without an answer: the next one tries. */
export function abandoned(state: BreakerState, nowMs: number): BreakerState {
  if (state.phase !== "halfOpen" || state.isTriedElsewhere) return state;
  return { ...state, phase: "open", untilMs: nowMs, changeCount: state.changeCount + 1 };
}

export function toldOf(state: BreakerState, nowMs: number): ToldBreaker {
  const { phase, changeCount, pauseMs, untilMs } = state;
  return { phase, changeCount, pauseMs, leftMs: Math.max(0, untilMs - nowMs) };
}

/** Whatever order it is told in, and however often, all come to the same state; the same object where it is no news. */
export function heard(state: BreakerState, told: ToldBreaker, nowMs: number): BreakerState {
  if (!isNews(state, told)) return state;
  const { phase, changeCount, pauseMs, leftMs } = told;
  if (phase === "closed") return { ...CLOSED_BREAKER, changeCount };
  const untilMs = nowMs + leftMs;
  const isTriedElsewhere = phase === "halfOpen";
  return { ...CLOSED_BREAKER, phase, changeCount, pauseMs, untilMs, isTriedElsewhere };
}

function isNews(state: BreakerState, told: ToldBreaker): boolean {
  // A process that has begun meanwhile counts from nothing: the vendor has failed it all the same.
  if (state.phase === "closed" && told.phase === "open") return true;
  const more = told.changeCount - state.changeCount;
  return more > 0 || (more === 0 && WORSE.indexOf(told.phase) > WORSE.indexOf(state.phase));
}

function open(
  state: BreakerState,
  pauseMs: number,
  retryAfterMs: number | undefined,
  nowMs: number,
): BreakerState {
  const waitMs = Math.min(Math.max(pauseMs, retryAfterMs ?? pauseMs), PAUSE_MAX_MS);
  const changeCount = state.changeCount + 1;
  return { ...state, phase: "open", recent: [], pauseMs, untilMs: nowMs + waitMs, changeCount };
}

function isBad(recent: readonly boolean[]): boolean {
  const failures = recent.filter((hasFailed) => hasFailed).length;
  return recent.length >= RECENT_MIN && failures >= recent.length * FAILURE_RATE_MAX;
}

function withAnswer(recent: readonly boolean[], hasFailed: boolean): readonly boolean[] {
  return [...(recent.length < RECENT_MAX ? recent : recent.slice(1)), hasFailed];
}
