import assert from "node:assert/strict";
import { test } from "node:test";
import {
  countsWords,
  doneOf,
  peopleOf,
  rowReasonWords,
  windowsWords,
} from "../../../api/console/words/call-list-words.js";

const NONE = { waiting: 0, calling: 0, completed: 0, failed: 0, skipped: 0, cancelled: 0 };

test("a list's progress names the states that there are", () => {
  const counts = { ...NONE, waiting: 4, calling: 1, completed: 2, failed: 3 };
  assert.equal(countsWords(counts), "2 reached, 3 not reached, 1 calling, 4 waiting");
  assert.deepEqual([doneOf(counts), peopleOf(counts)], [5, 10]);
  assert.equal(countsWords(NONE), "");
});

test("hours are named by their days", () => {
  const hours = { from: "09:00", to: "20:00" };
  assert.equal(
    windowsWords([
      { days: ["mon", "tue", "wed", "thu", "fri"], ...hours },
      { days: ["sat"], from: "10:00", to: "24:00" },
    ]),
    "Mon–Fri 09:00–20:00; Sat 10:00–24:00",
  );
  const everyDay = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"] as const;
  assert.equal(windowsWords([{ days: everyDay, ...hours }]), "Every day 09:00–20:00");
});

test("a reason is that of a call's record, or why there was no call", () => {
  assert.equal(rowReasonWords("doNotCall"), "on the do-not-call list");
  assert.equal(rowReasonWords("busy"), "the line was busy");
  assert.equal(rowReasonWords("the server stopped"), "the server stopped");
});
