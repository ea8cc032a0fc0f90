import type { Database } from "../../storage/database.js";
import type { CallRecord, CallStatus, UsageRecord } from "../../storage/records.js";
import { Failure } from "../failure.js";
import type { Clock } from "../time/clock.js";

export interface CallFilter {
  readonly agentId?: string | undefined;
  readonly status?: CallStatus | undefined;
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

/** Four: of a minute, less than a hundredth of a second. */
const DECIMALS = 10_000;
const DAY_MS = 24 * 60 * 60 * 1_000;

/** What an organization can learn about its calls. */
export class CallReports {
  readonly #database: CallReportsOptions["database"];
  readonly #clock: Clock;

  constructor({ database, clock }: CallReportsOptions) {
    this.#database = database;
    this.#clock = clock;
  }

  /** Newest first. */
  list(
    orgId: string,
    {
      agentId,
      status,
      skip,
      limit,
    }: CallFilter & { readonly skip: number; readonly limit: number },
  ): Promise<CallPage> {
    return this.#database.calls.list(orgId, { ...given({ agentId, status }), skip, limit });
  }

  count(orgId: string, { agentId, status }: CallFilter): Promise<number> {
    return this.#database.calls.count(orgId, given({ agentId, status }));
  }

  /** With transcript and the stages of every turn. Failure `notFound`. */
  async get(orgId: string, id: string): Promise<CallRecord> {
    const call = await this.#database.calls.findById(orgId, id);
    if (call === undefined) throw new Failure("notFound", "there is no such call");
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
    const nowMs = this.#clock.epochMs();
    const dates = Array.from({ length: dayCount }, (_, index) =>
      utcDate(nowMs - (dayCount - 1 - index) * DAY_MS),
    );
    const [firstDate = ""] = dates;
    const stored = await this.#database.usage.list(orgId, firstDate, utcDate(nowMs));
    const storedByDate = new Map(stored.map((usage) => [usage.date, shown(usage)]));
    return dates.map((date) => storedByDate.get(date) ?? dayWithoutCalls(orgId, date));
  }
}

function given({ agentId, status }: CallFilter): { agentId?: string; status?: CallStatus } {
  return {
    ...(agentId === undefined ? {} : { agentId }),
    ...(status === undefined ? {} : { status }),
  };
}

function shown(usage: UsageRecord): UsageRecord {
  return {
    ...usage,
    minutes: rounded(usage.minutes),
    sttSeconds: rounded(usage.sttSeconds),
  };
}

/** Sums of binary fractions show digits that nobody measured. */
function rounded(value: number): number {
  return Math.round(value * DECIMALS) / DECIMALS;
}

function utcDate(epochMs: number): string {
  return new Date(epochMs).toISOString().slice(0, 10);
}

function dayWithoutCalls(orgId: string, date: string): UsageRecord {
  return { orgId, date, calls: 0, minutes: 0, ttsChars: 0, llmTokens: 0, sttSeconds: 0 };
}
