import assert from "node:assert/strict";
import { test } from "node:test";
import { centerFor, HISTORY_LIFETIME_MS, HOUR_MS, SAID } from "./center-stand.js";

test("every hour old conversations go", async (t) => {
  const { database, clock, orgId } = await centerFor(t);
  await database.history.replace(
    { orgId, key: "key" },
    [],
    [...SAID],
    clock.epochMs() - HISTORY_LIFETIME_MS,
  );
  clock.advance(HOUR_MS - 1);
  assert.deepEqual(await database.history.load(orgId, "key", 0), SAID);
  clock.advance(1);
  assert.equal(await database.history.load(orgId, "key", 0), undefined);
});
