import assert from "node:assert/strict";
import { test } from "node:test";
import { isRecent } from "../../../engine/telephony/webhook-age.js";

const NOW_MS = 1_800_000_000_000;

test("a webhook is recent for five minutes before and behind its time", () => {
  for (const [ageSec, expected] of [
    [0, true],
    [300, true],
    [-300, true],
    [301, false],
    [-301, false],
  ] as const) {
    assert.equal(isRecent(`${NOW_MS / 1_000 - ageSec}`, NOW_MS), expected, `${ageSec} s`);
  }
  assert.equal(isRecent(`${NOW_MS / 1_000 - 300}`, NOW_MS + 1), false);
});

test("what is not written as whole seconds is never recent", () => {
  const seconds = `${NOW_MS / 1_000}`;
  for (const odd of [
    ` ${seconds}`,
    `${seconds}.0`,
    `+${seconds}`,
    `000${seconds}`,
    "1.8e9",
    "0x6b49d200",
  ]) {
    assert.equal(isRecent(odd, NOW_MS), false, odd);
  }
  assert.equal(isRecent("", 0), false, "a missing one is not that of 1970");
});
