import assert from "node:assert/strict";
import { test } from "node:test";
import { SlotLedger } from "../../../engine/cluster/primary.js";

test("an organization's calls are counted over all processes, up to its plan's", () => {
  const ledger = new SlotLedger();
  assert.ok(ledger.take(1, "org", "a", 2));
  assert.ok(ledger.take(2, "org", "b", 2));
  assert.equal(ledger.take(2, "org", "c", 2), false);
  assert.ok(ledger.take(2, "other", "d", 1));
  assert.deepEqual([ledger.callCount, ledger.countOf("org")], [3, 2]);
  assert.deepEqual(
    ["a", "b", "c"].map((id) => ledger.holderOf(id)),
    [1, 2, undefined],
  );
});

test("only a slot's holder frees it, and only once", () => {
  const ledger = new SlotLedger();
  ledger.take(1, "org", "a", 1);
  assert.equal(ledger.free(2, "a"), false);
  ledger.move("a", 2);
  assert.equal(ledger.free(1, "a"), false, "its former holder is late");
  assert.equal(ledger.free(2, "a"), true);
  assert.equal(ledger.free(2, "a"), false);
  ledger.move("a", 1);
  assert.equal(ledger.holderOf("a"), undefined, "nobody gets what is gone");
  assert.equal(ledger.callCount, 0);
});

test("a slot is passed on within its organization only", () => {
  const ledger = new SlotLedger();
  ledger.take(1, "org", "a", 1);
  ledger.release("other", "a");
  ledger.release("org", "unknown");
  assert.equal(ledger.callCount, 1);
  ledger.release("org", "a");
  assert.equal(ledger.callCount, 0);
});

test("the end of a process frees all its slots, and no others", () => {
  const ledger = new SlotLedger();
  for (const callId of ["a", "b"]) ledger.take(1, "org", callId, 9);
  ledger.take(2, "org", "c", 9);
  assert.deepEqual(ledger.freeAllOf(1), ["a", "b"]);
  assert.deepEqual([ledger.callCount, ledger.holderOf("c")], [1, 2]);
  assert.deepEqual(ledger.freeAllOf(1), []);
});
