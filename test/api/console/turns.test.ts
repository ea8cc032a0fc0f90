import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { percentile, recordsOf, saidTurns, waitOf } from "../../../api/console/model/turns.js";

const REPLY = {
  turn: 2,
  kind: "reply",
  outcome: "interrupted",
  sttMs: 322.1,
  llmFirstTokenMs: 254.5,
  llmSentenceMs: 36.8,
  ttsFirstByteMs: 156.6,
  ttsRestMs: 0.2,
  totalMs: 770.2,
};

test("the parts of a wait sum to the whole, whatever was rounded", () => {
  const part = fc.double({ min: 0, max: 5_000, noNaN: true });
  fc.assert(
    fc.property(fc.tuple(part, part, part, part, part), (parts) => {
      const [sttMs, llmFirstTokenMs, llmSentenceMs, ttsFirstByteMs, ttsRestMs] = parts;
      const totalMs = parts.reduce((sum, each) => sum + each, 0);
      const stages = { sttMs, llmFirstTokenMs, llmSentenceMs, ttsFirstByteMs, ttsRestMs, totalMs };
      const wait = waitOf(stages);
      assert.ok(wait);
      assert.equal(
        wait.parts.reduce((sum, { durationMs }) => sum + durationMs, 0),
        wait.totalMs,
      );
    }),
  );
});

test("the largest part of a wait is marked, and a turn that was not measured has none", () => {
  const largest = waitOf(REPLY)?.parts.filter(({ isLargest }) => isLargest);
  assert.deepEqual(
    largest?.map(({ key, durationMs }) => [key, durationMs]),
    [["sttMs", 322]],
  );
  assert.equal(waitOf({ turn: 1, kind: "greeting", outcome: "played" }), undefined);
});

test("each message of the agent stands beside the record of its turn", () => {
  const transcript = [
    { role: "assistant", text: "Hello!", timestamp: 1_000 },
    { role: "user", text: "Count.", timestamp: 2_000 },
    { role: "assistant", text: "One", timestamp: 3_500 },
    { role: "user", text: "Stop.", timestamp: 4_000 },
    { role: "assistant", text: "Yes?", timestamp: 5_000 },
  ] as const;
  const records = [
    { turn: 1, kind: "greeting", outcome: "played" },
    REPLY,
    { ...REPLY, turn: 3, outcome: "superseded" },
    { ...REPLY, turn: 4, outcome: "played" },
  ];
  const turns = saidTurns(transcript, records, 500);
  assert.deepEqual(
    turns.map(({ atSec, record, wasInterrupted }) => [atSec, record?.["turn"], wasInterrupted]),
    [
      [0.5, 1, false],
      [1.5, undefined, false],
      [3, 2, true],
      [3.5, undefined, false],
      [4.5, 4, false],
    ],
  );
});

test("a call without records of its turns shows what was said", () => {
  assert.deepEqual(recordsOf(undefined), []);
  assert.deepEqual(recordsOf({ turns: "none" }), []);
  const [turn] = saidTurns([{ role: "assistant", text: "Hello!", timestamp: 0 }], [], 0);
  assert.equal(turn?.wait, undefined);
});

test("a percentile is a value that was measured", () => {
  assert.equal(percentile([], 0.5), undefined);
  assert.equal(percentile([3, 1, 2], 0.5), 2);
  assert.equal(percentile([1, 2, 3, 4], 0.95), 4);
});
