import assert from "node:assert/strict";
import { test } from "node:test";
import { CallerAudioClock } from "../../../engine/conversation/actor.js";
import { SeededRandom } from "../../simulation/seeded-random.js";

const FRAME_MS = 20;
const STARTED_AT_MS = 10_000;

/** A frame comes when its last sample has been spoken, and up to `jitterMs` later. */
function listen(
  clock: CallerAudioClock,
  frames: number,
  jitterMs: number,
  fromFrame = 0,
  lateMs = 0,
): void {
  const random = new SeededRandom(3);
  for (let frame = fromFrame; frame < fromFrame + frames; frame += 1) {
    const heardMs = (frame + 1) * FRAME_MS;
    const lateness = random.fraction() * jitterMs + lateMs;
    clock.received(heardMs, STARTED_AT_MS + heardMs + lateness);
  }
}

test("what the caller waited is right within 5 ms, wherever in a frame it ends", () => {
  for (const jitterMs of [0, 15]) {
    const clock = new CallerAudioClock();
    listen(clock, 250, jitterMs);
    const spokenMs = 4_000;
    for (const passedMs of [1_000, 1_005, 1_013, 1_019]) {
      const agoMs = clock.agoMs(spokenMs, STARTED_AT_MS + spokenMs + passedMs);
      assert.ok(Math.abs(agoMs - passedMs) <= 5, `${agoMs} ms for ${passedMs} ms`);
    }
  }
});

test("how long ago audio came is as long as it was spoken, but for audio that came ahead of time", () => {
  const clock = new CallerAudioClock();
  listen(clock, 100, 0);
  const nowMs = STARTED_AT_MS + 2_000;
  for (const spokenMs of [1_990, 1_910, 700, 20]) {
    assert.equal(clock.arrivedAgoMs(spokenMs, nowMs + 500), 2_500 - spokenMs);
  }
  // Seven seconds in one step.
  for (let heardMs = 2_020; heardMs <= 9_000; heardMs += FRAME_MS) clock.received(heardMs, nowMs);
  assert.equal(clock.arrivedAgoMs(3_000, nowMs + 300), 300);
  assert.ok(clock.agoMs(3_000, nowMs + 300) >= 6_000);
  assert.equal(clock.arrivedAgoMs(1_000, nowMs), 1_000, "what came before it came in time");
  // Another minute, of which the newest ten seconds are known.
  for (let heardMs = 9_020; heardMs <= 60_000; heardMs += FRAME_MS)
    clock.received(heardMs, nowMs + 1_000);
  assert.equal(clock.arrivedAgoMs(3_000, nowMs + 1_200), 200);
  assert.equal(clock.arrivedAgoMs(59_990, nowMs + 1_200), 200);
  assert.equal(clock.arrivedAgoMs(60_001, nowMs + 1_200), 0, "it has not come");
  assert.equal(clock.arrivedAgoMs(undefined, nowMs), 0);
});

test("after a gap in the audio the stream lies that much later", () => {
  const clock = new CallerAudioClock();
  listen(clock, 100, 10);
  listen(clock, 100, 10, 100, 3_000);
  const agoMs = clock.agoMs(3_500, STARTED_AT_MS + 3_500 + 3_000 + 600);
  assert.ok(Math.abs(agoMs - 600) <= 5, `${agoMs} ms`);
});

test("a word that is not known, or not over, was said just now", () => {
  const clock = new CallerAudioClock();
  assert.equal(clock.agoMs(100, 5_000), 0);
  listen(clock, 10, 0);
  assert.equal(clock.agoMs(undefined, STARTED_AT_MS), 0);
  assert.equal(clock.agoMs(60_000, STARTED_AT_MS), 0);
});

test("two clocks that part slowly are followed", () => {
  const clock = new CallerAudioClock();
  for (let frame = 0; frame < 30_000; frame += 1) {
    const heardMs = (frame + 1) * FRAME_MS;
    clock.received(heardMs, STARTED_AT_MS + heardMs * 1.0002);
  }
  const spokenMs = 599_000;
  const agoMs = clock.agoMs(spokenMs, STARTED_AT_MS + 600_000 * 1.0002);
  assert.ok(Math.abs(agoMs - 1_000) <= 5, `${agoMs} ms`);
});

test("audio that comes 200 ms later than the one before is late, more is a gap in the stream", () => {
  const agoMs = (lateMs: number) => {
    const clock = new CallerAudioClock();
    clock.received(20, STARTED_AT_MS + 20);
    clock.received(40, STARTED_AT_MS + 40 + lateMs);
    return Math.round(clock.agoMs(40, STARTED_AT_MS + 1_040));
  };
  assert.deepEqual([0, 200, 201].map(agoMs), [1_000, 1_000, 799]);
});
