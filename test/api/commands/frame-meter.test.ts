import assert from "node:assert/strict";
import { test } from "node:test";
import { FrameMeter } from "../../../api/commands/call/frame-meter.js";

const FRAME_BYTES = 160;
const MS = 1_000_000n;
const BURST_FRAMES = 10;

function metered(gapsMs: readonly number[]): FrameMeter {
  const meter = new FrameMeter();
  let atMs = 0;
  for (const gapMs of gapsMs) {
    atMs += gapMs;
    meter.add(FRAME_BYTES, BigInt(atMs) * MS);
  }
  return meter;
}

const burst = Array.from({ length: BURST_FRAMES }, () => 0);

test("a burst at the start of speech does not count as jitter", () => {
  const { count, bytes, jitterMs, longestGapMs } = metered(burst).measures;
  assert.deepEqual(
    [count, bytes, jitterMs, longestGapMs],
    [BURST_FRAMES, BURST_FRAMES * FRAME_BYTES, undefined, undefined],
  );
});

test("regular frames have no jitter, and a late one adds a sixteenth of its delay", () => {
  assert.equal(metered([...burst, 20, 20, 20]).measures.jitterMs, 0);
  const late = metered([...burst, 20, 36]).measures;
  assert.deepEqual([late.jitterMs, late.longestGapMs], [1, 36]);
});

test("a pause of the agent does not count as a gap", () => {
  const { longestGapMs } = metered([...burst, 20, 5_000, ...burst, 21]).measures;
  assert.equal(longestGapMs, 21);
});
