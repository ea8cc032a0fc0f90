import { type Kysely, type Selectable, sql } from "kysely";
import * as v from "valibot";
import { analysisJob, placedCallQueue, summaryJob } from "../jobs/job-record.js";
import { jobInsert, jobsDueNow } from "../jobs/job-store.js";
import type { CallRecord } from "../records.js";
import type { AtomicRequests } from "../statements/atomic-requests.js";
import { readJson, writeJson } from "../statements/json-column.js";
import type { Tables } from "../tables.js";
import type { EventOutbox } from "../webhooks/event-outbox.js";
import { type NewEvent, newEvent, terminalEventId } from "../webhooks/event-record.js";
import { jobInsertWhereAnalyzed } from "./call-analyses.js";
import { rowOf } from "./call-rows.js";
import { addUsage } from "./usage-store.js";

/** Calls closed at a time, so that a crash with many calls does not become one long request. */
const CALLS_PER_STEP = 100;

const SERVER_STOPPED = "server stopped during the call";
const PROCESS_ENDED = "a process of the server ended during the call";
const NODE_DIED = "the server that had the call was lost";
const END_UNKNOWN = "the end of the call was lost";
const DIED_WHILE_RINGING = "the server stopped before the placed call reached its agent";

/** The outcome of a placed call that was lost, in the words of the calls that end. */
const FAILED = "failed";

/** Whether a call's stored `endReason` is one of those that this file sets. */
export function isAbandoned(endReason: string): boolean {
  return [SERVER_STOPPED, PROCESS_ENDED, NODE_DIED, END_UNKNOWN, DIED_WHILE_RINGING].includes(
    endReason,
  );
}

type AbandonedCall = Pick<
  Selectable<Tables["calls"]>,
  | "id"
  | "orgId"
  | "agentId"
  | "channel"
  | "direction"
  | "fromNumber"
  | "toNumber"
  | "startedAtMs"
  | "beganUptimeMs"
  | "lastSavedAtMs"
  | "ttsChars"
  | "totalTokens"
  | "metadata"
> & { readonly heartbeatAtMs: number | null; readonly uptimeMs: number | null };

interface ClosingStore {
  readonly db: Kysely<Tables>;
  readonly atomic: AtomicRequests;
  readonly outbox: EventOutbox;
}

/**
 * Closes the calls that other runs of the server have left `active`, and returns their number. Each ends at its
 * last sign of life: its start, its last saved turn or the last heartbeat of its run, by the run's own monotonic
 * clock. Then the other runs are deleted.
 */
export function closeAbandonedCalls(
  store: ClosingStore,
  runId: string,
  nowMs: number,
): Promise<number> {
  return closeRuns(store, { comparison: "!=", runId, endReason: SERVER_STOPPED }, nowMs);
}

/** Like `closeAbandonedCalls`, for one run that has died while its server is alive. */
export function closeCallsOfRun(
  store: ClosingStore,
  runId: string,
  nowMs: number,
): Promise<number> {
  return closeRuns(store, { comparison: "=", runId, endReason: PROCESS_ENDED }, nowMs);
}

/** Like `closeCallsOfRun`, for a run of another server of this database. */
export function closeCallsOfLostNode(
  store: ClosingStore,
  runId: string,
  nowMs: number,
): Promise<number> {
  return closeRuns(store, { comparison: "=", runId, endReason: NODE_DIED }, nowMs);
}

interface DeadRuns {
  readonly comparison: "=" | "!=";
  readonly runId: string;
  readonly endReason: string;
}

async function closeRuns(
  store: ClosingStore,
  { comparison, runId, endReason }: DeadRuns,
  nowMs: number,
): Promise<number> {
  let closed = 0;
  for (;;) {
    const calls = await activeCalls(store.db).where("calls.runId", comparison, runId).execute();
    if (calls.length === 0) break;
    closed += await closeAll(store, calls, endReason, nowMs);
  }
  await failPlacedCallsOfLostNode(store.db, { comparison, runId }, nowMs);
  // A run's row is kept only as long as it has calls to close.
  await store.db.deleteFrom("runs").where("id", comparison, runId).execute();
  return closed;
}

/** Calls that these runs have placed and that have no record become due at once: their jobs record them as failed. */
async function failPlacedCallsOfLostNode(
  db: Kysely<Tables>,
  { comparison, runId }: Pick<DeadRuns, "comparison" | "runId">,
  nowMs: number,
): Promise<void> {
  const queue = placedCallQueue(runId);
  const queues =
    comparison === "="
      ? // No other queue's name lies between these two.
        { from: queue, before: `${queue}\u0001` }
      : { from: placedCallQueue(""), before: "placedCall;", except: queue };
  await jobsDueNow(db, queues, nowMs).execute();
}

/** Records a placed call without a record as failed. Returns false if the call already has a record. */
export function closePlacedCall(
  { db, atomic, outbox }: ClosingStore,
  call: CallRecord,
  runId: string,
): Promise<boolean> {
  const { id, orgId, startedAtMs: endedAtMs } = call;
  const endReason = DIED_WHILE_RINGING;
  const row = rowOf(
    {
      ...call,
      status: "failed",
      endedAtMs,
      durationSec: 0,
      metadata: { ...call.metadata, endReason, outcome: FAILED },
    },
    runId,
    null,
  );
  const begin = db
    .insertInto("calls")
    .values(row)
    .onConflict((conflict) => conflict.doNothing());
  const usage = { calls: 1, minutes: 0, ttsChars: 0, llmTokens: 0, sttSeconds: 0 };
  const { direction = null, fromNumber = null, toNumber = null, ...facts } = row;
  const end = { ...facts, direction, fromNumber, toNumber, endedAtMs, durationSec: 0, endReason };
  return atomic.runIf(begin, [
    addUsage(db, { orgId, date: dateOf(endedAtMs), ...usage }),
    ...outbox.statements(failedEvent({ ...end, id, orgId })),
  ]);
}

/** Closes these calls of a live run: each ends at its last saved turn. Returns how many had not ended meanwhile. */
export async function closeLostCalls(
  store: ClosingStore,
  callIds: readonly string[],
  nowMs: number,
): Promise<number> {
  let closed = 0;
  for (let start = 0; start < callIds.length; start += CALLS_PER_STEP) {
    const step = callIds.slice(start, start + CALLS_PER_STEP);
    const calls = await activeCalls(store.db).where("calls.id", "in", step).execute();
    const silent = calls.map((call) => ({ ...call, heartbeatAtMs: null, uptimeMs: null }));
    closed += await closeAll(store, silent, END_UNKNOWN, nowMs);
  }
  return closed;
}

function activeCalls(db: Kysely<Tables>) {
  return (
    db
      .selectFrom("calls")
      .leftJoin("runs", "runs.id", "calls.runId")
      .select([
        "calls.id",
        "calls.orgId",
        "calls.agentId",
        "calls.channel",
        "calls.direction",
        "calls.fromNumber",
        "calls.toNumber",
        "calls.startedAtMs",
        "calls.beganUptimeMs",
        "calls.lastSavedAtMs",
        "calls.ttsChars",
        "calls.totalTokens",
        "calls.metadata",
        "runs.heartbeatAtMs",
        "runs.uptimeMs",
      ])
      // A literal, not a parameter: otherwise SQLite does not use the index of calls in progress.
      .where("calls.status", "=", sql.lit("active" as const))
      .limit(CALLS_PER_STEP)
  );
}

async function closeAll(
  store: ClosingStore,
  calls: readonly AbandonedCall[],
  endReason: string,
  nowMs: number,
): Promise<number> {
  const closings = calls.map((call) => close(store, call, endReason, nowMs));
  return (await Promise.all(closings)).filter((closed) => closed).length;
}

const WithTransfer = v.object({
  transfer: v.fallback(v.optional(v.object({ result: v.optional(v.string()) })), undefined),
});
const ORDERED_TRANSFER = "dialing";
const UNKNOWN_OUTCOME = { transfer: { result: "unknown" } };

/**
 * The run that was about to order this call's transfer has died, and whether the vendor got the order is not known. A report of the
 * vendor that arrives meanwhile stays.
 */
async function markOrderedTransfer(db: Kysely<Tables>, call: AbandonedCall): Promise<void> {
  const { transfer } = readJson("calls.metadata", WithTransfer, call.metadata);
  if (transfer?.result !== ORDERED_TRANSFER) return;
  await db
    .updateTable("calls")
    .set({
      metadata: sql<string>`json_patch(${sql.ref("metadata")}, ${writeJson(UNKNOWN_OUTCOME)})`,
    })
    .where("id", "=", call.id)
    .where("metadata", "=", call.metadata)
    .execute();
}

/** Returns false if the call has ended in the meantime. */
async function close(
  { db, atomic, outbox }: ClosingStore,
  call: AbandonedCall,
  endReason: string,
  nowMs: number,
): Promise<boolean> {
  await markOrderedTransfer(db, call);
  const endedAtMs = endOf(call, nowMs);
  const durationSec = (endedAtMs - call.startedAtMs) / 1000;
  const facts = { endReason, ...outcomeOf(call) };
  const end = db
    .updateTable("calls")
    .set({
      status: "failed",
      endedAtMs,
      durationSec,
      metadata: sql<string>`json_patch(${sql.ref("metadata")}, ${writeJson(facts)})`,
    })
    .where("id", "=", call.id)
    .where("status", "=", "active");
  const usage = addUsage(db, {
    orgId: call.orgId,
    date: dateOf(endedAtMs),
    calls: 1,
    minutes: durationSec / 60,
    ttsChars: call.ttsChars,
    llmTokens: call.totalTokens,
    // The whole call counts, since STT receives audio throughout it.
    sttSeconds: durationSec,
  });
  const event = failedEvent({ ...call, endedAtMs, durationSec, endReason });
  const summary = jobInsert(db, summaryJob(call.orgId, call.id, nowMs));
  const analysis = jobInsertWhereAnalyzed(
    db,
    analysisJob(call.orgId, call.id, nowMs),
    call.agentId,
  );
  return atomic.runIf(end, [usage, ...outbox.statements(event), summary, analysis]);
}

type FailedCall = Pick<
  AbandonedCall,
  "id" | "orgId" | "agentId" | "channel" | "direction" | "fromNumber" | "toNumber" | "startedAtMs"
> & { readonly endedAtMs: number; readonly durationSec: number; readonly endReason: string };

function failedEvent(call: FailedCall): NewEvent {
  const { id, orgId, agentId, channel, direction, fromNumber: from, toNumber: to } = call;
  const { startedAtMs, endedAtMs, durationSec, endReason } = call;
  return newEvent({
    id: terminalEventId(id),
    orgId,
    type: "call.failed",
    callId: id,
    atMs: endedAtMs,
    data: {
      agentId,
      channel,
      direction,
      from,
      to,
      startedAt: new Date(startedAtMs).toISOString(),
      endedAt: new Date(endedAtMs).toISOString(),
      durationSec,
      endReason,
      isRefused: false,
      ...outcomeOf(call),
      metrics: null,
    },
  });
}

/** Only placed calls have an outcome. */
function outcomeOf({ direction }: Pick<AbandonedCall, "direction">): { readonly outcome?: string } {
  return direction === "outbound" ? { outcome: FAILED } : {};
}

function dateOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10);
}

function endOf(call: AbandonedCall, nowMs: number): number {
  const { startedAtMs, beganUptimeMs, lastSavedAtMs, heartbeatAtMs, uptimeMs } = call;
  if (beganUptimeMs !== null && uptimeMs !== null) {
    return Math.max(startedAtMs, startedAtMs + (uptimeMs - beganUptimeMs), lastSavedAtMs);
  }
  // Without the run's monotonic clock, only the machine's clock is known: if it was set back in between, the end must
  // not be in the future, or before the start.
  const lastSignMs = Math.max(lastSavedAtMs, heartbeatAtMs ?? 0);
  return Math.max(startedAtMs, Math.min(lastSignMs, nowMs));
}
