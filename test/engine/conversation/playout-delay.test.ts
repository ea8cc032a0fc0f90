import assert from "node:assert/strict";
import { test } from "node:test";
import { PlayoutDelay, PlayoutDelays } from "../../../engine/conversation/synthesis.js";

const PLAYOUT_DELAY_MAX_MS = 3_000;
const PLAYOUT_DELAY_UNKNOWN_MS = 40;

const PROMPT = { durationMs: 2_000, elapsedMs: 500, minMarginMs: 75 };

test("an unmeasured voice is held back a little, one that is fast and even not at all", () => {
  const delay = new PlayoutDelay();
  assert.equal(delay.of(2_000), PLAYOUT_DELAY_UNKNOWN_MS);
  delay.observe(PROMPT);
  assert.equal(delay.of(2_000), 0);
});

test("an uneven voice is held back as long as its poor sentences of late would have needed", () => {
  const delay = new PlayoutDelay();
  delay.observe({ durationMs: 2_000, elapsedMs: 1_400, minMarginMs: -55 });
  delay.observe(PROMPT);
  assert.equal(delay.of(10_000), 75, "however long the sentence is, and a frame to spare");
  for (let count = 0; count < 32; count += 1) delay.observe(PROMPT);
  assert.equal(delay.of(2_000), 0, "and is forgiven");
});

test("a voice whose next audio only just comes in time is held back until a frame is to spare", () => {
  const delay = new PlayoutDelay();
  for (let count = 0; count < 31; count += 1) delay.observe(PROMPT);
  delay.observe({ durationMs: 2_000, elapsedMs: 1_400, minMarginMs: 2 });
  assert.equal(delay.of(2_000), 18, "by the worst of its sentences, since the wait is short");
});

test("one piece alone says nothing of how even a voice is", () => {
  const delay = new PlayoutDelay();
  delay.observe({ durationMs: 400, elapsedMs: 0, minMarginMs: Number.POSITIVE_INFINITY });
  assert.equal(delay.of(2_000), 0);
});

test("one stalled sentence among many that did not stall delays none", () => {
  const delay = new PlayoutDelay();
  for (let count = 0; count < 15; count += 1) delay.observe(PROMPT);
  delay.observe({ durationMs: 2_000, elapsedMs: 3_000, minMarginMs: -1_200 });
  assert.equal(delay.of(2_000), 0);
  delay.observe({ durationMs: 2_000, elapsedMs: 3_000, minMarginMs: -1_000 });
  assert.equal(delay.of(2_000), 1_020, "two of seventeen are no accident");
});

test("what comes slower than it plays is held back the longer, the longer it lasts, up to a bound", () => {
  const delay = new PlayoutDelay();
  delay.observe({ durationMs: 2_000, elapsedMs: 2_500, minMarginMs: -500 });
  assert.equal(delay.of(2_000), 520);
  assert.equal(delay.of(4_000), 1_020);
  assert.equal(delay.of(60_000), PLAYOUT_DELAY_MAX_MS);
});

test("each voice has its own delay, and the number of voices is limited", () => {
  const delays = new PlayoutDelays();
  const first = delays.of("first");
  first.observe(PROMPT);
  assert.equal(delays.of("first"), first);
  assert.notEqual(delays.of("second"), first);
  for (let voice = 0; voice < 1_022; voice += 1) delays.of(`voice ${voice}`);
  assert.equal(delays.of("first"), first);
  for (let voice = 0; voice < 1_024; voice += 1) delays.of(`other ${voice}`);
  assert.notEqual(delays.of("first"), first);
});

test("the newest 32 sentences of a voice count, of which a wait of 60 ms is for the worst", () => {
  for (const [minMarginMs, delayMs] of [
    [2, 18],
    [-40, 60],
    [-41, 0],
  ] as const) {
    const delay = new PlayoutDelay();
    delay.observe({ durationMs: 2_000, elapsedMs: 1_400, minMarginMs });
    for (let count = 1; count < 32; count += 1) delay.observe(PROMPT);
    assert.equal(delay.of(2_000), delayMs);
    delay.observe(PROMPT);
    assert.equal(delay.of(2_000), 0);
  }
});

test("one bad sentence in ten is an accident, and one that came as fast as it plays is not slow", () => {
  const bad = { durationMs: 2_000, elapsedMs: 2_000, minMarginMs: -500 };
  const delay = new PlayoutDelay();
  for (let count = 0; count < 10; count += 1) delay.observe(PROMPT);
  delay.observe(bad);
  assert.equal(delay.of(4_000), 0);
  delay.observe(bad);
  assert.equal(delay.of(4_000), 520);
  assert.equal(delay.of(500), 520);
});

test("only audio that arrives slower than it plays, and left a gap, needs more delay for a longer sentence", () => {
  for (const [durationMs, elapsedMs, minMarginMs, delayMs] of [
    [200, 201, -50, 120],
    [200, 200, -50, 70],
    [200, 300, 0.5, 19.5],
    [1, 10, -5, 2_020],
    [0, 10, -10, 30],
  ] as const) {
    const delay = new PlayoutDelay();
    delay.observe({ durationMs, elapsedMs, minMarginMs });
    assert.equal(delay.of(400), delayMs, `${durationMs} in ${elapsedMs}`);
  }
});
