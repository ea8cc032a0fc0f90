import type { Database } from "../../storage/database.js";
import type { JsonObject } from "../../storage/records.js";
import { WAIT_PARTS, type WaitPart } from "../session/effects.js";
import { utcDate } from "../time/utc-date.js";

/** A day in UTC; without replies nothing is known of it. */
export interface DailyWaits {
  readonly date: string;
  readonly turns: number;
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
  /** The median of each part. They do not sum up to the median of the whole. */
  readonly parts: Readonly<Record<WaitPart, number>> | null;
}

/** Their turns are read and sorted in one go, on the thread that calls share. */
const CALLS_PER_READ = 50;
/** The latest so many: of a busier organization they are a fair sample of its last days. */
export const WAITS_CALLS_MAX = 2_000;

interface Wait {
  readonly date: string;
  readonly totalMs: number;
  readonly parts: readonly number[];
}

/** How long callers waited for replies: one entry for each of the days, which are given as `2026-01-31`. */
export async function dailyWaits(
  calls: Pick<Database["calls"], "turnsSince">,
  orgId: string,
  dates: readonly string[],
): Promise<readonly DailyWaits[]> {
  const waitsByDate = new Map<string, Wait[]>(dates.map((date) => [date, []]));
  const sinceMs = Date.parse(dates[0] ?? "");
  for (let skipCalls = 0; skipCalls < WAITS_CALLS_MAX; skipCalls += CALLS_PER_READ) {
    const turns = await calls.turnsSince(orgId, { sinceMs, skipCalls, calls: CALLS_PER_READ });
    if (turns.length === 0) break;
    for (const { startedAtMs, turn } of turns) {
      const wait = waitOf(startedAtMs, turn);
      if (wait !== undefined) waitsByDate.get(wait.date)?.push(wait);
    }
  }
  return Array.from(waitsByDate, ([date, waits]) => dayOf(date, waits));
}

function waitOf(startedAtMs: number, turn: JsonObject): Wait | undefined {
  const totalMs = turn["totalMs"];
  if (typeof totalMs !== "number") return undefined;
  const parts = WAIT_PARTS.map((part) => Number(turn[part] ?? 0));
  return { date: utcDate(startedAtMs), totalMs, parts };
}

function dayOf(date: string, waits: readonly Wait[]): DailyWaits {
  if (waits.length === 0) return { date, turns: 0, p50Ms: null, p95Ms: null, parts: null };
  const totals = waits.map(({ totalMs }) => totalMs);
  const medianOf = (index: number) =>
    percentile(
      waits.map(({ parts }) => parts[index] ?? 0),
      0.5,
    );
  return {
    date,
    turns: waits.length,
    p50Ms: percentile(totals, 0.5),
    p95Ms: percentile(totals, 0.95),
    parts: {
      sttMs: medianOf(0),
      llmFirstTokenMs: medianOf(1),
      llmSentenceMs: medianOf(2),
      ttsFirstByteMs: medianOf(3),
      ttsRestMs: medianOf(4),
    },
  };
}

/** The smallest value that so large a share does not exceed. */
function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
}
