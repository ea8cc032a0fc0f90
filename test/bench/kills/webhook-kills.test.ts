import assert from "node:assert/strict";
import { test } from "node:test";
import { runWebhookKills } from "../../../bench/kills/webhook-kills.js";

test("each call of a server that is killed and started again has one terminal event at each endpoint", async () => {
  const { faults, records, refused } = await runWebhookKills({
    database: "sqlite",
    calls: 32,
    callers: 4,
    kills: 1,
    seed: 3,
    conducts: ["good", "liesAboutLength"],
  });
  assert.deepEqual(faults, []);
  assert.ok(records > 0 && refused > 0);
});
