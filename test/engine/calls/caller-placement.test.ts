import assert from "node:assert/strict";
import { test } from "node:test";
import { AudioTrack, CallerPlacement } from "../../../engine/calls/recording/recording.js";

const RATE_HZ = 8_000;
const second = () => new Int16Array(RATE_HZ).fill(1);

test("of audio that waits to be placed only the newest twelve seconds are kept", () => {
  const track = new AudioTrack();
  const placement = new CallerPlacement(track, RATE_HZ);
  for (let n = 1; n <= 20; n += 1) placement.add(second(), n * RATE_HZ);
  placement.finish();
  assert.equal(track.bufferedSamples, 12 * RATE_HZ);
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

test("what has its place keeps it, and is not placed again", () => {
  const placement = new CallerPlacement(new AudioTrack(), RATE_HZ);
  placement.add(second(), RATE_HZ);
  for (let n = 0; n < 3; n += 1) placement.settle(RATE_HZ);
  assert.equal(placement.endsAt, RATE_HZ);
  placement.add(second(), 2 * RATE_HZ);
  placement.finish();
  placement.finish();
  assert.equal(placement.endsAt, 2 * RATE_HZ);
});

test("a chunk that came after the moment that is settled waits", () => {
  const placement = new CallerPlacement(new AudioTrack(), RATE_HZ);
  placement.add(second(), RATE_HZ);
  placement.add(second(), 2 * RATE_HZ);
  placement.settle(2 * RATE_HZ - 1);
  assert.equal(placement.endsAt, RATE_HZ);
  placement.settle(2 * RATE_HZ);
  assert.equal(placement.endsAt, 2 * RATE_HZ);
});

/** Where the second of two chunks ends if it arrives this much later than right after the first. */
function endAfterPause(pauseMs: number): number {
  const placement = new CallerPlacement(new AudioTrack(), RATE_HZ);
  const pause = (pauseMs * RATE_HZ) / 1_000;
  placement.add(second(), RATE_HZ);
  placement.add(second(), 2 * RATE_HZ + pause);
  placement.finish();
  return placement.endsAt - 2 * RATE_HZ;
}

test("a pause of more than sixty milliseconds is silence, a shorter one is the network's", () => {
  assert.equal(endAfterPause(0), 0);
  assert.equal(endAfterPause(60), 0);
  assert.equal(endAfterPause(61), (61 * RATE_HZ) / 1_000);
  assert.equal(endAfterPause(500), (500 * RATE_HZ) / 1_000);
});

/** The length of the second of two chunks whose clock drifts from the server's by this much. */
function lengthAfterDrift(driftMs: number): number {
  const placement = new CallerPlacement(new AudioTrack(), RATE_HZ);
  const drift = (driftMs * RATE_HZ) / 1_000;
  placement.add(second(), RATE_HZ);
  placement.settle(RATE_HZ);
  placement.add(second(), 2 * RATE_HZ + drift);
  placement.settle(3 * RATE_HZ);
  return placement.endsAt - RATE_HZ;
}

test("a clock that runs away by more than eight milliseconds is followed, a sample in 160", () => {
  assert.equal(lengthAfterDrift(8), RATE_HZ);
  assert.equal(lengthAfterDrift(9), RATE_HZ + 50);
  assert.equal(lengthAfterDrift(-8), RATE_HZ);
  assert.equal(lengthAfterDrift(-9), RATE_HZ - 50);
  assert.equal(lengthAfterDrift(-500), RATE_HZ - 50);
});

test("no more pieces wait than twelve seconds have, however small they are", () => {
  const track = new AudioTrack();
  const placement = new CallerPlacement(track, RATE_HZ);
  for (let n = 1; n <= 5_000; n += 1) placement.add(Int16Array.of(1), n);
  placement.finish();
  assert.equal(track.bufferedSamples, 4_000);
});

test("a chunk is stretched or shortened evenly, and one of a single sample is said all the same", () => {
  const placedAfterDrift = (pcm: Int16Array, driftMs: number) => {
    const track = new AudioTrack();
    const placement = new CallerPlacement(track, RATE_HZ);
    placement.add(second(), RATE_HZ);
    placement.settle(RATE_HZ);
    const drift = (driftMs * RATE_HZ) / 1_000;
    placement.add(pcm, RATE_HZ + pcm.length + drift);
    placement.settle(3 * RATE_HZ);
    const block = new Int16Array(2 * (placement.endsAt - RATE_HZ));
    track.take(RATE_HZ, block, 0);
    return [...block].filter((_, index) => index % 2 === 0);
  };
  const rising = Int16Array.from({ length: 160 }, (_, index) => index + 1);
  const shorter = placedAfterDrift(rising, -9);
  assert.equal(shorter.length, 159);
  assert.deepEqual([shorter[0], shorter[80], shorter[158]], [1, 81, 159]);
  const longer = placedAfterDrift(rising, 9);
  assert.equal(longer.length, 161);
  assert.deepEqual([longer[0], longer[80], longer[160]], [1, 80, 160]);
  assert.deepEqual(placedAfterDrift(Int16Array.of(7), -9), [7]);
});
