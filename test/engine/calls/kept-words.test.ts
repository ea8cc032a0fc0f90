import assert from "node:assert/strict";
import { test } from "node:test";
import { afterLosses, charsOf, charsOfTools } from "../../../engine/calls/write-queue.js";
import { METRICS, usageRecord } from "../../storage/sample-records.js";

const MESSAGE = { role: "user", text: "four", timestamp: 1 } as const;
const END = {
  status: "completed",
  endedAtMs: 2,
  durationSec: 1,
  metrics: METRICS,
  metadata: { endReason: "callerLeft" },
  messages: [MESSAGE],
  usage: usageRecord(),
} as const;

test("what a turn costs to keep is all of its words, unheard ones and those of tools among them", () => {
  const save = {
    messages: [{ role: "user", text: "four", atMs: 1 }],
    added: [{ role: "user", content: "seventy" }],
    metrics: METRICS,
  } as const;
  assert.equal(charsOf({ ...save, report: undefined }), 11);
  const report = { turn: 1, kind: "reply", outcome: "played", totalMs: 1 } as const;
  assert.equal(charsOf({ ...save, report }), 11);
  assert.equal(charsOf({ ...save, report: { ...report, unheard: "not heard" } }), 20);
  const tools = [
    { name: "find", input: "{}", output: "found", ok: true, ms: 1 },
    { name: "find", input: "{}", ok: false, ms: 1 },
  ];
  assert.equal(charsOfTools({ tools }), 9);
  assert.equal(charsOfTools({}), 0);
});

test("an end that had to give up its words says so, and one that has lost nothing is as it was", () => {
  const { metadata } = END;
  assert.deepEqual(afterLosses(END, 0, true), END);
  assert.deepEqual(afterLosses(END, 2, true), { ...END, metadata: { ...metadata, lostTurns: 2 } });
  assert.deepEqual(afterLosses(END, 2, false), {
    ...END,
    messages: [],
    metadata: { ...metadata, lostTurns: 3 },
  });
  const wordless = { ...END, messages: [] };
  assert.deepEqual(afterLosses(wordless, 0, false), wordless);
});

test("an end that has lost its words alone says that, and nothing of it counts where there were none", () => {
  const { metadata } = END;
  const lost = { ...END, messages: [], metadata: { ...metadata, lostTurns: 1 } };
  assert.deepEqual(afterLosses(END, 0, false), lost);
  const wordless = { ...END, messages: [] };
  assert.deepEqual(afterLosses(wordless, 1, false), lost);
});
