import assert from "node:assert/strict";
import { test } from "node:test";
import {
  againstWords,
  lengthWords,
  momentWords,
  waitWords,
  whenWords,
} from "../../../api/console/words/durations.js";

test("a wait is told against an earlier one", () => {
  assert.equal(againstWords(880, 1_000), "12 % quicker");
  assert.equal(againstWords(1_030, 1_000), "3 % slower");
  assert.equal(againstWords(1_001, 1_000), "as quick");
  assert.equal(againstWords(5, 0), "as quick");
});

test("waits are told in milliseconds up to 999, then in seconds with one decimal", () => {
  assert.deepEqual([0, 0.4, 82.6, 999.4, 999.6, 1_049, 12_345].map(waitWords), [
    "0 ms",
    "0 ms",
    "83 ms",
    "999 ms",
    "1.0 s",
    "1.0 s",
    "12.3 s",
  ]);
});

test("lengths of calls and moments in them", () => {
  assert.deepEqual([0, 8.2, 59.7, 125, 3_725].map(lengthWords), [
    "0 s",
    "8 s",
    "1:00 min",
    "2:05 min",
    "1:02:05 h",
  ]);
  assert.deepEqual([-1, 0, 8.9, 754].map(momentWords), ["0:00", "0:00", "0:08", "12:34"]);
});

test("what was within a day is told relative to now", () => {
  const now = Date.parse("2026-03-02T12:00:00Z");
  const ago = (sec: number) => whenWords(now - sec * 1_000, now);
  assert.deepEqual([0, 30, 90, 7_300].map(ago), ["just now", "30 s ago", "1 min ago", "2 h ago"]);
  assert.match(ago(3 * 86_400), /2026/);
});
