import assert from "node:assert/strict";
import { test } from "node:test";
import { usageShares } from "../../../engine/calls/usage-shares.js";
import type { CallRecord } from "../../../storage/records.js";
import { callRecord } from "../../api/routes/call-drafts.js";

const SHARED_CALLS_MAX = 5_000;
const ORG = "org";

/** A store of these calls, the newest first. */
function storeOf(calls: readonly CallRecord[]) {
  const reads: number[] = [];
  return {
    reads,
    list: (_orgId: string, { skip, limit }: { readonly skip: number; readonly limit: number }) => {
      reads.push(skip);
      return Promise.resolve({ items: calls.slice(skip, skip + limit), total: calls.length });
    },
  };
}

function callOf(index: number, agentId: string, metadata: CallRecord["metadata"] = {}): CallRecord {
  const call = callRecord({
    id: `call-${index}`,
    orgId: ORG,
    agentId,
    startedAtMs: 10_000 - index,
  });
  const metrics = { ...call.metrics, totalTokens: 10, ttsChars: 5 };
  return { ...call, status: "completed", durationSec: 60, metrics, metadata };
}

test("calls are summed up by agent and by key, the largest first, and older ones are left out", async () => {
  const store = storeOf([
    callOf(1, "small", { apiKeyId: "key" }),
    { ...callOf(2, "large", { endReason: "sttFailed" }), status: "failed" },
    callOf(3, "large", { apiKeyId: "key" }),
    callOf(5_000, "large"),
  ]);
  const shares = await usageShares(store, ORG, 9_000);
  const one = { calls: 1, failed: 0, failures: [], minutes: 1, llmTokens: 10, ttsChars: 5 };
  const two = { calls: 2, failed: 0, failures: [], minutes: 2, llmTokens: 20, ttsChars: 10 };
  const failures = [{ endReason: "sttFailed", calls: 1 }];
  assert.deepEqual(shares, {
    calls: 3,
    isWhole: true,
    agents: [
      { ...two, id: "large", failed: 1, failures },
      { ...one, id: "small" },
    ],
    apiKeys: [
      { ...two, id: "key", channel: undefined },
      { ...one, id: null, failed: 1, failures, channel: "web" },
    ],
  });
});

test("failed calls are grouped by the reason of their end, most frequent first", async () => {
  const failed = (index: number, metadata: CallRecord["metadata"]): CallRecord => ({
    ...callOf(index, "agent", metadata),
    status: "failed",
  });
  const store = storeOf([
    failed(1, { endReason: "speechFailed" }),
    failed(2, { endReason: "internalError" }),
    callOf(3, "agent", { endReason: "callerLeft" }),
    failed(4, {}),
    failed(5, { endReason: "internalError" }),
    failed(6, { endReason: "callerLeft", everyReplyFailed: true }),
  ]);
  const { agents } = await usageShares(store, ORG, 0);
  assert.deepEqual(agents[0]?.failures, [
    { endReason: "internalError", calls: 2 },
    { endReason: "speechFailed", calls: 1 },
    { endReason: "unknown", calls: 1 },
    { endReason: "everyReplyFailed", calls: 1 },
  ]);
});

test("with more calls than are read, the result says that it covers only the latest", async () => {
  const calls = Array.from({ length: SHARED_CALLS_MAX + 1 }, (_, index) => callOf(index, "agent"));
  const store = storeOf(calls);
  const shares = await usageShares(store, ORG, 0);
  assert.deepEqual([shares.calls, shares.isWhole], [SHARED_CALLS_MAX, false]);
  assert.equal(store.reads.length, 50);
});

test("a call that is read twice, since another one began meanwhile, is counted once", async () => {
  const calls = Array.from({ length: 150 }, (_, index) => callOf(index, "agent"));
  const store = {
    list: (_orgId: string, { skip, limit }: { readonly skip: number; readonly limit: number }) => {
      const from = skip === 0 ? 0 : skip - 1;
      return Promise.resolve({ items: calls.slice(from, from + limit), total: 151 });
    },
  };
  assert.equal((await usageShares(store, ORG, 0)).calls, 150);
});

test("a call that began at that very moment counts, and none before it", async () => {
  const store = storeOf([callOf(1_000, "agent"), callOf(1_001, "agent")]);
  assert.equal((await usageShares(store, ORG, 9_000)).calls, 1);
  const young = storeOf([callOf(1_000, "agent")]);
  assert.equal((await usageShares(young, ORG, 9_000)).calls, 1);
});

test("pages of a hundred are read until one is not full or holds an older call", async () => {
  const calls = Array.from({ length: 200 }, (_, index) => callOf(index, "agent"));
  for (const [count, sinceMs, reads, counted] of [
    [99, 0, [0], 99],
    [100, 0, [0, 100], 100],
    [101, 0, [0, 100], 101],
    [200, 9_901, [0, 100], 100],
    [200, 9_902, [0], 99],
  ] as const) {
    const store = storeOf(calls.slice(0, count));
    const shares = await usageShares(store, ORG, sinceMs);
    assert.deepEqual([store.reads, shares.calls, shares.isWhole], [reads, counted, true]);
  }
});

test("minutes have four decimals, equal shares are ordered by calls, and calls without a duration count as zero", async () => {
  const of = (index: number, agentId: string, durationSec: number | null) => ({
    ...callOf(index, agentId, { apiKeyId: 7 }),
    durationSec,
  });
  const store = storeOf([
    of(1, "one", 10),
    of(2, "two", 5),
    of(3, "two", 5),
    of(4, "long", 20.011),
    of(5, "none", null),
  ]);
  const { agents, apiKeys } = await usageShares(store, ORG, 0);
  assert.deepEqual(
    agents.map(({ id, calls, minutes }) => [id, calls, minutes]),
    [
      ["long", 1, 0.3335],
      ["two", 2, 0.1667],
      ["one", 1, 0.1667],
      ["none", 1, 0],
    ],
  );
  assert.deepEqual(
    apiKeys.map(({ id, calls }) => [id, calls]),
    [[null, 5]],
  );
});

test("calls without a key are grouped by channel", async () => {
  const calls = ["web", "phone", "phone"].map((channel, index) => ({
    ...callOf(index, "agent", {}),
    channel: channel === "web" ? ("web" as const) : ("phone" as const),
  }));
  const { apiKeys } = await usageShares(storeOf(calls), ORG, 0);
  assert.deepEqual(
    apiKeys.map((share) => [share.id, share.channel, share.calls]),
    [
      [null, "phone", 2],
      [null, "web", 1],
    ],
  );
});
