import { type Kysely, sql } from "kysely";
import type { CallStatus } from "./records.js";
import type { Tables } from "./tables.js";

export interface CallFilter {
  readonly agentId?: string;
  readonly status?: CallStatus;
}

export interface CallPage extends CallFilter {
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
