import assert from "node:assert/strict";
import { test } from "node:test";
import { AudioTrack } from "../../../engine/calls/audio-track.js";
import { CallerPlacement } from "../../../engine/calls/caller-placement.js";

const RATE_HZ = 8_000;
const second = () => new Int16Array(RATE_HZ).fill(1);

test("of what waits to be placed only the newest twelve seconds are kept", () => {
  const track = new AudioTrack();
  const placement = new CallerPlacement(track, RATE_HZ);
  for (let n = 1; n <= 20; n += 1) placement.add(second(), n * RATE_HZ);
  placement.finish();
  assert.equal(track.heldSamples, 12 * RATE_HZ);
  assert.equal(placement.endsAt, 20 * RATE_HZ);
});

test("a line that floods is cut off five seconds ahead of the time", () => {
  const track = new AudioTrack();
  const placement = new CallerPlacement(track, RATE_HZ);
  for (let n = 1; n <= 20; n += 1) {
    placement.add(second(), RATE_HZ);
    placement.settle(RATE_HZ);
  }
  const aheadSec = (placement.endsAt - RATE_HZ) / RATE_HZ;
  assert.ok(aheadSec > 5 && aheadSec <= 6, `${aheadSec} s`);
});
