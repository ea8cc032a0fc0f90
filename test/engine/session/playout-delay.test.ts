import assert from "node:assert/strict";
import { test } from "node:test";
import {
  PLAYOUT_DELAY_MAX_MS,
  PLAYOUT_DELAY_UNKNOWN_MS,
  PlayoutDelay,
  PlayoutDelays,
} from "../../../engine/session/playout-delay.js";

const PROMPT = { durationMs: 2_000, elapsedMs: 500, deficitMs: 0 };

test("a voice that nobody has heard yet is held back a little, one that is quick and even not at all", () => {
  const delay = new PlayoutDelay();
  assert.equal(delay.of(2_000), PLAYOUT_DELAY_UNKNOWN_MS);
  delay.observe(PROMPT);
  assert.equal(delay.of(2_000), 0);
});

test("an uneven voice is held back as long as its poor sentences of late would have needed", () => {
  const delay = new PlayoutDelay();
  delay.observe({ durationMs: 2_000, elapsedMs: 1_400, deficitMs: 55 });
  delay.observe(PROMPT);
  assert.equal(delay.of(10_000), 55, "however long the sentence is");
  for (let count = 0; count < 32; count += 1) delay.observe(PROMPT);
  assert.equal(delay.of(2_000), 0, "and is forgiven");
});

test("a sentence that stalled among many that did not holds nobody back", () => {
  const delay = new PlayoutDelay();
  for (let count = 0; count < 15; count += 1) delay.observe(PROMPT);
  delay.observe({ durationMs: 2_000, elapsedMs: 3_000, deficitMs: 1_200 });
  assert.equal(delay.of(2_000), 0);
  delay.observe({ durationMs: 2_000, elapsedMs: 3_000, deficitMs: 1_000 });
  assert.equal(delay.of(2_000), 1_000, "two of seventeen are no accident");
});

test("what comes slower than it plays is held back the longer, the longer it lasts, up to a bound", () => {
  const delay = new PlayoutDelay();
  delay.observe({ durationMs: 2_000, elapsedMs: 2_500, deficitMs: 500 });
  assert.equal(delay.of(2_000), 500);
  assert.equal(delay.of(4_000), 1_000);
  assert.equal(delay.of(60_000), PLAYOUT_DELAY_MAX_MS);
});

test("each voice has a delay of its own, and only so many are kept", () => {
  const delays = new PlayoutDelays();
  const first = delays.of("first");
  first.observe(PROMPT);
  assert.equal(delays.of("first"), first);
  assert.notEqual(delays.of("second"), first);
  for (let voice = 0; voice < 1_100; voice += 1) delays.of(`voice ${voice}`);
  assert.notEqual(delays.of("first"), first);
});
