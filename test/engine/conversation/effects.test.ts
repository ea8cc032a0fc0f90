import assert from "node:assert/strict";
import { test } from "node:test";
import { NO_METRICS, NOTHING_SAID } from "../../../engine/conversation/effects.js";

test("a call in which nothing has happened has counted nothing", () => {
  assert.deepEqual(Object.keys(NO_METRICS).sort(), [
    "avgLatencyMs",
    "interruptions",
    "totalTokens",
    "ttfbMs",
    "ttsChars",
    "turnCount",
  ]);
  assert.deepEqual(new Set(Object.values(NO_METRICS)), new Set([0]));
  const nothing = { messages: [], metrics: NO_METRICS, report: undefined, added: [] };
  assert.deepEqual(NOTHING_SAID, nothing);
});
