import { type Kysely, sql } from "kysely";
import type { CallChannel, CallStatus } from "./records.js";
import type { Tables } from "./tables.js";

export interface CallFilter {
  readonly agentId?: string;
  readonly status?: CallStatus;
}

/** What no index gives: it is looked for among an organization's latest calls, so that no question takes long. */
export interface CallSieve {
  readonly channel?: CallChannel;
  /** In seconds. */
  readonly longerThanSec?: number;
  /** In milliseconds; the mean wait of the call. */
  readonly waitedMoreThanMs?: number;
  /** Failed, or interrupted so often, or waited for so long on average. */
  readonly attention?: { readonly interruptionsMin: number; readonly waitMinMs: number };
}

export interface CallPage extends CallFilter {
  readonly sieve?: CallSieve;
  readonly skip: number;
  readonly limit: number;
}

export interface CallStats {
  readonly totalCalls: number;
  readonly activeCalls: number;
  readonly totalMinutes: number;
  /** Mean over the calls that have ended; 0 when none has. */
  readonly avgDurationSec: number;
}

/** Newest first. Each combination of filters has an index that gives its calls in this order. */
export function callPage(db: Kysely<Tables>, orgId: string, page: CallPage) {
  let query = db.selectFrom("calls").selectAll().where("orgId", "=", orgId);
  if (page.agentId !== undefined) query = query.where("agentId", "=", page.agentId);
  if (page.status !== undefined) query = query.where("status", "=", page.status);
  return query
    .orderBy("startedAtMs", "desc")
    .orderBy("sequence", "desc")
    .limit(page.limit)
    .offset(page.skip);
}

/** So many of the latest calls are looked through with a sieve. */
export const SIEVED_CALLS_MAX = 10_000;

/** Newest first, of the latest calls alone. */
export function sievedCalls(db: Kysely<Tables>, orgId: string, page: CallPage, sieve: CallSieve) {
  const latest = callPage(db, orgId, { ...page, skip: 0, limit: SIEVED_CALLS_MAX });
  let query = db.selectFrom(latest.as("latest"));
  const { channel, longerThanSec, waitedMoreThanMs, attention } = sieve;
  if (channel !== undefined) query = query.where("channel", "=", channel);
  if (longerThanSec !== undefined) query = query.where("durationSec", ">", longerThanSec);
  if (waitedMoreThanMs !== undefined) query = query.where("avgLatencyMs", ">", waitedMoreThanMs);
  if (attention !== undefined) {
    query = query.where((its) =>
      its.or([
        its("status", "=", "failed"),
        its("interruptions", ">=", attention.interruptionsMin),
        its("avgLatencyMs", ">=", attention.waitMinMs),
      ]),
    );
  }
  return query;
}

/** The turns of so many calls that began since then, each with the moment at which its call began; a call without turns is one row, too. */
export function turnsSince(
  db: Kysely<Tables>,
  orgId: string,
  page: { readonly sinceMs: number; readonly skipCalls: number; readonly calls: number },
) {
  const calls = db
    .selectFrom("calls")
    .select(["id", "startedAtMs"])
    .where("orgId", "=", orgId)
    .where("startedAtMs", ">=", page.sinceMs)
    .orderBy("startedAtMs", "desc")
    .orderBy("sequence", "desc")
    .limit(page.calls)
    .offset(page.skipCalls);
  return db
    .selectFrom(calls.as("page"))
    .leftJoin("callTurns", "callTurns.callId", "page.id")
    .select(["page.startedAtMs", "callTurns.turn"]);
}

/** The sum of a few kept totals (see the first migration), however many calls there are. */
export function callCount(db: Kysely<Tables>, orgId: string, filter: CallFilter) {
  let query = db
    .selectFrom("callTotals")
    .select(sql<number>`coalesce(sum(${sql.ref("calls")}), 0)`.as("count"))
    .where("orgId", "=", orgId);
  if (filter.agentId !== undefined) query = query.where("agentId", "=", filter.agentId);
  if (filter.status !== undefined) query = query.where("status", "=", filter.status);
  return query;
}

export async function callStats(db: Kysely<Tables>, orgId: string): Promise<CallStats> {
  const totals = await db
    .selectFrom("callTotals")
    .select((select) => [
      "status",
      select.fn.sum<number>("calls").as("calls"),
      select.fn.sum<number>("durationSec").as("durationSec"),
    ])
    .where("orgId", "=", orgId)
    .groupBy("status")
    .execute();
  const totalCalls = totals.reduce((sum, { calls }) => sum + calls, 0);
  const activeCalls = totals.find(({ status }) => status === "active")?.calls ?? 0;
  const durationSec = totals.reduce((sum, total) => sum + total.durationSec, 0);
  const endedCalls = totalCalls - activeCalls;
  return {
    totalCalls,
    activeCalls,
    totalMinutes: durationSec / 60,
    avgDurationSec: endedCalls === 0 ? 0 : durationSec / endedCalls,
  };
}
