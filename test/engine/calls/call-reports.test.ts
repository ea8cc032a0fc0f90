import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type CallPage,
  CallReports,
  type CallReportsOptions,
} from "../../../engine/calls/call-reports.js";
import { RequestError } from "../../../engine/request-error.js";
import type { UsageRecord } from "../../../storage/records.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";
import { callRecord } from "../../storage/sample-records.js";

const SUMMARIES_WAITING_MAX = 32;
const SUMMARIES_MAX = 2;
const SEARCHES_MAX = 4;
const ORG = "org";

function usageOf(date: string): UsageRecord {
  return { orgId: ORG, date, calls: 1, minutes: 2, ttsChars: 3, llmTokens: 4, sttSeconds: 5 };
}

/** Reports over scripted usage; `asked` is what the store was asked for. */
function reportsOn(nowIso: string, stored: readonly UsageRecord[]) {
  const asked: string[][] = [];
  const database = {
    agents: { countActive: () => Promise.resolve(2) },
    calls: {
      findById: () => Promise.resolve(undefined),
      stats: () =>
        Promise.resolve({ totalCalls: 4, activeCalls: 1, totalMinutes: 9, avgDurationSec: 180 }),
    },
    usage: {
      list: (...range: string[]) => {
        asked.push(range);
        return Promise.resolve(stored);
      },
    },
  } as unknown as CallReportsOptions["database"];
  const clock = new VirtualClock(Date.parse(nowIso));
  return { reports: new CallReports({ database, clock }), asked };
}

test("days without calls are filled in, across the end of a month", async () => {
  const { reports, asked } = reportsOn("2028-03-01T00:00:00.000Z", [usageOf("2028-02-29")]);
  const days = await reports.dailyUsage(ORG, 3);
  assert.deepEqual(
    days.map(({ date, calls }) => [date, calls]),
    [
      ["2028-02-28", 0],
      ["2028-02-29", 1],
      ["2028-03-01", 0],
    ],
  );
  const nothing = { calls: 0, minutes: 0, ttsChars: 0, llmTokens: 0, sttSeconds: 0 };
  assert.deepEqual(days[0], { orgId: ORG, date: "2028-02-28", ...nothing });
  assert.deepEqual(asked, [[ORG, "2028-02-28", "2028-03-01"]]);
});

test("sums have no digits beyond what was measured", async () => {
  const summed = { ...usageOf("2028-03-01"), minutes: 0.1 + 0.2, sttSeconds: 10.1 + 0.2 };
  const { reports } = reportsOn("2028-03-01T00:00:00.000Z", [summed]);
  const [today] = await reports.dailyUsage(ORG, 1);
  assert.deepEqual([today?.minutes, today?.sttSeconds], [0.3, 10.3]);
});

test("a day is one of UTC until its last millisecond", async () => {
  const { reports } = reportsOn("2027-12-31T23:59:59.999Z", []);
  assert.deepEqual(
    (await reports.dailyUsage(ORG, 1)).map(({ date }) => date),
    ["2027-12-31"],
  );
});

test("statistics are of calls and of agents", async () => {
  const { reports } = reportsOn("2028-03-01T00:00:00.000Z", []);
  assert.deepEqual(await reports.stats(ORG), {
    totalCalls: 4,
    activeCalls: 1,
    activeAgents: 2,
    totalMinutes: 9,
    avgDurationSec: 180,
  });
});

test("a call that does not exist is not found", async () => {
  const { reports } = reportsOn("2028-03-01T00:00:00.000Z", []);
  await assert.rejects(
    reports.get(ORG, "none"),
    (error) => error instanceof RequestError && error.code === "not_found",
  );
});

test("the number of concurrent word searches is limited; lists without words are not counted", async () => {
  const found: ((page: CallPage) => void)[] = [];
  const list = () => new Promise<CallPage>((resolve) => found.push(resolve));
  const database = { calls: { list } } as unknown as CallReportsOptions["database"];
  const reports = new CallReports({ database, clock: new VirtualClock() });
  const page = { skip: 0, limit: 20 };
  const search = () => reports.list(ORG, { ...page, words: "hello" });
  const searches = Array.from({ length: SEARCHES_MAX }, search);
  await assert.rejects(search(), { code: "concurrency_limit_reached", retryAfterSec: 1 });
  const listed = reports.list(ORG, page);
  for (const tell of found) tell({ items: [], total: 0 });
  await Promise.all([...searches, listed]);
  const next = search();
  found.at(-1)?.({ items: [], total: 0 });
  await next;
});

test("the number of concurrent summaries and of waiting ones is limited", async () => {
  const asked: (() => void)[] = [];
  const list = () =>
    new Promise<CallPage>((resolve) => asked.push(() => resolve({ items: [], total: 0 })));
  const turnsSince = () => new Promise<[]>((resolve) => asked.push(() => resolve([])));
  const database = { calls: { list, turnsSince } } as unknown as CallReportsOptions["database"];
  const reports = new CallReports({ database, clock: new VirtualClock() });
  const sums = Array.from({ length: SUMMARIES_MAX + SUMMARIES_WAITING_MAX }, (_, index) =>
    index % 2 === 0 ? reports.usageShares(ORG, 30) : reports.dailyWaits(ORG, 14),
  );
  await assert.rejects(reports.usageShares(ORG, 30), { code: "overloaded", retryAfterSec: 2 });
  assert.equal(asked.length, SUMMARIES_MAX);
  for (const [index, sum] of sums.entries()) {
    asked[index]?.();
    await sum;
    assert.ok(asked.length <= index + 1 + SUMMARIES_MAX);
  }
  assert.equal(asked.length, sums.length);
});

test("a list is narrowed by what is wished for, and by nothing else", async () => {
  const asked: unknown[] = [];
  const calls = {
    list: async (_orgId: string, filter: unknown) => {
      asked.push(filter);
      return { items: [], total: 0 };
    },
    count: async (_orgId: string, filter: unknown) => {
      asked.push(filter);
      return 0;
    },
  };
  // Only what is called.
  const database = { calls } as unknown as CallReportsOptions["database"];
  const reports = new CallReports({ database, clock: new VirtualClock() });
  const page = { skip: 0, limit: 10 };
  const filter = { agentId: "agent", status: "failed" } as const;
  const wish = {
    channel: "phone",
    longerThanSec: 5,
    waitedMoreThanMs: 900,
    words: "late",
  } as const;
  await reports.list(ORG, page);
  await reports.list(ORG, { ...page, ...filter });
  await reports.list(ORG, { ...page, ...wish, attention: false });
  await reports.list(ORG, { ...page, attention: true });
  await reports.count(ORG, {});
  await reports.count(ORG, filter);
  const attention = {
    interruptionsMin: 4,
    waitMinMs: 2_500,
    fields: ["longSttOutage", "everyReplyFailed", "waitedForLong"],
    value: "callerIdle",
  };
  assert.deepEqual(asked, [
    page,
    { ...page, ...filter },
    { ...page, sieve: wish },
    { ...page, sieve: { attention } },
    {},
    filter,
  ]);
});

test("what is summed up is looked for from the first of the days on", async () => {
  const asked: unknown[] = [];
  const old = callRecord({ id: "old", startedAtMs: Date.parse("2028-02-27T23:59:59.999Z") });
  const young = callRecord({ id: "young", startedAtMs: Date.parse("2028-02-28T00:00:00.000Z") });
  const calls = {
    list: () => Promise.resolve({ items: [young, old], total: 2 }),
    turnsSince: (_orgId: string, range: unknown) => {
      asked.push(range);
      return Promise.resolve([]);
    },
  };
  // Only what is called.
  const database = { calls } as unknown as CallReportsOptions["database"];
  const clock = new VirtualClock(Date.parse("2028-03-01T12:00:00.000Z"));
  const reports = new CallReports({ database, clock });
  assert.equal((await reports.usageShares(ORG, 3)).calls, 1);
  assert.deepEqual(await reports.vendorShares(ORG, 3), []);
  const days = await reports.dailyWaits(ORG, 3);
  assert.deepEqual(
    days.map(({ date }) => date),
    ["2028-02-28", "2028-02-29", "2028-03-01"],
  );
  const sinceMs = Date.parse("2028-02-28T00:00:00.000Z");
  const range = { sinceMs, skipCalls: 0, calls: 50 };
  assert.deepEqual(asked, [range, range]);
});

test("minutes and durations have four decimals, and an existing call is found", async () => {
  const call = callRecord();
  const sums = { totalCalls: 1, activeCalls: 0, totalMinutes: 0.12345, avgDurationSec: 7.40704 };
  const calls = { stats: () => Promise.resolve(sums), findById: () => Promise.resolve(call) };
  const agents = { countActive: () => Promise.resolve(0) };
  // Only what is called.
  const database = { agents, calls } as unknown as CallReportsOptions["database"];
  const reports = new CallReports({ database, clock: new VirtualClock() });
  const { totalMinutes, avgDurationSec } = await reports.stats(ORG);
  assert.deepEqual([totalMinutes, avgDurationSec], [0.1235, 7.407]);
  assert.equal(await reports.get(ORG, call.id), call);
});
