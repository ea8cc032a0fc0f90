import assert from "node:assert/strict";
import { test } from "node:test";
import { registryRecord } from "../sample-records.js";
import { temporaryDatabase } from "../temporary-file.js";

test("the catalog lists its entries in the order of insertion, each vendor once per category, as last stored", async (context) => {
  const { registry } = await temporaryDatabase(context);
  const { createdAtMs } = registryRecord();
  await registry.put(registryRecord());
  const speech = registryRecord({ category: "tts", requiresKey: false, settings: [] });
  await registry.put(speech);
  const newer = registryRecord({ displayName: "Other", models: [{ modelId: "m", label: "M" }] });
  await registry.put({ ...newer, createdAtMs: createdAtMs + 1 });
  assert.deepEqual(await registry.list(), [newer, speech]);
});
