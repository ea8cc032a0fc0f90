import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type CallPage,
  CallReports,
  type CallReportsOptions,
} from "../../../engine/calls/call-reports.js";
import { Failure } from "../../../engine/failure.js";
import type { UsageRecord } from "../../../storage/records.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";

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
  assert.deepEqual(asked, [[ORG, "2028-02-28", "2028-03-01"]]);
});

test("sums are shown without the digits that nobody measured", async () => {
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
    (error) => error instanceof Failure && error.kind === "notFound",
  );
});

test("so many look for words at a time, and more are refused; who looks for none is not counted", async () => {
  const found: ((page: CallPage) => void)[] = [];
  const list = () => new Promise<CallPage>((resolve) => found.push(resolve));
  const database = { calls: { list } } as unknown as CallReportsOptions["database"];
  const reports = new CallReports({ database, clock: new VirtualClock() });
  const page = { skip: 0, limit: 20 };
  const search = () => reports.list(ORG, { ...page, words: "hello" });
  const searches = Array.from({ length: SEARCHES_MAX }, search);
  await assert.rejects(
    search(),
    (error) => error instanceof Failure && error.kind === "rateLimited",
  );
  const listed = reports.list(ORG, page);
  for (const tell of found) tell({ items: [], total: 0 });
  await Promise.all([...searches, listed]);
  const next = search();
  found.at(-1)?.({ items: [], total: 0 });
  await next;
});

test("so many sums of calls are made at a time, so many wait, and more are refused", async () => {
  const asked: (() => void)[] = [];
  const list = () =>
    new Promise<CallPage>((resolve) => asked.push(() => resolve({ items: [], total: 0 })));
  const turnsSince = () => new Promise<[]>((resolve) => asked.push(() => resolve([])));
  const database = { calls: { list, turnsSince } } as unknown as CallReportsOptions["database"];
  const reports = new CallReports({ database, clock: new VirtualClock() });
  const sums = Array.from({ length: SUMMARIES_MAX + SUMMARIES_WAITING_MAX }, (_, index) =>
    index % 2 === 0 ? reports.usageShares(ORG, 30) : reports.dailyWaits(ORG, 14),
  );
  await assert.rejects(
    reports.usageShares(ORG, 30),
    (error) => error instanceof Failure && error.kind === "unavailable",
  );
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
    fields: ["deafForLong", "waitedForLong"],
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
