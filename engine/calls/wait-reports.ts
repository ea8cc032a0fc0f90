import type { JsonObject } from "../../storage/records.js";
import { WAIT_PARTS, type WaitPart } from "../conversation/effects.js";
import { utcDate } from "../time/utc-date.js";
import { latestTurns, type TurnsOfCalls } from "./latest-turns.js";

/** A day in UTC; without replies nothing is known of it. */
export interface DailyWaits {
  readonly date: string;
  readonly turns: number;
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
  /** The median of each part. They do not sum up to the median of the whole. */
  readonly parts: Readonly<Record<WaitPart, number>> | null;
  /** As `parts`: what 95 % of the replies stayed within. */
  readonly p95Parts: Readonly<Record<WaitPart, number>> | null;
}

interface Wait {
  readonly date: string;
  readonly totalMs: number;
  readonly parts: readonly number[];
}

/** How long callers waited for replies: one entry for each of the days, which are given as `2026-01-31`. */
export async function dailyWaits(
  calls: TurnsOfCalls,
  orgId: string,
  dates: readonly string[],
): Promise<readonly DailyWaits[]> {
  const waitsByDate = new Map<string, Wait[]>(dates.map((date) => [date, []]));
  const sinceMs = Date.parse(dates[0] ?? "");
  for await (const { startedAtMs, turn } of latestTurns(calls, orgId, sinceMs)) {
    const wait = waitOf(startedAtMs, turn);
    if (wait !== undefined) waitsByDate.get(wait.date)?.push(wait);
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
  if (waits.length === 0) {
    return { date, turns: 0, p50Ms: null, p95Ms: null, parts: null, p95Parts: null };
  }
  const totals = waits.map(({ totalMs }) => totalMs);
  return {
    date,
    turns: waits.length,
    p50Ms: percentile(totals, 0.5),
    p95Ms: percentile(totals, 0.95),
    parts: partsWithin(waits, 0.5),
    p95Parts: partsWithin(waits, 0.95),
  };
}

function partsWithin(waits: readonly Wait[], share: number): Record<WaitPart, number> {
  const within = (index: number) =>
    percentile(
      waits.map(({ parts }) => parts[index] ?? 0),
      share,
    );
  return {
    sttMs: within(0),
    llmFirstTokenMs: within(1),
    llmSentenceMs: within(2),
    ttsFirstByteMs: within(3),
    ttsRestMs: within(4),
  };
}

/** The smallest value that so large a share does not exceed. */
function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
}
