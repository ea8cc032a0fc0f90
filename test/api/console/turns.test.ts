import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import {
  percentile,
  recordsOf,
  transcriptTurns,
  waitOf,
} from "../../../api/console/model/turns.js";
import { toolWords } from "../../../api/console/words/tool-words.js";

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
    { ...REPLY, unheard: "Two. Three." },
    { ...REPLY, turn: 3, outcome: "superseded" },
    { ...REPLY, turn: 4, outcome: "played" },
  ];
  const turns = transcriptTurns(transcript, records, 500);
  assert.deepEqual(
    turns.map(({ atSec, record, unheard }) => [atSec, record?.["turn"], unheard]),
    [
      [0.5, 1, ""],
      [1.5, undefined, ""],
      [3, 2, "Two. Three."],
      [3.5, undefined, ""],
      [4.5, 4, ""],
    ],
  );
  assert.deepEqual(
    turns.map(({ wasInterrupted }) => wasInterrupted),
    [false, false, true, false, false],
  );
});

test("what is said after a cough is not struck out before it", () => {
  const transcript = [
    { role: "assistant", text: "One", timestamp: 0 },
    { role: "assistant", text: "Two.", timestamp: 900 },
  ] as const;
  const records = [
    { kind: "greeting", outcome: "interrupted", unheard: "Two. Three." },
    { kind: "resumed", outcome: "cutOff", unheard: "Three." },
  ];
  assert.deepEqual(
    transcriptTurns(transcript, records, 0).map(({ unheard }) => unheard),
    ["", "Three."],
  );
});

test("what tools have done stands beside the words that came of it, whatever was given up before", () => {
  const transcript = [
    { role: "user", text: "Book a table.", timestamp: 0 },
    { role: "assistant", text: "It is booked.", timestamp: 900 },
    { role: "user", text: "And a taxi.", timestamp: 1_800 },
  ] as const;
  const booked = { name: "book", input: '{"guests":4}', output: "booked", ok: true, ms: 120.4 };
  const stopped = { name: "call_taxi", input: "{}", ok: false, ms: 300 };
  const records = [
    { kind: "reply", outcome: "superseded", tools: [booked], moreTools: 2 },
    { kind: "reply", outcome: "played" },
    { kind: "reply", outcome: "cutOff", tools: [stopped, "no record"] },
  ];
  const [asked, answered, last] = transcriptTurns(transcript, records, 0);
  assert.deepEqual(asked?.tools, []);
  const input = '{\n  "guests": 4\n}';
  const done = { name: "book", input, output: "booked", isDone: true, durationMs: 120.4 };
  assert.deepEqual(answered?.tools, [done]);
  assert.equal(answered?.moreTools, 2);
  const order = '{"order":12345678901234567890}';
  const [found] =
    transcriptTurns(transcript, [{ kind: "reply", tools: [{ input: order }] }], 0)[1]?.tools ?? [];
  assert.equal(found?.input, order, "nothing is rounded");
  assert.equal(toolWords(done), "answered after 120 ms");
  const [late, ...others] = last?.tools ?? [];
  assert.ok(late);
  assert.deepEqual(others, []);
  assert.equal(toolWords(late), "was stopped after 300 ms");
  assert.equal(toolWords({ ...late, output: "no" }), "failed after 300 ms");
});

test("a call without records of its turns shows what was said", () => {
  assert.deepEqual(recordsOf(undefined), []);
  assert.deepEqual(recordsOf({ turns: "none" }), []);
  const [turn] = transcriptTurns([{ role: "assistant", text: "Hello!", timestamp: 0 }], [], 0);
  assert.equal(turn?.wait, undefined);
});

test("a percentile is a value that was measured", () => {
  assert.equal(percentile([], 0.5), undefined);
  assert.equal(percentile([3, 1, 2], 0.5), 2);
  assert.equal(percentile([1, 2, 3, 4], 0.95), 4);
});
