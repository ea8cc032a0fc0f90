import assert from "node:assert/strict";
import { test } from "node:test";
import {
  countsWords,
  doneOf,
  holdWords,
  isHeldForLong,
  listState,
  peopleOf,
  reachedWords,
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

const HOLD = {
  code: "telephony_unavailable",
  reason: "the telephony vendor cannot be reached",
  since: "2026-03-01T10:02:00Z",
  retryAt: "2026-03-01T10:12:00Z",
};

test("a running list that places no calls says why, since when, and when it tries again", () => {
  const list = { state: "running", hold: HOLD, nextCallAt: null, counts: NONE } as const;
  assert.deepEqual(listState(list), { words: "waiting for the vendor", look: "warn" });
  assert.match(
    holdWords(list) ?? "",
    /^No call could be placed since .+: the telephony vendor cannot be reached\. Next try after .+\.$/,
  );
  const paused = { ...list, state: "paused", hold: { ...HOLD, retryAt: null } } as const;
  assert.equal(listState(paused).words, "paused");
  assert.match(holdWords(paused) ?? "", /^Paused: the telephony vendor .+ \(since .+\)\.$/);
  const night = { ...list, hold: null, nextCallAt: "2026-03-02T08:00:00Z" };
  assert.match(listState(night).words, /^waiting until Mar 2, 2026/);
  assert.equal(listState({ ...night, counts: { ...NONE, calling: 1 } }).words, "calling");
  assert.equal(holdWords(night), undefined);
});

test("a list that is held for long is one to look at, and one that waits for a free call is not", () => {
  const running = { state: "running", hold: HOLD } as const;
  assert.ok(isHeldForLong(running));
  assert.ok(isHeldForLong({ state: "paused", hold: { ...HOLD, code: "agent_not_found" } }));
  const full = { ...HOLD, code: "calls_limit_reached" };
  assert.equal(isHeldForLong({ state: "running", hold: full }), false);
  assert.equal(isHeldForLong({ state: "paused", hold: null }), false);
  assert.equal(isHeldForLong({ state: "completed", hold: HOLD }), false);
});

test("how many were reached is of those who are done with, without those who were cancelled", () => {
  assert.equal(reachedWords(NONE), "none yet");
  const counts = { ...NONE, completed: 12, failed: 17, skipped: 1, cancelled: 9, waiting: 4 };
  assert.equal(reachedWords(counts), "12 of 30 (40 %)");
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
  assert.equal(rowReasonWords("doNotCall", "skipped"), "on the do-not-call list");
  assert.equal(rowReasonWords("busy", "failed"), "the line was busy");
  assert.equal(rowReasonWords("machine", "completed"), "the agent left a message");
  assert.equal(rowReasonWords("machine", "failed"), "an answering machine");
  assert.equal(rowReasonWords("the server stopped", "failed"), "the server stopped");
});
