import assert from "node:assert/strict";
import { test } from "node:test";
import { WatchLeases } from "../../../engine/cluster/node-events.js";

const LEASED_TOPICS_MAX = 10_000;
const LEASE_MS = 25_000;
test("a node watches until its lease ends, and longer with a renewal", () => {
  const leases = new WatchLeases();
  assert.equal(leases.take("org", "one", 0), true);
  assert.equal(leases.take("org", "other", 0), true);
  assert.equal(leases.take("org", "one", 10), false);
  assert.deepEqual(leases.expire(LEASE_MS), []);
  assert.deepEqual(leases.nodesOf("org"), ["one"]);
  assert.deepEqual(leases.expire(LEASE_MS + 10), ["org"]);
  assert.deepEqual(leases.nodesOf("org"), []);
  assert.equal(leases.take("org", "other", LEASE_MS + 10), true);
});

test("the number of topics is limited, until one ends", () => {
  const leases = new WatchLeases();
  for (let index = 0; index < LEASED_TOPICS_MAX; index += 1) leases.take(`${index}`, "one", 0);
  assert.equal(leases.take("one more", "one", 1), false);
  assert.deepEqual(leases.nodesOf("one more"), []);
  assert.equal(leases.take("0", "other", 1), true);
  assert.deepEqual(leases.nodesOf("0"), ["one", "other"]);
  assert.equal(leases.expire(LEASE_MS).length, LEASED_TOPICS_MAX - 1);
  assert.equal(leases.take("one more", "one", LEASE_MS), true);
});
