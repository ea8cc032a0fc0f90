import assert from "node:assert/strict";
import { test } from "node:test";
import { askedDatabase } from "../nodes/asked-database.js";

test("words without a match are searched in eight steps, and no call is read", async () => {
  const { database, asked } = askedDatabase();
  const found = await database.calls.list("org", { skip: 0, limit: 20, sieve: { words: "a" } });
  assert.deepEqual(found, { items: [], total: 0 });
  assert.deepEqual(
    asked.map(([statement]) => statement?.parameters.slice(0, 3)),
    Array.from({ length: 8 }, (_, index) => ["org", 250, 250 * index]),
  );
});
