import assert from "node:assert/strict";
import { test } from "node:test";
import { dailyWaits } from "../../../engine/calls/call-reports.js";

const TURNS_CALLS_MAX = 2_000;
const NOON_MS = Date.parse("2026-03-02T12:00:00Z");
const DATES = ["2026-03-01", "2026-03-02"];

/** A store with one reply a call, each of which took as long as it says. */
function storeOf(totalsMs: readonly number[]) {
  return {
    turnsSince: (_orgId: string, { skipCalls, calls }: { skipCalls: number; calls: number }) =>
      Promise.resolve(
        totalsMs.slice(skipCalls, skipCalls + calls).map((totalMs) => ({
          callId: "a",
          startedAtMs: NOON_MS,
          turn: { sttMs: totalMs - 10, ttsRestMs: 10, totalMs },
        })),
      ),
  };
}

test("a day has the median and the 95th percentile of its replies, and another one gaps", async () => {
  const totals = Array.from({ length: 100 }, (_, index) => 1_000 - index * 10);
  const [before, today] = await dailyWaits(storeOf(totals), "org", DATES);
  assert.deepEqual(before, {
    date: "2026-03-01",
    turns: 0,
    p50Ms: null,
    p95Ms: null,
    parts: null,
    p95Parts: null,
  });
  assert.deepEqual(today, {
    date: "2026-03-02",
    turns: 100,
    p50Ms: 500,
    p95Ms: 950,
    parts: { sttMs: 490, llmFirstTokenMs: 0, llmSentenceMs: 0, ttsFirstByteMs: 0, ttsRestMs: 10 },
    p95Parts: {
      sttMs: 940,
      llmFirstTokenMs: 0,
      llmSentenceMs: 0,
      ttsFirstByteMs: 0,
      ttsRestMs: 10,
    },
  });
});

test("unmeasured turns do not count, and turns before the first day are not read", async () => {
  const sinces: number[] = [];
  const greeting = [{ callId: "a", startedAtMs: NOON_MS, turn: { kind: "greeting" } }];
  const store = {
    turnsSince: async (
      _orgId: string,
      { sinceMs, skipCalls }: { readonly sinceMs: number; readonly skipCalls: number },
    ) => {
      sinces.push(sinceMs);
      return skipCalls === 0 ? greeting : [];
    },
  };
  const [, today] = await dailyWaits(store, "org", DATES);
  assert.equal(today?.turns, 0);
  assert.equal(sinces[0], Date.parse("2026-03-01T00:00:00Z"));
});

test("for a busy organization only the latest calls are read", async () => {
  const [, today] = await dailyWaits(
    storeOf(Array<number>(TURNS_CALLS_MAX + 500).fill(700)),
    "org",
    DATES,
  );
  assert.equal(today?.turns, TURNS_CALLS_MAX);
});

test("each part of the waits is reported under its own name", async () => {
  const parts = {
    sttMs: 1,
    llmFirstTokenMs: 20,
    llmSentenceMs: 300,
    ttsFirstByteMs: 4_000,
    ttsRestMs: 50_000,
  };
  const turn = { ...parts, totalMs: 54_321 };
  const store = {
    turnsSince: (_orgId: string, { skipCalls }: { readonly skipCalls: number }) =>
      Promise.resolve(skipCalls === 0 ? [{ callId: "a", startedAtMs: NOON_MS, turn }] : []),
  };
  const [, today] = await dailyWaits(store, "org", DATES);
  assert.deepEqual([today?.parts, today?.p95Parts, today?.p50Ms], [parts, parts, 54_321]);
});
