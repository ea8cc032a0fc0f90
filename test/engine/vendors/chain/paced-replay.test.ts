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

test("a backlog is replayed at twice real time, and ends with its last step", () => {
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

test("the rest at the end of a call is sent immediately", () => {
  const { clock, replay, told, write } = replayOf(1_000, 200);
  replay.start(0, write);
  clock.advance(20);
  replay.flush(write);
  clock.advance(1_000);
  assert.deepEqual([told, replay.isUnderway], [[40, 160], false]);
});

test("audio older than the buffer is skipped, and nothing is replayed if all is known", () => {
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

test("a new replay starts from another position, and continues nothing of an earlier one", () => {
  const { clock, replay, told, write } = replayOf(1_000, 100);
  const before: number[] = [];
  replay.start(0, (audio) => before.push(audio.length));
  replay.start(60 * 8, write);
  clock.advance(100);
  assert.deepEqual([before, told], [[], [40]]);
  assert.equal(clock.pendingTimerCount, 0);
});

test("a late step sends correspondingly more, and one without elapsed time sends nothing", () => {
  const { clock, replay, told, write } = replayOf(1_000, 500);
  replay.start(0, write);
  clock.stall(100);
  assert.deepEqual(told, [200]);
  clock.advance(20);
  assert.deepEqual(told, [200, 40]);
});
