import assert from "node:assert/strict";
import { test } from "node:test";
import { PacedReplay } from "../../../../engine/vendors/chain/stt-chain.js";
import { VirtualClock } from "../../../doubles/virtual-clock.js";

const PHONE = { encoding: "mulaw", sampleRateHz: 8_000 } as const;

function replayOf(keptMs: number, durationMs: number) {
  const clock = new VirtualClock();
  const replay = new PacedReplay(clock, PHONE, keptMs);
  replay.keep(new Uint8Array(durationMs * 8));
  const told: number[] = [];
  const write = (audio: Uint8Array) => void told.push(audio.length / 8);
  return { clock, replay, told, write };
}

test("a backlog is told at twice real time, and with its last step it is over", () => {
  const { clock, replay, told, write } = replayOf(1_000, 110);
  replay.start(0, write);
  clock.advance(40);
  assert.deepEqual([told, replay.isUnderway], [[40, 40], true]);
  clock.advance(20);
  assert.deepEqual([told, replay.isUnderway], [[40, 40, 30], false]);
  replay.flush(write);
  clock.advance(1_000);
  assert.equal(told.length, 3);
});

test("what is left at the end of a call is told at once", () => {
  const { clock, replay, told, write } = replayOf(1_000, 200);
  replay.start(0, write);
  clock.advance(20);
  replay.flush(write);
  clock.advance(1_000);
  assert.deepEqual([told, replay.isUnderway], [[40, 160], false]);
});

test("what is older than what is kept is left out, and nothing is told where all is known", () => {
  const { clock, replay, told, write } = replayOf(100, 300);
  replay.start(replay.endByte, write);
  assert.equal(replay.isUnderway, false);
  replay.start(0, write);
  clock.advance(1_000);
  assert.equal(
    told.reduce((sum, durationMs) => sum + durationMs, 0),
    100,
  );
});

test("who is told anew is told from another place on, and nothing of what was begun before", () => {
  const { clock, replay, told, write } = replayOf(1_000, 100);
  const before: number[] = [];
  replay.start(0, (audio) => before.push(audio.length));
  replay.start(60 * 8, write);
  clock.advance(100);
  assert.deepEqual([before, told], [[], [40]]);
  assert.equal(clock.pendingTimerCount, 0);
});

test("a late step tells as much more, and one that has no time to tell of says nothing", () => {
  const { clock, replay, told, write } = replayOf(1_000, 500);
  replay.start(0, write);
  clock.stall(100);
  assert.deepEqual(told, [200]);
  clock.advance(20);
  assert.deepEqual(told, [200, 40]);
});
