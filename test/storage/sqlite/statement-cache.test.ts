import assert from "node:assert/strict";
import { test } from "node:test";
import { StatementCache } from "../../../storage/sqlite/group-commit.js";
import { Sqlite } from "../../../storage/sqlite/sqlite-library.js";

test("a statement is compiled once, and those that were not used for long are dropped", (context) => {
  const file = new Sqlite(":memory:");
  context.after(() => file.close());
  const cache = new StatementCache(file, 2);
  const first = cache.prepare("select 1");
  assert.equal(cache.prepare("select 1"), first);
  cache.prepare("select 2");
  cache.prepare("select 3");
  assert.equal(cache.size, 2);
  assert.notEqual(cache.prepare("select 1"), first);
});

test("three hundred compiled statements are kept by default", (context) => {
  const file = new Sqlite(":memory:");
  context.after(() => file.close());
  const cache = new StatementCache(file);
  const prepared = Array.from({ length: 301 }, (_, index) => cache.prepare(`select ${index}`));
  assert.equal(cache.size, 300);
  assert.equal(cache.prepare("select 1"), prepared[1], "the oldest was dropped");
});
