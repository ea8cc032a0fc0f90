import assert from "node:assert/strict";
import { test } from "node:test";
import { leastLoaded } from "../../../engine/cluster/node-registry.js";

const nobody = new Map<string, number>();
const node = (startId: string, changes = {}) => ({
  startId,
  address: `https://${startId}.example.com`,
  calls: 0,
  capacity: 0,
  load: 0,
  ...changes,
});

test("the next caller goes to the node with the lowest relative load", () => {
  const small = node("small", { calls: 5, capacity: 10 });
  const large = node("large", { calls: 20, capacity: 100 });
  assert.equal(leastLoaded([small, large], nobody)?.startId, "large");
  const full = node("full", { calls: 1, capacity: 1 });
  assert.equal(leastLoaded([small, full], nobody)?.startId, "small");
  const unknown = node("unknown", { calls: 3 });
  assert.equal(leastLoaded([small, large, unknown], nobody)?.startId, "unknown");
});

test("a node with unknown capacity counts as one with room for a thousand", () => {
  const unknown = node("unknown", { calls: 3 });
  const thousand = (calls: number) => node("thousand", { calls, capacity: 1_000 });
  assert.equal(leastLoaded([unknown, thousand(2)], nobody)?.startId, "thousand");
  assert.equal(leastLoaded([unknown, thousand(4)], nobody)?.startId, "unknown");
});

test("of two with as many calls, the one with the lower processor load", () => {
  const nodes = [node("busy", { load: 0.9 }), node("idle", { load: 0.1 })];
  assert.equal(leastLoaded(nodes, nobody)?.startId, "idle");
});

test("callers who were sent and have not arrived yet are counted", () => {
  const sent = new Map<string, number>();
  const nodes = [node("one"), node("other")];
  for (let caller = 0; caller < 10; caller += 1) {
    const { startId = "" } = leastLoaded(nodes, sent) ?? {};
    sent.set(startId, (sent.get(startId) ?? 0) + 1);
  }
  assert.deepEqual([...sent.values()], [5, 5]);
});

test("a node without an address gets no callers", () => {
  assert.equal(leastLoaded([node("one", { address: null })], nobody), undefined);
});
