import * as v from "valibot";
import type {
  CallListRecord,
  CallListRowRecord,
  RetriedOutcome,
} from "../../../storage/calls/call-list-record.js";
import type {
  CallListHold,
  CallListStore,
  HoldNotice,
  PlacedOutcome,
  RowOutcome,
} from "../../../storage/calls/call-list-store.js";
import type { ClaimedJob } from "../../../storage/jobs/job-record.js";
import type { RequestErrorCode } from "../../../storage/parley-error.js";
import { newEvent } from "../../../storage/webhooks/event-record.js";
import { type FixedLimits, FixedLimitsJob, type JobOutcome } from "../../jobs/job-runner.js";
import { auditEntry, SERVER_ACTOR } from "../../tenancy/audit-entry.js";
import type { Clock } from "../../time/clock.js";
import { within } from "../../time/deadline.js";
import { isOpen, nextOpening } from "./call-windows.js";
import type { CallPlacer, ListedPlacement } from "./listed-calls.js";

/** An exception is an unreachable database, and each kill of the process may count as a try of a list that runs for weeks. */
const TRIES_MAX = 1_000;
const RETRY_AFTER_MS = 10_000;
const LIMITS: FixedLimits = {
  runningMax: 8,
  runningPerQueueMax: 1,
  delaysMs: Array.from({ length: TRIES_MAX - 1 }, () => RETRY_AFTER_MS),
};

/** From one look at the calls of a list to the next, while it has any. */
const CALLS_CHECK_MS = 1_000;
/** A list that is resumed while its job is storing that it is paused goes on after this time. */
export const PAUSED_CHECK_MS = 60_000;
/** A person whose order has failed in this server is called later than the others. */
const FAULT_DELAY_MS = 60_000;
/** Another list may be calling the person. */
const CONFLICT_DELAY_MS = 15_000;
/** The clock may step, and time zones change: no list waits longer without another look. */
const WAIT_MAX_MS = 60 * 60 * 1_000;
/** The server is starting, or stopping. */
const NO_PLACER_MS = 1_000;
/** A plan or a server that is full has room again when any of its calls ends. */
const FULL_CHECK_MS = 2_000;
/** A plan's minutes come back with the next month. */
const MINUTES_CHECK_MS = 10 * 60 * 1_000;
/** Placed before the ends of calls are looked at again: each takes the vendor's answer. */
const PLACED_PER_RUN_MAX = 20;
/** A vendor that answers slowly must not keep the lists of others waiting. */
const PLACING_MAX_MS = 5_000;
/** An order that waits for its worker longer than this is not placed: the window may be closed by then. */
export const ORDER_MAX_MS = 10_000;
/**
 * A worker that has not answered by then is frozen: it has waited for the vendor and the database for as long as it may. If it goes
 * on later, the order is too late, or the row has its call.
 */
export const WORKER_ANSWER_MAX_MS = 30_000;
/** Orders for one person that the vendor refuses for a time, in a row. The next one is the last. */
export const REFUSALS_MAX = 5;
/** How long the person waits after the first of them, and how many times as long after each other one. */
const REFUSAL_WAIT_MS = 10_000;
const REFUSAL_BACKOFF = 3;
/** How long a list waits after an order that its vendor did not accept; twice as long after each other one in a row. */
const HOLD_MS = 10_000;
const HOLD_MAX_MS = 10 * 60 * 1_000;
/** Orders in a row that the vendor did not accept: then the organization is notified. */
export const HOLD_NOTICE_REFUSALS = 5;
/** Then the list pauses, after some four hours in which its vendor got an order every ten minutes. */
export const VENDOR_REFUSALS_MAX = 30;
/** Calls in a row that never reach the agent through no fault of the called people; then the list pauses. */
export const FAILURES_IN_ROW_MAX = 5;
/** More than any list may have at once. */
const CALLING_MAX = 200;

const MINUTE_MS = 60_000;

/** The ends of calls that may be followed by another call to the same person. */
const OUTCOMES: ReadonlyMap<string, RetriedOutcome> = new Map([
  ["busy", "busy"],
  ["noAnswer", "noAnswer"],
  ["machine", "machine"],
  ["vendorFailed", "failed"],
]);

/** A screener was connected to the agent, and the person was not. */
const NOT_PUT_THROUGH = "notPutThrough";
/** Ends that say nothing about the called person, and something about the vendor or this server. */
const FAILURES: ReadonlySet<string> = new Set([
  "notConnected",
  "outcomeUnknown",
  "unsupportedAudio",
]);

/** A number that may not be called is left out; the others of the list may. */
const SKIPPED: ReadonlyMap<RequestErrorCode, string> = new Map([
  ["do_not_call", "doNotCall"],
  ["target_not_allowed", "targetNotAllowed"],
]);

/** How soon a list looks again after these refusals; their own hint of a time is for other callers. */
const CHECKS_MS: ReadonlyMap<RequestErrorCode, number> = new Map([
  ["calls_limit_reached", FULL_CHECK_MS],
  ["minutes_limit_reached", MINUTES_CHECK_MS],
]);

const REPLY_LOST =
  "the telephony vendor did not reply to an order, or does not say whether it calls";

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
  /** The list may place no call at this time. */
  | { readonly kind: "none" };

/**
 * The one job of a call list, which repeats until no person is left to call: it notes how calls ended, and
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
    const { calling, failuresInRow } = await this.#settle(list);
    if (list.state !== "running") {
      // A call that ended meanwhile may have left its row waiting.
      if (list.state === "cancelled") await store.cancelWaiting(list.id);
      if (calling > 0) return again(CALLS_CHECK_MS);
      return list.state === "paused" ? again(PAUSED_CHECK_MS) : { kind: "done" };
    }
    if (await this.#pauseIfFailing(list, failuresInRow)) return again(CALLS_CHECK_MS);
    // The worker that placed the call may not have replied.
    if (calling > 0 && list.nextCallAtMs !== null) await store.waitUntil(list.id, null);
    const heldMs = list.heldUntilMs - this.#options.clock.epochMs();
    // A hold does not delay the ends of calls. One that seems longer is of a clock that was wrong.
    if (heldMs > 0 && heldMs <= WAIT_MAX_MS)
      return again(calling > 0 ? Math.min(heldMs, CALLS_CHECK_MS) : heldMs);
    const placing = await this.#place({ ...list, failuresInRow }, list.callsMax - calling, signal);
    if (placing.kind === "more") return again(0);
    if (placing.kind === "held") return again(Math.min(placing.afterMs, CALLS_CHECK_MS));
    if (calling > 0 || placing.kind === "full") return again(CALLS_CHECK_MS);
    return this.#waitForNext(list);
  }

  /** Notes how calls have ended. `calling`: how many have not. */
  async #settle(
    list: CallListRecord,
  ): Promise<{ readonly calling: number; readonly failuresInRow: number }> {
    const { store, clock } = this.#options;
    const rows = await store.calling(list.id, CALLING_MAX);
    const nowMs = clock.epochMs();
    const callIds = rows.flatMap(({ callId }) => callId ?? []);
    const outcomes = await store.outcomes(callIds, nowMs);
    const ends = rows.flatMap((row) => {
      const outcome = outcomes.get(row.callId ?? "");
      return outcome === undefined ? [] : (endOf(list, row, outcome, nowMs) ?? []);
    });
    await store.settle(list.id, ends);
    const failuresInRow = ends
      .filter(({ isUncounted }) => isUncounted !== true)
      .reduce(
        (sum, { reason }) => (reason !== null && FAILURES.has(reason) ? sum + 1 : 0),
        list.failuresInRow,
      );
    await this.#countFailures(list, failuresInRow);
    return { calling: rows.length - ends.length, failuresInRow };
  }

  async #countFailures(list: CallListRecord, failuresInRow: number): Promise<void> {
    if (failuresInRow === list.failuresInRow) return;
    await this.#options.store.countFailures(list.id, failuresInRow);
  }

  /** Otherwise each person of the list would be rung for nothing. */
  async #pauseIfFailing(list: CallListRecord, failuresInRow: number): Promise<boolean> {
    if (failuresInRow < FAILURES_IN_ROW_MAX) return false;
    const reason = `${failuresInRow} calls in a row were refused, or ended before they reached the agent`;
    await this.#hold(list, { code: "telephony_unavailable", reason, waitMs: undefined });
    return true;
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
    let { failuresInRow } = list;
    for (const row of due) {
      if (signal.aborted) break;
      if (clock.monotonicMs() > endsAtMs) return { kind: "more" };
      const called = await this.#call(list, row, worker);
      if (typeof called === "number") return { kind: "held", afterMs: called };
      if (called === "placed") placedCount += 1;
      if (called !== "failed") continue;
      failuresInRow += 1;
      await this.#countFailures(list, failuresInRow);
      if (await this.#pauseIfFailing(list, failuresInRow)) {
        return { kind: "held", afterMs: PAUSED_CHECK_MS };
      }
    }
    return { kind: due.length === limit && placedCount < places ? "more" : "full" };
  }

  /** A number says how long no call can be placed. `failed`: the row is settled, through no fault of the person. */
  async #call(
    list: CallListRecord,
    row: CallListRowRecord,
    worker: CallPlacer,
  ): Promise<"placed" | "notPlaced" | "failed" | number> {
    const { store, clock } = this.#options;
    const { position } = row;
    const callId = this.#options.newId();
    const placement = await this.#order(list, row, callId, worker);
    const nowMs = clock.epochMs();
    if (placement.kind === "placed") {
      // The person is not ordered again; the others wait, since a gateway that is down would use up the list.
      if (placement.isReplyLost === true) return this.#holdForVendor(list, REPLY_LOST);
      if (list.holdCode !== null || list.nextCallAtMs !== null) await store.endHold(list.id);
      return "placed";
    }
    const claimed = { ...row, attempts: row.attempts + 1, callId };
    const { code, message, retryAfterSec, isOfVendor, isOfNumber = false } = placement;
    // The list was paused, another process has called, another list is calling the person, or the order came too late.
    if (code === "conflict") {
      await store.postpone(list.id, position, nowMs + CONFLICT_DELAY_MS);
      return "notPlaced";
    }
    const reason = SKIPPED.get(code);
    if (reason !== undefined) {
      await store.skip(list.id, position, reason);
      return "notPlaced";
    }
    const refusals = isOfNumber ? row.refusals + 1 : row.refusals;
    if (code === "call_rejected" || refusals >= REFUSALS_MAX) {
      await store.settle(list.id, [unreached(list, claimed, "failed", "rejected", nowMs)]);
      return "failed";
    }
    // If the vendor fails for one number only, the others come first.
    const personWaitMs = isOfNumber ? REFUSAL_WAIT_MS * REFUSAL_BACKOFF ** (refusals - 1) : 0;
    const nextAtMs = nowMs + personWaitMs;
    await store.settle(list.id, [{ ...notPlaced({ ...claimed, nextAtMs }), refusals }]);
    if (retryAfterSec === undefined) {
      return this.#hold(list, { code, reason: message, waitMs: undefined });
    }
    const retryAfterMs = retryAfterSec * 1_000;
    if (isOfVendor === true) return this.#holdForVendor(list, message, retryAfterMs);
    return this.#hold(list, { code, reason: message, waitMs: CHECKS_MS.get(code) ?? retryAfterMs });
  }

  /** The vendor did not accept an order. `retryAfterMs`: the pause that it asks for. */
  #holdForVendor(list: CallListRecord, reason: string, retryAfterMs = 0): Promise<number> {
    const code = "telephony_unavailable";
    const vendorRefusals = list.vendorRefusals + 1;
    if (vendorRefusals >= VENDOR_REFUSALS_MAX) {
      const words = `${reason}, after ${vendorRefusals} orders in a row`;
      return this.#hold(list, { code, reason: words, waitMs: undefined, vendorRefusals });
    }
    const backoffMs = Math.min(HOLD_MS * 2 ** (vendorRefusals - 1), HOLD_MAX_MS);
    const waitMs = Math.min(Math.max(backoffMs, retryAfterMs), WAIT_MAX_MS);
    return this.#hold(list, { code, reason, waitMs, vendorRefusals });
  }

  /** Places no call for `waitMs`; undefined pauses the list, since time changes nothing. Resolves with when to look again. */
  async #hold(
    list: CallListRecord,
    held: {
      readonly code: RequestErrorCode;
      readonly reason: string;
      readonly waitMs: number | undefined;
      readonly vendorRefusals?: number;
    },
  ): Promise<number> {
    const { store, clock } = this.#options;
    const { code, reason, waitMs, vendorRefusals = list.vendorRefusals } = held;
    const nowMs = clock.epochMs();
    const isPaused = waitMs === undefined;
    const hold: CallListHold = {
      code,
      reason,
      isPaused,
      sinceMs: list.holdCode === code ? (list.heldSinceMs ?? nowMs) : nowMs,
      untilMs: isPaused ? 0 : nowMs + waitMs,
      vendorRefusals,
    };
    const isNoticed =
      isPaused ||
      (vendorRefusals === HOLD_NOTICE_REFUSALS && list.vendorRefusals < HOLD_NOTICE_REFUSALS);
    await store.hold(list.id, hold, nowMs, isNoticed ? this.#noticeOf(list, hold) : undefined);
    return waitMs ?? PAUSED_CHECK_MS;
  }

  #noticeOf({ id, orgId, name }: CallListRecord, hold: CallListHold): HoldNotice {
    const { newId, clock } = this.#options;
    const atMs = clock.epochMs();
    const { code, reason, isPaused, sinceMs, untilMs } = hold;
    const event = newEvent({
      id: `evt_${newId()}`,
      orgId,
      type: "callList.held",
      callId: null,
      atMs,
      data: {
        callListId: id,
        name,
        state: isPaused ? "paused" : "running",
        code,
        reason,
        heldSince: new Date(sinceMs).toISOString(),
        retryAt: isPaused ? null : new Date(untilMs).toISOString(),
      },
    });
    const target = { type: "callList", id, orgId, name } as const;
    const action = isPaused ? "callList.pause" : "callList.hold";
    const entry = auditEntry({ id: newId(), atMs, actor: SERVER_ACTOR, action, target });
    return { event, entry };
  }

  /** Throws if it is unknown whether the call was placed; another row comes first then. */
  async #order(
    list: CallListRecord,
    { position, attempts, number, variables }: CallListRowRecord,
    callId: string,
    worker: CallPlacer,
  ): Promise<ListedPlacement> {
    const { store, clock } = this.#options;
    try {
      const order = {
        orgId: list.orgId,
        agentId: list.agentId,
        from: list.fromNumber,
        to: number,
        detectMachine: list.detectMachine,
        vendor: list.vendor,
        variables,
        apiKeyId: list.apiKeyId,
        row: {
          listId: list.id,
          position,
          attempts,
          callId,
          untilMs: clock.epochMs() + ORDER_MAX_MS,
        },
      };
      const placing = Promise.resolve(worker.placeListedCall(order));
      if (!(await within(clock, WORKER_ANSWER_MAX_MS, placing))) {
        // A late failure changes nothing.
        placing.catch(() => undefined);
        throw new Error("the worker did not answer whether it placed the call");
      }
      return await placing;
    } catch (error) {
      await store.postpone(list.id, position, clock.epochMs() + FAULT_DELAY_MS);
      throw error;
    }
  }

  /** No call is in progress: the list is over, or waits for a window or for a retry. */
  async #waitForNext(list: CallListRecord): Promise<JobOutcome> {
    const { store, clock } = this.#options;
    const zones = await store.waitingZones(list.id);
    const nowMs = clock.epochMs();
    if (zones.length === 0) {
      // Another process may have claimed a row since the calls were looked at.
      if (await store.complete(list.id, nowMs)) return { kind: "done" };
      return again(CALLS_CHECK_MS);
    }
    const times = zones.map(({ timeZones, nextAtMs }) => {
      const fromMs = Math.max(nowMs, nextAtMs);
      return nextOpening(list.windows, timeZones, fromMs) ?? Number.POSITIVE_INFINITY;
    });
    const nextAtMs = Math.min(...times);
    const nextCallAtMs = Number.isFinite(nextAtMs) && nextAtMs > nowMs ? nextAtMs : null;
    if (nextCallAtMs !== list.nextCallAtMs) await store.waitUntil(list.id, nextCallAtMs);
    return again(Math.min(WAIT_MAX_MS, nextAtMs - nowMs));
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
  const { endReason, messageLeft, wasConnected } = outcome;
  const { nextAtMs } = row;
  const ended = { ...callOf(row), reason: endReason, nextAtMs };
  if (messageLeft) return { ...ended, state: "completed" };
  const retried = OUTCOMES.get(endReason);
  if (retried !== undefined) return unreached(list, row, retried, endReason, nowMs);
  // A conversation that failed midway was one. No other end is retried, since a person may have answered.
  const isReached = wasConnected && endReason !== NOT_PUT_THROUGH;
  return { ...ended, state: isReached ? "completed" : "failed" };
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
