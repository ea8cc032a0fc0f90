import type { Kysely } from "kysely";
import type { CallRecord } from "../records.js";
import type { AtomicRequests } from "../statements/atomic-requests.js";
import type { Tables } from "../tables.js";
import {
  CALLS_PER_SEARCH,
  type CallPage,
  type CallSieve,
  callCount,
  countedPage,
  SEARCHED_CALLS_MAX,
  SIEVED_CALLS_MAX,
  searchedCalls,
  sievedCalls,
} from "./call-queries.js";
import { recordOf } from "./call-rows.js";

export interface CallList {
  readonly items: CallRecord[];
  /** How many records all pages hold together. */
  readonly total: number;
}

/** Newest first, without transcripts and turns. */
export async function listCalls(
  db: Kysely<Tables>,
  atomic: AtomicRequests,
  orgId: string,
  page: CallPage,
): Promise<CallList> {
  const { sieve } = page;
  if (sieve?.words !== undefined) return searched(db, orgId, page, sieve, sieve.words);
  if (sieve !== undefined) return sieved(db, atomic, orgId, page, sieve);
  const rows = await countedPage(db, orgId, page).execute();
  const [first] = rows;
  // No row tells it: there is no call, or none on this page.
  const total = first?.total ?? (await callCount(db, orgId, page).executeTakeFirst())?.count ?? 0;
  return { items: rows.map(recordOf), total };
}

async function sieved(
  db: Kysely<Tables>,
  atomic: AtomicRequests,
  orgId: string,
  page: CallPage,
  sieve: CallSieve,
): Promise<CallList> {
  const latest = { ...page, skip: 0, limit: SIEVED_CALLS_MAX };
  const found = sievedCalls(db, orgId, latest, sieve);
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

/** Piece by piece: what is stored meanwhile does not wait for all that was ever said to be read. */
async function searched(
  db: Kysely<Tables>,
  orgId: string,
  page: CallPage,
  sieve: CallSieve,
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
