import assert from "node:assert/strict";
import { test } from "node:test";
import { registryRecord } from "./sample-records.js";
import { temporaryDatabase } from "./temporary-file.js";

test("the catalog lists its entries in the order of insertion, each vendor once a category", async (context) => {
  const { registry } = await temporaryDatabase(context);
  assert.equal(await registry.insertIfAbsent(registryRecord()), true);
  assert.equal(await registry.insertIfAbsent(registryRecord({ displayName: "Other" })), false);
  const speech = registryRecord({ category: "tts", requiresKey: false, settings: [] });
  assert.equal(await registry.insertIfAbsent(speech), true);
  assert.deepEqual(await registry.list(), [registryRecord(), speech]);
});
