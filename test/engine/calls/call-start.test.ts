import assert from "node:assert/strict";
import { test } from "node:test";
import { newCall } from "../../../engine/calls/call-journal.js";
import { callRecord } from "../../storage/sample-records.js";
import { CALL_START } from "./temporary-journal.js";

test("a call records the key that it came with, if any", () => {
  const begun = newCall({ ...CALL_START, apiKeyId: "key" }, 7_000);
  assert.deepEqual(begun.metadata, { direction: "web", apiKeyId: "key" });
  assert.deepEqual(newCall({ ...CALL_START, apiKeyId: undefined }, 7_000).metadata, {
    direction: "web",
  });
  const { status, startedAtMs, createdAtMs, endedAtMs, durationSec } = begun;
  assert.deepEqual(
    [status, startedAtMs, createdAtMs, endedAtMs, durationSec],
    ["active", 7_000, 7_000, null, null],
  );
});

test("a call that has just begun has no measurements and no words", () => {
  const id = { id: "call", orgId: "org", agentId: "agent", sessionId: "session" };
  const times = { startedAtMs: 7_000, createdAtMs: 7_000 };
  assert.deepEqual(
    newCall(CALL_START, 7_000),
    callRecord({ ...id, ...times, metadata: { direction: "web" } }),
  );
});
