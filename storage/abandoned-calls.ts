import { type Kysely, type Selectable, sql } from "kysely";
import type { AtomicRequests } from "./atomic-requests.js";
import { writeJson } from "./json-column.js";
import type { CallRow, Tables } from "./tables.js";
import { addUsage } from "./usage-store.js";

/** Closed at a time, so that a crash with many calls does not become one long request. */
const CALLS_PER_STEP = 100;

const END_REASON = "server stopped during the call";

type AbandonedCall = Pick<
  Selectable<CallRow>,
  "id" | "orgId" | "startedAtMs" | "lastSavedAtMs" | "ttsChars" | "totalTokens"
> & { readonly heartbeatAtMs: number | null };

/**
 * Closes the calls that other runs of the server have left `active`, and says how many. Each ends at its last sign of
 * life: its start, its last saved turn or the last heartbeat of its run. Then the other runs are forgotten.
 */
export async function closeAbandonedCalls(
  db: Kysely<Tables>,
  atomic: AtomicRequests,
  runId: string,
  nowMs: number,
): Promise<number> {
  let closed = 0;
  for (;;) {
    const calls = await abandonedCalls(db, runId);
    if (calls.length === 0) break;
    const outcomes = await Promise.all(calls.map((call) => close(db, atomic, call, nowMs)));
    closed += outcomes.filter((outcome) => outcome).length;
  }
  // A run is only remembered for the calls that it has left.
  await db.deleteFrom("runs").where("id", "!=", runId).execute();
  return closed;
}

function abandonedCalls(db: Kysely<Tables>, runId: string): Promise<AbandonedCall[]> {
  return (
    db
      .selectFrom("calls")
      .leftJoin("runs", "runs.id", "calls.runId")
      .select([
        "calls.id",
        "calls.orgId",
        "calls.startedAtMs",
        "calls.lastSavedAtMs",
        "calls.ttsChars",
        "calls.totalTokens",
        "runs.heartbeatAtMs",
      ])
      // Written out, not as a parameter: only then does SQLite see that the index of calls in progress serves.
      .where("calls.status", "=", sql.lit("active" as const))
      .where("calls.runId", "!=", runId)
      .limit(CALLS_PER_STEP)
      .execute()
  );
}

/** False when the call has ended in the meantime. */
function close(
  db: Kysely<Tables>,
  atomic: AtomicRequests,
  call: AbandonedCall,
  nowMs: number,
): Promise<boolean> {
  const lastSignMs = Math.max(call.lastSavedAtMs, call.heartbeatAtMs ?? 0);
  // A clock that was set back in between must not give a call that ends in the future, or before its start.
  const endedAtMs = Math.max(call.startedAtMs, Math.min(lastSignMs, nowMs));
  const durationSec = (endedAtMs - call.startedAtMs) / 1000;
  const end = db
    .updateTable("calls")
    .set({
      status: "failed",
      endedAtMs,
      durationSec,
      metadata: sql<string>`json_patch(${sql.ref("metadata")}, ${writeJson({ endReason: END_REASON })})`,
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
  return atomic.runIf(end, [usage]);
}
