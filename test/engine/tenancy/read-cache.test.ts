import assert from "node:assert/strict";
import { test } from "node:test";
import { ReadCache } from "../../../engine/tenancy/read-cache.js";
import { RecordChanges } from "../../../storage/statements/record-changes.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";

const KEPT_MAX_MS = 1_000;
const ENTRIES_MAX = 3;

/** Each read returns the value that `stored` has when the read starts, and resolves when `answer` is called. */
function newCache() {
  const clock = new VirtualClock();
  const changes = new RecordChanges();
  const cache = new ReadCache<string>({ changes, clock, entriesMax: ENTRIES_MAX });
  const stored = new Map<string, string>();
  const reads: string[] = [];
  const waiting: (() => void)[] = [];
  const ask = (key: string) =>
    cache.get(key, () => {
      reads.push(key);
      const found = stored.get(key);
      return new Promise((resolve) => waiting.push(() => resolve(found)));
    });
  const answer = () => {
    for (const each of waiting.splice(0)) each();
  };
  const read = (key: string) => {
    const asked = ask(key);
    answer();
    return asked;
  };
  return { clock, changes, cache, stored, reads, ask, answer, read };
}

test("a read is cached for one second", async () => {
  const { clock, stored, reads, read } = newCache();
  stored.set("a", "1");
  assert.equal(await read("a"), "1");
  stored.set("a", "2");
  clock.advance(KEPT_MAX_MS - 1);
  assert.equal(await read("a"), "1");
  clock.advance(1);
  assert.equal(await read("a"), "2");
  assert.deepEqual(reads, ["a", "a"]);
});

test("the second starts when the read starts", async () => {
  const { clock, stored, reads, ask, answer, read } = newCache();
  stored.set("a", "1");
  const slow = ask("a");
  clock.advance(KEPT_MAX_MS);
  answer();
  assert.equal(await slow, "1");
  await read("a");
  assert.equal(reads.length, 2);
});

test("concurrent reads are shared", async () => {
  const { stored, reads, ask, answer } = newCache();
  stored.set("a", "1");
  const asked = Promise.all([ask("a"), ask("a"), ask("b")]);
  answer();
  assert.deepEqual(await asked, ["1", "1", undefined]);
  assert.deepEqual(reads, ["a", "b"]);
});

test("after a change every record is read again", async () => {
  const { changes, stored, read } = newCache();
  stored.set("a", "1");
  await read("a");
  await changes.after(Promise.resolve(stored.set("a", "2")));
  assert.equal(await read("a"), "2");
  stored.set("a", "3");
  changes.invalidate();
  assert.equal(await read("a"), "3", "after a change by another process");
});

test("a read that started before a change is neither cached nor shared after it", async () => {
  const { changes, stored, ask, answer, read } = newCache();
  stored.set("a", "old");
  const before = ask("a");
  stored.set("a", "new");
  changes.invalidate();
  const after = ask("a");
  answer();
  assert.deepEqual(await Promise.all([before, after]), ["old", "new"]);
  assert.equal(await read("a"), "new");
});

test("an old read that fails or finds nothing does not evict the newer one", async () => {
  const { changes, stored, reads, ask, answer, read } = newCache();
  const before = ask("a");
  changes.invalidate();
  stored.set("a", "new");
  const after = ask("a");
  answer();
  assert.deepEqual(await Promise.all([before, after]), [undefined, "new"]);
  await read("a");
  assert.equal(reads.length, 2);
});

test("missing records and failed reads are read again", async () => {
  const { cache, reads, read } = newCache();
  await read("a");
  await read("a");
  assert.equal(reads.length, 2);
  const outage = new Error("the disk is full");
  await assert.rejects(
    cache.get("b", () => Promise.reject(outage)),
    outage,
  );
  assert.equal(await cache.get("b", () => Promise.resolve("1")), "1");
});

test("beyond the limit, the least recently used entry is evicted", async () => {
  const { stored, reads, read } = newCache();
  const keys = ["a", "b", "c", "d"];
  for (const key of keys) stored.set(key, key);
  for (const key of ["a", "b", "c", "a", "d"]) await read(key);
  reads.length = 0;
  for (const key of ["a", "c", "d"]) await read(key);
  assert.deepEqual(reads, []);
  await read("b");
  assert.deepEqual(reads, ["b"]);
});

test("a change is announced when its write has ended, even if it failed, and before its promise resolves", async () => {
  const changes = new RecordChanges();
  const order: string[] = [];
  changes.onChanged(async () => {
    order.push(`told ${changes.count}`);
    await new Promise(setImmediate);
    order.push("known");
  });
  assert.equal(await changes.after(Promise.resolve("done")), "done");
  order.push("gone on");
  await assert.rejects(changes.after(Promise.reject(new Error("connection lost"))));
  changes.invalidate();
  assert.deepEqual(order, ["told 1", "known", "gone on", "told 2", "known"]);
  assert.equal(changes.count, 3);
});
