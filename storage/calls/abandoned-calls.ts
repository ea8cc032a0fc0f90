import { type Kysely, type Selectable, sql } from "kysely";
import { analysisJob, summaryJob } from "../jobs/job-record.js";
import { jobInsert } from "../jobs/job-store.js";
import type { AtomicRequests } from "../statements/atomic-requests.js";
import { writeJson } from "../statements/json-column.js";
import type { Tables } from "../tables.js";
import type { EventOutbox } from "../webhooks/event-outbox.js";
import { newEvent, terminalEventId } from "../webhooks/event-record.js";
import { jobInsertWhereAnalyzed } from "./call-analyses.js";
import { addUsage } from "./usage-store.js";

/** Closed at a time, so that a crash with many calls does not become one long request. */
const CALLS_PER_STEP = 100;

const SERVER_STOPPED = "server stopped during the call";
const PROCESS_ENDED = "a process of the server ended during the call";
const NODE_LOST = "the server that had the call was lost";
const END_LOST = "the end of the call was lost";

/** Says whether a call's stored `endReason` is one of those that it got here. */
export function isAbandoned(endReason: string): boolean {
  return [SERVER_STOPPED, PROCESS_ENDED, NODE_LOST, END_LOST].includes(endReason);
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
> & { readonly heartbeatAtMs: number | null; readonly uptimeMs: number | null };

interface ClosingStore {
  readonly db: Kysely<Tables>;
  readonly atomic: AtomicRequests;
  readonly outbox: EventOutbox;
}

/**
 * Closes the calls that other runs of the server have left `active`, and says how many. Each ends at its last sign of
 * life: its start, its last saved turn or the last heartbeat of its run, by the run's own clock, which was never set.
 * Then the other runs are forgotten.
 */
export function closeAbandonedCalls(
  store: ClosingStore,
  runId: string,
  nowMs: number,
): Promise<number> {
  return closeRuns(store, { comparison: "!=", runId, endReason: SERVER_STOPPED }, nowMs);
}

/** As `closeAbandonedCalls`, of one run that has died while its server lives. */
export function closeCallsOfRun(
  store: ClosingStore,
  runId: string,
  nowMs: number,
): Promise<number> {
  return closeRuns(store, { comparison: "=", runId, endReason: PROCESS_ENDED }, nowMs);
}

/** As `closeCallsOfRun`, of a run of another server of this database. */
export function closeCallsOfLostNode(
  store: ClosingStore,
  runId: string,
  nowMs: number,
): Promise<number> {
  return closeRuns(store, { comparison: "=", runId, endReason: NODE_LOST }, nowMs);
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
  // A run is only remembered for the calls that it has left.
  await store.db.deleteFrom("runs").where("id", comparison, runId).execute();
  return closed;
}

/** Closes these calls, of a run that lives: each ends at its last saved turn. Says how many had not ended meanwhile. */
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
    closed += await closeAll(store, silent, END_LOST, nowMs);
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
        "runs.heartbeatAtMs",
        "runs.uptimeMs",
      ])
      // Written out, not as a parameter: only then does SQLite see that the index of calls in progress serves.
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

/** False when the call has ended in the meantime. */
function close(
  { db, atomic, outbox }: ClosingStore,
  call: AbandonedCall,
  endReason: string,
  nowMs: number,
): Promise<boolean> {
  const endedAtMs = endOf(call, nowMs);
  const durationSec = (endedAtMs - call.startedAtMs) / 1000;
  const end = db
    .updateTable("calls")
    .set({
      status: "failed",
      endedAtMs,
      durationSec,
      metadata: sql<string>`json_patch(${sql.ref("metadata")}, ${writeJson({ endReason })})`,
    })
    .where("id", "=", call.id)
    .where("status", "=", "active");
  const usage = addUsage(db, {
    orgId: call.orgId,
    date: new Date(endedAtMs).toISOString().slice(0, 10),
    calls: 1,
    minutes: durationSec / 60,
    ttsChars: call.ttsChars,
    llmTokens: call.totalTokens,
    // The caller's audio goes to the vendor for as long as the call lasts.
    sttSeconds: durationSec,
  });
  const { agentId, channel, direction, fromNumber: from, toNumber: to } = call;
  const event = newEvent({
    id: terminalEventId(call.id),
    orgId: call.orgId,
    type: "call.failed",
    callId: call.id,
    atMs: endedAtMs,
    data: {
      agentId,
      channel,
      direction,
      from,
      to,
      startedAt: new Date(call.startedAtMs).toISOString(),
      endedAt: new Date(endedAtMs).toISOString(),
      durationSec,
      endReason,
      isRefused: false,
      metrics: null,
    },
  });
  const summary = jobInsert(db, summaryJob(call.orgId, call.id, nowMs));
  const analysis = jobInsertWhereAnalyzed(db, analysisJob(call.orgId, call.id, nowMs), agentId);
  return atomic.runIf(end, [usage, ...outbox.statements(event), summary, analysis]);
}

function endOf(call: AbandonedCall, nowMs: number): number {
  const { startedAtMs, beganUptimeMs, lastSavedAtMs, heartbeatAtMs, uptimeMs } = call;
  if (beganUptimeMs !== null && uptimeMs !== null) {
    return Math.max(startedAtMs, startedAtMs + (uptimeMs - beganUptimeMs), lastSavedAtMs);
  }
  // Only the machine's clock is known: set back in between, it must not give an end in the future, or before the start.
  const lastSignMs = Math.max(lastSavedAtMs, heartbeatAtMs ?? 0);
  return Math.max(startedAtMs, Math.min(lastSignMs, nowMs));
}
