import assert from "node:assert/strict";
import { test } from "node:test";
import { deepgramCloseFault } from "../../../../engine/vendors/deepgram/deepgram-nova.js";

test("audio that cannot be decoded is refused for good, trouble of the server passes, and any other end is a lost connection", () => {
  assert.deepEqual([1_000, 1_006, 1_008, 1_011].map(deepgramCloseFault), [
    "disconnected",
    "disconnected",
    "refused",
    "unavailable",
  ]);
});
