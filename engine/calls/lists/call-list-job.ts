import * as v from "valibot";
import type {
  CallListRecord,
  CallListRowRecord,
  RetriedOutcome,
} from "../../../storage/calls/call-list-record.js";
import type {
  CallListStore,
  PlacedOutcome,
  RowOutcome,
} from "../../../storage/calls/call-list-store.js";
import type { ClaimedJob } from "../../../storage/jobs/job-record.js";
import type { RequestErrorCode } from "../../../storage/parley-error.js";
import { type FixedLimits, FixedLimitsJob, type JobOutcome } from "../../jobs/job-runner.js";
import type { Clock } from "../../time/clock.js";
import { isOpen, nextOpening } from "./call-windows.js";
import type { CallPlacer } from "./listed-calls.js";

/** An exception is an unreachable database, and each kill of the process may count as a try of a list that runs for weeks. */
const TRIES_MAX = 1_000;
const RETRY_AFTER_MS = 10_000;
const LIMITS: FixedLimits = {
  runningMax: 8,
  runningPerQueueMax: 1,
  delaysMs: Array.from({ length: TRIES_MAX - 1 }, () => RETRY_AFTER_MS),
};

/** From one look at the calls of a list to the next, while it has any. */
export const CALLS_CHECK_MS = 1_000;
/** A list that is resumed while its job is storing that it is paused goes on after this time. */
export const PAUSED_CHECK_MS = 60_000;
/** The clock may step, and time zones change: no list waits longer without another look. */
const WAIT_MAX_MS = 60 * 60 * 1_000;
/** The server is starting, or stopping. */
const NO_PLACER_MS = 1_000;
/** A plan's minutes come back with the next month. */
const MINUTES_CHECK_MS = 10 * 60 * 1_000;
/** Placed before the ends of calls are looked at again: each takes the vendor's answer. */
const PLACED_PER_RUN_MAX = 20;
/** A vendor that answers slowly must not keep the lists of others waiting. */
const PLACING_MAX_MS = 5_000;
/** More than any list may have at once. */
const CALLING_MAX = 200;

const MINUTE_MS = 60_000;

/** The ends of calls that did not reach their agent. Any other end is not followed by another call. */
const OUTCOMES: ReadonlyMap<string, RetriedOutcome> = new Map([
  ["busy", "busy"],
  ["noAnswer", "noAnswer"],
  ["machine", "machine"],
  ["vendorFailed", "failed"],
]);

/** A number that may not be called is left out; the others of the list may. */
const SKIPPED: ReadonlyMap<RequestErrorCode, string> = new Map([
  ["do_not_call", "doNotCall"],
  ["target_not_allowed", "targetNotAllowed"],
]);

const Payload = v.object({ listId: v.string() });

export interface CallListJobOptions {
  readonly store: CallListStore;
  /** Undefined while the server takes no calls. */
  readonly placer: () => CallPlacer | undefined;
  readonly clock: Clock;
  readonly newId: () => string;
}

/** What one run has found out about placing calls. */
type Placing =
  | { readonly kind: "full" }
  | { readonly kind: "more" }
  | { readonly kind: "held"; readonly afterMs: number }
  /** Nobody may be called now. */
  | { readonly kind: "none" };

/**
 * The one job of a call list, which runs again and again until nobody is left to be called: it notes how calls ended, and
 * has workers place those that are due. All it knows is stored, so another process can go on where this one was killed.
 */
export class CallListJob extends FixedLimitsJob {
  readonly #options: CallListJobOptions;

  constructor(options: CallListJobOptions) {
    super(LIMITS);
    this.#options = options;
  }

  override async run({ orgId, payload }: ClaimedJob, signal: AbortSignal): Promise<JobOutcome> {
    const { store } = this.#options;
    const { listId } = v.parse(Payload, payload);
    const list = await store.findUncounted(orgId, listId);
    if (list === undefined) return { kind: "done" };
    const calling = await this.#settle(list);
    if (list.state !== "running") {
      // A call that ended meanwhile may have left its row waiting.
      if (list.state === "cancelled") await store.cancelWaiting(list.id);
      if (calling > 0) return again(CALLS_CHECK_MS);
      return list.state === "paused" ? again(PAUSED_CHECK_MS) : { kind: "done" };
    }
    const placing = await this.#place(list, list.callsMax - calling, signal);
    if (placing.kind === "more") return again(0);
    if (placing.kind === "held") return again(placing.afterMs);
    if (calling > 0 || placing.kind === "full") return again(CALLS_CHECK_MS);
    return this.#waitForNext(list);
  }

  /** Notes how calls have ended. Returns how many have not. */
  async #settle(list: CallListRecord): Promise<number> {
    const { store, clock } = this.#options;
    const rows = await store.calling(list.id, CALLING_MAX);
    const outcomes = await store.outcomes(rows.flatMap(({ callId }) => callId ?? []));
    const ends = rows.flatMap((row) => {
      const outcome = outcomes.get(row.callId ?? "");
      return outcome === undefined ? [] : (endOf(list, row, outcome, clock.epochMs()) ?? []);
    });
    await store.settle(list.id, ends);
    return rows.length - ends.length;
  }

  async #place(list: CallListRecord, places: number, signal: AbortSignal): Promise<Placing> {
    const { store, placer, clock } = this.#options;
    if (places <= 0) return { kind: "full" };
    const worker = placer();
    if (worker === undefined) return { kind: "held", afterMs: NO_PLACER_MS };
    const nowMs = clock.epochMs();
    const zones = await store.waitingZones(list.id);
    const open = zones
      .map(({ timeZones }) => timeZones)
      .filter((each) => isOpen(list.windows, each, nowMs));
    const limit = Math.min(places, PLACED_PER_RUN_MAX);
    const due = await store.due(list.id, open, nowMs, limit);
    if (due.length === 0) return { kind: "none" };
    const endsAtMs = clock.monotonicMs() + PLACING_MAX_MS;
    let placedCount = 0;
    for (const row of due) {
      if (signal.aborted) break;
      if (clock.monotonicMs() > endsAtMs) return { kind: "more" };
      const called = await this.#call(list, row, worker);
      if (typeof called === "number") return { kind: "held", afterMs: called };
      if (called === "placed") placedCount += 1;
    }
    return { kind: due.length === limit && placedCount < places ? "more" : "full" };
  }

  /** A number says how long no call can be placed. */
  async #call(
    list: CallListRecord,
    row: CallListRowRecord,
    worker: CallPlacer,
  ): Promise<"placed" | "notPlaced" | number> {
    const { store, clock, newId } = this.#options;
    const { position, attempts } = row;
    const callId = newId();
    const placement = await worker.placeListedCall({
      orgId: list.orgId,
      agentId: list.agentId,
      from: list.fromNumber,
      to: row.number,
      detectMachine: list.detectMachine,
      vendor: list.vendor,
      variables: row.variables,
      apiKeyId: list.apiKeyId,
      row: { listId: list.id, position, attempts, callId },
    });
    const nowMs = clock.epochMs();
    if (placement.kind === "placed") {
      if (list.holdCode !== null) await store.hold(list.id, null, nowMs);
      return "placed";
    }
    const { code, message, retryAfterSec } = placement;
    // The list was paused, or another process has called.
    if (code === "conflict") return "notPlaced";
    const reason = SKIPPED.get(code);
    if (reason !== undefined) {
      await store.skip(list.id, position, reason);
      return "notPlaced";
    }
    const claimed = { ...row, attempts: attempts + 1, callId };
    if (code === "call_rejected") {
      await store.settle(list.id, [unreached(list, claimed, "failed", "rejected", nowMs)]);
      return "notPlaced";
    }
    // If the vendor fails for one number only, the others come first.
    const nextAtMs = nowMs + (retryAfterSec ?? 0) * 1_000;
    await store.settle(list.id, [notPlaced({ ...claimed, nextAtMs })]);
    const isPaused = retryAfterSec === undefined;
    await store.hold(list.id, { code, reason: message, isPaused }, nowMs);
    if (isPaused) return PAUSED_CHECK_MS;
    return code === "minutes_limit_reached" ? MINUTES_CHECK_MS : retryAfterSec * 1_000;
  }

  /** No call is in progress: the list is over, or waits for a window or for a retry. */
  async #waitForNext(list: CallListRecord): Promise<JobOutcome> {
    const { store, clock } = this.#options;
    const zones = await store.waitingZones(list.id);
    const nowMs = clock.epochMs();
    if (zones.length === 0) {
      await store.complete(list.id, nowMs);
      return { kind: "done" };
    }
    const times = zones.map(({ timeZones, nextAtMs }) => {
      const fromMs = Math.max(nowMs, nextAtMs);
      return nextOpening(list.windows, timeZones, fromMs) ?? Number.POSITIVE_INFINITY;
    });
    return again(Math.min(WAIT_MAX_MS, Math.min(...times) - nowMs));
  }
}

function again(afterMs: number): JobOutcome {
  return { kind: "again", afterMs };
}

/** What becomes of a row by the outcome of its call; undefined while the call is in progress. */
function endOf(
  list: CallListRecord,
  row: CallListRowRecord,
  outcome: PlacedOutcome,
  nowMs: number,
): RowOutcome | undefined {
  if (outcome.kind === "inProgress") return undefined;
  if (outcome.kind === "notPlaced") return notPlaced(row);
  const { status, endReason } = outcome;
  const retried = OUTCOMES.get(endReason);
  if (retried !== undefined) return unreached(list, row, retried, endReason, nowMs);
  return { ...callOf(row), state: status, reason: endReason, nextAtMs: row.nextAtMs };
}

/** It waits again as if nothing had been tried. */
function notPlaced(row: CallListRowRecord): RowOutcome {
  const { nextAtMs } = row;
  return { ...callOf(row), state: "waiting", reason: null, nextAtMs, isUncounted: true };
}

/** The call did not reach its agent: another one follows, as the list's rules say, or none. */
function unreached(
  { retries, state }: CallListRecord,
  row: CallListRowRecord,
  outcome: RetriedOutcome,
  reason: string,
  nowMs: number,
): RowOutcome {
  const rule = retries[outcome];
  const isOpen = state === "running" || state === "paused";
  const isRetried = isOpen && rule !== undefined && row.attempts <= rule.times;
  const nextAtMs = nowMs + (rule?.afterMinutes ?? 0) * MINUTE_MS;
  return { ...callOf(row), state: isRetried ? "waiting" : "failed", reason, nextAtMs };
}

function callOf({ position, callId }: CallListRowRecord) {
  return { position, callId: callId ?? "" };
}
