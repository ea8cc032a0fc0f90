import assert from "node:assert/strict";
import { test } from "node:test";
import { FairCache } from "../../engine/fair-cache.js";

const sizeOf = (value: string) => value.length;

test("an owner that fills a cache evicts its own entries, the least recently used first", () => {
  const cache = new FairCache<string>({ sizeMax: 10, sizeOf });
  cache.set("small", "a", "12");
  cache.set("large", "a", "1234");
  cache.set("large", "b", "1234");
  assert.equal(cache.get("large", "a"), "1234");
  cache.set("large", "c", "1234");
  assert.deepEqual(
    ["a", "b", "c"].map((key) => cache.get("large", key)),
    ["1234", undefined, "1234"],
  );
  assert.equal(cache.get("small", "a"), "12");
  assert.equal(cache.size, 10);
});

test("an owner that has less gets room from the one that has most", () => {
  const cache = new FairCache<string>({ sizeMax: 10, sizeOf });
  cache.set("large", "a", "12345");
  cache.set("large", "b", "12345");
  cache.set("small", "a", "123");
  assert.equal(cache.get("small", "a"), "123");
  assert.equal(cache.get("large", "a"), undefined);
  assert.equal(cache.get("large", "b"), "12345");
});

test("a new value takes the place of the old one, and one that is larger than the cache is not kept", () => {
  const cache = new FairCache<string>({ sizeMax: 10, sizeOf });
  cache.set("org", "a", "123");
  cache.set("org", "a", "12");
  assert.deepEqual([cache.get("org", "a"), cache.size], ["12", 2]);
  cache.set("org", "a", "12345678901");
  assert.deepEqual([cache.get("org", "a"), cache.size], [undefined, 0]);
  assert.equal(cache.get("nobody", "a"), undefined);
});
