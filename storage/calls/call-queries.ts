import { type Kysely, sql } from "kysely";
import type { CallChannel, CallRecord, CallStatus } from "../records.js";
import type { AtomicRequests } from "../statements/atomic-requests.js";
import { isLike, wordPatterns } from "../statements/word-pattern.js";
import type { Tables } from "../tables.js";
import { analysisFieldLine, recordOf } from "./call-rows.js";

export interface CallFilter {
  readonly agentId?: string;
  readonly status?: CallStatus;
}

/** Filters without an index: they apply to an organization's latest calls, so that no query takes long. */
export interface CallRowFilter {
  /** The calling number; an index lists its latest calls. */
  readonly from?: string;
  /** Like `from`, but the called number. */
  readonly to?: string;
  readonly direction?: "inbound" | "outbound" | "web";
  /** The call began at this time or later; the index of the list has calls in this order. */
  readonly startedFromMs?: number;
  /** The call began before this time. */
  readonly startedBeforeMs?: number;
  readonly channel?: CallChannel;
  /** In seconds. */
  readonly longerThanSec?: number;
  /** In milliseconds; the mean wait of the call. */
  readonly waitedMoreThanMs?: number;
  /** Text that the caller or the agent said, case-insensitive. */
  readonly words?: string;
  readonly attention?: AttentionSigns;
  readonly analysisStatus?: "completed" | "failed";
  readonly analysisSuccess?: boolean;
  /** A plain top-level field of the analysis's data, and its value as text. */
  readonly analysisField?: { readonly name: string; readonly value: string };
}

/** A call needs attention if it failed, or shows one of these. */
export interface AttentionSigns {
  readonly interruptionsMin: number;
  /** In milliseconds; the mean wait of the call. */
  readonly waitMinMs: number;
  /** Fields that only the metadata of such calls contains. */
  readonly fields: readonly string[];
  /** A value that only the metadata of such calls contains. */
  readonly value: string;
}

export interface CallPage extends CallFilter {
  readonly sieve?: CallRowFilter;
  readonly skip: number;
  readonly limit: number;
}

export interface CallStats {
  readonly totalCalls: number;
  readonly activeCalls: number;
  readonly totalMinutes: number;
  /** The mean over the calls that have ended; 0 if none has. */
  readonly avgDurationSec: number;
}

/** Returns the newest first. Each combination of filters has an index that gives its calls in this order. */
function callPage(db: Kysely<Tables>, orgId: string, page: CallPage) {
  let query = db.selectFrom("calls").selectAll().where("orgId", "=", orgId);
  if (page.agentId !== undefined) query = query.where("agentId", "=", page.agentId);
  if (page.status !== undefined) query = query.where("status", "=", page.status);
  return query
    .orderBy("startedAtMs", "desc")
    .orderBy("sequence", "desc")
    .limit(page.limit)
    .offset(page.skip);
}

/** The latest calls within the filter's time, and of its number if it has one. */
function latestCalls(
  db: Kysely<Tables>,
  orgId: string,
  page: CallPage,
  { from, to, startedFromMs, startedBeforeMs }: CallRowFilter,
) {
  const { skip, limit } = page;
  const isOfNumber = from !== undefined || to !== undefined;
  let query = callPage(db, orgId, isOfNumber ? { skip, limit } : page);
  if (startedFromMs !== undefined) query = query.where("startedAtMs", ">=", startedFromMs);
  if (startedBeforeMs !== undefined) query = query.where("startedAtMs", "<", startedBeforeMs);
  if (from !== undefined) return query.where("fromNumber", "=", from);
  return to === undefined ? query : query.where("toNumber", "=", to);
}

/** Like `callPage`, with the total number of records in each row: one statement is one round trip. */
export function countedPage(db: Kysely<Tables>, orgId: string, page: CallPage) {
  return callPage(db, orgId, page).select(callCount(db, orgId, page).as("total"));
}

/** The number of latest calls that a filter searches. */
export const FILTERED_CALLS_MAX = 10_000;
/** The limit for a search in transcripts is lower, because all of them are read. */
export const SEARCHED_CALLS_MAX = 2_000;
/** Calls searched in one step; other requests are served between steps. Measured: 10 ms for calls of 40 messages. */
export const CALLS_PER_SEARCH = 250;

/** Returns the newest first, among the latest calls up to a limit. */
export function filteredCalls(
  db: Kysely<Tables>,
  orgId: string,
  page: CallPage,
  sieve: Omit<CallRowFilter, "words">,
) {
  const { channel, longerThanSec, waitedMoreThanMs, attention } = sieve;
  const { from, to, direction } = sieve;
  let query = db.selectFrom(latestCalls(db, orgId, page, sieve).as("latest"));
  if (from !== undefined && to !== undefined) query = query.where("toNumber", "=", to);
  if (from !== undefined || to !== undefined) {
    // No index combines a number with agent or status, so both filter the calls of the number.
    if (page.agentId !== undefined) query = query.where("agentId", "=", page.agentId);
    if (page.status !== undefined) query = query.where("status", "=", page.status);
  }
  if (direction === "web") query = query.where("channel", "=", "web");
  else if (direction !== undefined) query = query.where("direction", "=", direction);
  if (channel !== undefined) query = query.where("channel", "=", channel);
  if (longerThanSec !== undefined) query = query.where("durationSec", ">", longerThanSec);
  if (waitedMoreThanMs !== undefined) query = query.where("avgLatencyMs", ">", waitedMoreThanMs);
  const { analysisStatus, analysisSuccess, analysisField } = sieve;
  if (analysisStatus !== undefined) query = query.where("analysisStatus", "=", analysisStatus);
  if (analysisSuccess !== undefined) {
    query = query.where("analysisSuccess", "=", Number(analysisSuccess));
  }
  if (analysisField !== undefined) {
    const line = `\n${analysisFieldLine(analysisField.name, analysisField.value)}\n`;
    // Unlike a `like` pattern, this comparison is case-sensitive in both databases.
    query = query.where(sql<boolean>`replace(${sql.ref("analysisFields")}, ${line}, '') <>
      ${sql.ref("analysisFields")}`);
  }
  if (attention !== undefined) {
    query = query.where((its) =>
      its.or([
        its("status", "=", "failed"),
        its("interruptions", ">=", attention.interruptionsMin),
        its("avgLatencyMs", ">=", attention.waitMinMs),
        ...attention.fields.flatMap((field) => [
          its("metadata", "like", `%"${field}":%`),
          // The format in which PostgreSQL writes merged JSON.
          its("metadata", "like", `%"${field}" :%`),
        ]),
        its("metadata", "like", `%"${attention.value}"%`),
      ]),
    );
  }
  return query;
}

/** Returns the ids of the calls whose transcripts contain the text. */
export function searchedCalls(
  db: Kysely<Tables>,
  orgId: string,
  page: CallPage,
  sieve: CallRowFilter & { readonly words: string },
) {
  const patterns = wordPatterns(sieve.words);
  return filteredCalls(db, orgId, page, sieve)
    .where((its) =>
      its.exists(
        its
          .selectFrom("transcriptMessages")
          .select("transcriptMessages.sequence")
          .whereRef("transcriptMessages.callId", "=", "latest.id")
          .where((said) =>
            said.or(patterns.map((pattern) => isLike("transcriptMessages.text", pattern))),
          ),
      ),
    )
    .select("latest.id")
    .orderBy("startedAtMs", "desc")
    .orderBy("latest.sequence", "desc");
}

/**
 * Returns the turns of the latest calls since then, up to a limit, each with its call's start. A call without turns is
 * one row, too. Arguments and results of tools are not read: they are far larger than the rest of a turn.
 */
export function turnsSince(
  db: Kysely<Tables>,
  orgId: string,
  page: { readonly sinceMs: number; readonly skipCalls: number; readonly calls: number },
) {
  const calls = db
    .selectFrom("calls")
    .select(["id", "startedAtMs", "sequence"])
    .where("orgId", "=", orgId)
    .where("startedAtMs", ">=", page.sinceMs)
    .orderBy("startedAtMs", "desc")
    .orderBy("sequence", "desc")
    .limit(page.calls)
    .offset(page.skipCalls);
  return db
    .selectFrom(calls.as("page"))
    .leftJoin("callTurns", "callTurns.callId", "page.id")
    .select(["page.id as callId", "page.startedAtMs", withoutTools.as("turn")])
    .orderBy("page.startedAtMs", "desc")
    .orderBy("page.sequence", "desc")
    .orderBy("callTurns.sequence");
}

const withoutTools = sql<string | null>`case when ${sql.ref("callTurns.turn")} like '%"tools":[%'
  then json_patch(${sql.ref("callTurns.turn")}, '{"tools":null}') else ${sql.ref("callTurns.turn")} end`;

/** Sums a few stored totals (see the first migration), so the number of calls does not matter. */
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

export interface CallList {
  readonly items: CallRecord[];
  /** The number of records on all pages. */
  readonly total: number;
}

/** Returns the newest first, without transcripts and turns. */
export async function listCalls(
  db: Kysely<Tables>,
  atomic: AtomicRequests,
  orgId: string,
  page: CallPage,
): Promise<CallList> {
  const { sieve } = page;
  if (sieve?.words !== undefined) return searched(db, orgId, page, sieve, sieve.words);
  if (sieve !== undefined) return filtered(db, atomic, orgId, page, sieve);
  const rows = await countedPage(db, orgId, page).execute();
  const [first] = rows;
  // No row contains the total: there is no call, or none on this page.
  const total = first?.total ?? (await callCount(db, orgId, page).executeTakeFirst())?.count ?? 0;
  return { items: rows.map(recordOf), total };
}

async function filtered(
  db: Kysely<Tables>,
  atomic: AtomicRequests,
  orgId: string,
  page: CallPage,
  sieve: CallRowFilter,
): Promise<CallList> {
  const latest = { ...page, skip: 0, limit: FILTERED_CALLS_MAX };
  const found = filteredCalls(db, orgId, latest, sieve);
  const [calls, totals] = await atomic.run([
    found
      .selectAll()
      .orderBy("startedAtMs", "desc")
      .orderBy("sequence", "desc")
      .limit(page.limit)
      .offset(page.skip),
    found.select(({ fn }) => fn.countAll<number>().as("count")),
  ]);
  return { items: calls.rows.map(recordOf), total: Number(totals.rows[0]?.count ?? 0) };
}

/** Searches in steps, so that a write does not wait until all transcripts are read. */
async function searched(
  db: Kysely<Tables>,
  orgId: string,
  page: CallPage,
  sieve: CallRowFilter,
  words: string,
): Promise<CallList> {
  const found: string[] = [];
  const limit = CALLS_PER_SEARCH;
  for (let skip = 0; skip < SEARCHED_CALLS_MAX; skip += limit) {
    const piece = { ...page, skip, limit };
    const rows = await searchedCalls(db, orgId, piece, { ...sieve, words }).execute();
    found.push(...rows.map(({ id }) => id));
  }
  const ids = found.slice(page.skip, page.skip + page.limit);
  if (ids.length === 0) return { items: [], total: found.length };
  const calls = await db.selectFrom("calls").selectAll().where("id", "in", ids).execute();
  const items = calls.map(recordOf).sort((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id));
  return { items, total: found.length };
}
