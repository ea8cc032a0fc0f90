import type { AttentionSigns, CallRowFilter } from "../../storage/calls/call-queries.js";
import type { Database } from "../../storage/database.js";
import type { CallRecord, CallStatus, JsonObject, UsageRecord } from "../../storage/records.js";
import type { EndReason } from "../conversation/call-end.js";
import { WAIT_PARTS, type WaitPart } from "../conversation/effects.js";
import { RequestError } from "../request-error.js";
import { Semaphore } from "../security/semaphore.js";
import type { Clock } from "../time/clock.js";
import { utcDate } from "../time/utc-date.js";
import { EVERY_REPLY_FAILED, LONG_STT_OUTAGE, WAITED_FOR_LONG } from "./call-journal.js";
import { latestTurns, type TurnsOfCalls } from "./latest-turns.js";
import { type UsageShares, usageShares } from "./usage-shares.js";
import { type VendorShare, vendorShares } from "./vendor-shares.js";

/** A day in UTC; without replies its values are unknown. */
export interface DailyWaits {
  readonly date: string;
  readonly turns: number;
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
  /** The median of each part. They do not add up to the median of the whole. */
  readonly parts: Readonly<Record<WaitPart, number>> | null;
  /** As `parts`: what 95 % of the replies stayed within. */
  readonly p95Parts: Readonly<Record<WaitPart, number>> | null;
}

interface Wait {
  readonly date: string;
  readonly totalMs: number;
  readonly parts: readonly number[];
}

/** How long callers waited for replies: one entry per day, given as `2026-01-31`. */
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

/** The smallest value that is at least as large as this share of the values. */
function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
}

export interface CallFilter {
  readonly agentId?: string | undefined;
  readonly status?: CallStatus | undefined;
}

/** Additional filters for an organization's latest calls. */
export interface CallResultFilter {
  readonly channel?: "web" | "phone" | undefined;
  readonly longerThanSec?: number | undefined;
  readonly waitedMoreThanMs?: number | undefined;
  /** The calling and the called number. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly direction?: "inbound" | "outbound" | "web" | undefined;
  readonly startedFromMs?: number | undefined;
  readonly startedBeforeMs?: number | undefined;
  /** Said by either side. */
  readonly words?: string | undefined;
  /** Only calls that need attention. */
  readonly attention?: boolean | undefined;
  readonly analysisStatus?: "completed" | "failed" | undefined;
  readonly analysisSuccess?: boolean | undefined;
  readonly analysisField?: { readonly name: string; readonly value: string } | undefined;
}

export interface CallPage {
  /** The calls of the page, without transcripts. */
  readonly items: readonly CallRecord[];
  readonly total: number;
}

export interface CallStats {
  readonly totalCalls: number;
  readonly activeCalls: number;
  readonly activeAgents: number;
  readonly totalMinutes: number;
  readonly avgDurationSec: number;
}

export interface CallReportsOptions {
  readonly database: Pick<Database, "agents" | "calls" | "usage">;
  readonly clock: Clock;
}

/** Four: a hundredth of a second is more than that of a minute. */
const DECIMALS = 10_000;
/** Concurrent searches over all organizations: each has the store read all words of many calls. */
const SEARCHES_MAX = 4;
/**
 * Concurrent summaries over all organizations: each reads thousands of calls, piece by piece, on the threads that
 * calls share.
 */
const SUMMARIES_MAX = 2;
/** The last in the queue waits a few seconds. */
const SUMMARIES_WAITING_MAX = 32;
const NO_CALLER_WORDS: EndReason = "callerIdle";
const ATTENTION: AttentionSigns = {
  /** A caller who had to interrupt this often was not understood, or the agent talked for too long. */
  interruptionsMin: 4,
  /** With this average wait, callers ask whether the agent is still there. */
  waitMinMs: 2_500,
  fields: [LONG_STT_OUTAGE, EVERY_REPLY_FAILED, WAITED_FOR_LONG],
  value: NO_CALLER_WORDS,
};
const DAY_MS = 24 * 60 * 60 * 1_000;

/** Reports about an organization's calls. */
export class CallReports {
  readonly #database: CallReportsOptions["database"];
  readonly #clock: Clock;
  readonly #summaries = new Semaphore({
    runningMax: SUMMARIES_MAX,
    waitingMax: SUMMARIES_WAITING_MAX,
    refusal: "too many usage reports are in progress: try again in a moment",
    retryAfterSec: 2,
  });
  #searchCount = 0;

  constructor({ database, clock }: CallReportsOptions) {
    this.#database = database;
    this.#clock = clock;
  }

  /** Newest first. RequestError `rate_limited` if too many searches for words are running. */
  async list(
    orgId: string,
    {
      agentId,
      status,
      skip,
      limit,
      ...wish
    }: CallFilter & CallResultFilter & { readonly skip: number; readonly limit: number },
  ): Promise<CallPage> {
    const sieve = callRowFilterOf(wish);
    const narrowed = sieve === undefined ? {} : { sieve };
    const filter = { ...definedFilter({ agentId, status }), ...narrowed };
    const listing = () => this.#database.calls.list(orgId, { ...filter, skip, limit });
    return wish.words === undefined ? listing() : this.#searching(listing);
  }

  async #searching(listing: () => Promise<CallPage>): Promise<CallPage> {
    if (this.#searchCount >= SEARCHES_MAX) {
      const words = "too many text searches are in progress: try again in a moment";
      throw new RequestError("concurrency_limit_reached", words, { retryAfterSec: 1 });
    }
    this.#searchCount += 1;
    try {
      return await listing();
    } finally {
      this.#searchCount -= 1;
    }
  }

  /** The total number for `list`; throws the same RequestErrors. */
  async count(
    orgId: string,
    { agentId, status, ...wish }: CallFilter & CallResultFilter,
  ): Promise<number> {
    if (callRowFilterOf(wish) === undefined) {
      return this.#database.calls.count(orgId, definedFilter({ agentId, status }));
    }
    const { total } = await this.list(orgId, { agentId, status, ...wish, skip: 0, limit: 1 });
    return total;
  }

  /** With transcript and the stages of every turn. RequestError `not_found`. */
  async get(orgId: string, id: string): Promise<CallRecord> {
    const call = await this.#database.calls.findById(orgId, id);
    if (call === undefined) throw new RequestError("not_found", "there is no such call");
    return call;
  }

  async stats(orgId: string): Promise<CallStats> {
    const [calls, activeAgents] = await Promise.all([
      this.#database.calls.stats(orgId),
      this.#database.agents.countActive(orgId),
    ]);
    const totalMinutes = rounded(calls.totalMinutes);
    const avgDurationSec = rounded(calls.avgDurationSec);
    return { ...calls, totalMinutes, avgDurationSec, activeAgents };
  }

  /** One entry for each of the last `dayCount` days in UTC, today included, oldest first. */
  async dailyUsage(orgId: string, dayCount: number): Promise<readonly UsageRecord[]> {
    const dates = this.#lastDates(dayCount);
    const [firstDate = "", lastDate = firstDate] = [dates[0], dates.at(-1)];
    const stored = await this.#database.usage.list(orgId, firstDate, lastDate);
    const storedByDate = new Map(stored.map((usage) => [usage.date, shown(usage)]));
    return dates.map((date) => storedByDate.get(date) ?? dayWithoutCalls(orgId, date));
  }

  /**
   * As `dailyUsage`: how long callers waited on each day. RequestError `unavailable` if too many such summaries
   * are waiting.
   */
  dailyWaits(orgId: string, dayCount: number): Promise<readonly DailyWaits[]> {
    const dates = this.#lastDates(dayCount);
    return this.#summaries.run(() => dailyWaits(this.#database.calls, orgId, dates));
  }

  /** As `dailyUsage`, over all of these days: by agent, and by key. Throws the RequestErrors of `dailyWaits`. */
  usageShares(orgId: string, dayCount: number): Promise<UsageShares> {
    const [firstDate = ""] = this.#lastDates(dayCount);
    const sinceMs = Date.parse(firstDate);
    return this.#summaries.run(() => usageShares(this.#database.calls, orgId, sinceMs));
  }

  /**
   * As `usageShares`: by vendor, its answers and failures in the latest calls. Throws the RequestErrors of
   * `dailyWaits`.
   */
  vendorShares(orgId: string, dayCount: number): Promise<readonly VendorShare[]> {
    const [firstDate = ""] = this.#lastDates(dayCount);
    const sinceMs = Date.parse(firstDate);
    return this.#summaries.run(() => vendorShares(this.#database.calls, orgId, sinceMs));
  }

  #lastDates(dayCount: number): readonly string[] {
    const nowMs = this.#clock.epochMs();
    return Array.from({ length: dayCount }, (_, index) =>
      utcDate(nowMs - (dayCount - 1 - index) * DAY_MS),
    );
  }
}

function definedFilter({ agentId, status }: CallFilter): { agentId?: string; status?: CallStatus } {
  return {
    ...(agentId === undefined ? {} : { agentId }),
    ...(status === undefined ? {} : { status }),
  };
}

function callRowFilterOf(wish: CallResultFilter): CallRowFilter | undefined {
  const { channel, longerThanSec, waitedMoreThanMs, from, to, direction, words } = wish;
  const { startedFromMs, startedBeforeMs } = wish;
  const { analysisStatus, analysisSuccess, analysisField } = wish;
  const sieve: CallRowFilter = {
    ...(channel === undefined ? {} : { channel }),
    ...(longerThanSec === undefined ? {} : { longerThanSec }),
    ...(waitedMoreThanMs === undefined ? {} : { waitedMoreThanMs }),
    ...(from === undefined ? {} : { from: asNumber(from) }),
    ...(to === undefined ? {} : { to: asNumber(to) }),
    ...(direction === undefined ? {} : { direction }),
    ...(startedFromMs === undefined ? {} : { startedFromMs }),
    ...(startedBeforeMs === undefined ? {} : { startedBeforeMs }),
    ...(words === undefined ? {} : { words }),
    ...(wish.attention === true ? { attention: ATTENTION } : {}),
    ...(analysisStatus === undefined ? {} : { analysisStatus }),
    ...(analysisSuccess === undefined ? {} : { analysisSuccess }),
    ...(analysisField === undefined ? {} : { analysisField }),
  };
  return Object.keys(sieve).length === 0 ? undefined : sieve;
}

/** A `+` that a query's author did not encode arrives as a blank. */
function asNumber(text: string): string {
  return text.replace(/^ (?=\d)/, "+").trim();
}

function shown(usage: UsageRecord): UsageRecord {
  return {
    ...usage,
    minutes: rounded(usage.minutes),
    sttSeconds: rounded(usage.sttSeconds),
  };
}

/** Sums of binary fractions have digits beyond what was measured. */
function rounded(value: number): number {
  return Math.round(value * DECIMALS) / DECIMALS;
}

function dayWithoutCalls(orgId: string, date: string): UsageRecord {
  return { orgId, date, calls: 0, minutes: 0, ttsChars: 0, llmTokens: 0, sttSeconds: 0 };
}
