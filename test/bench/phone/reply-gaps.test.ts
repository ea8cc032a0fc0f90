import assert from "node:assert/strict";
import { test } from "node:test";
import { ReplyGaps } from "../../../bench/phone/reply-gaps.js";

const MS = 1_000_000n;

test("a pause within a reply counts, and neither its first burst nor what lies between two replies", () => {
  const gaps = new ReplyGaps();
  for (let frame = 0; frame < 10; frame += 1) gaps.heard(0n);
  gaps.heard(20n * MS);
  gaps.heard(320n * MS);
  gaps.asked();
  gaps.heard(5_000n * MS);
  assert.deepEqual(gaps.gapsMs, [20, 300]);
});
