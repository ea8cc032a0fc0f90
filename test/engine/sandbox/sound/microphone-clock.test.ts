import assert from "node:assert/strict";
import { test } from "node:test";
import { MicrophoneClock } from "../../../../engine/sandbox/sound/microphone-clock.js";
import { VirtualClock } from "../../../doubles/virtual-clock.js";

test("every caller is called once per 20 ms, without end", () => {
  const clock = new VirtualClock(7);
  const microphones = new MicrophoneClock(clock);
  const ticks = [0, 0];
  microphones.add(() => (ticks[0] = (ticks[0] ?? 0) + 1));
  clock.advance(3);
  microphones.add(() => (ticks[1] = (ticks[1] ?? 0) + 1));
  clock.advance(60_000);

  for (const count of ticks) assert.ok(Math.abs(count - 3000) <= 1, `${count} frames in a minute`);
});

test("callers are spread over the time of a frame", () => {
  const clock = new VirtualClock(0);
  const microphones = new MicrophoneClock(clock);
  const timesMs = new Set<number>();
  for (let n = 0; n < 10; n += 1) microphones.add(() => timesMs.add(clock.monotonicMs()));
  clock.advance(19);

  assert.deepEqual([...timesMs], [0, 2, 4, 6, 8, 10, 12, 14, 16, 18]);
});

test("frames that are late because the process was busy are sent at once, but only those of one second", () => {
  let nowMs = 0;
  let wake: (() => void) | undefined;
  const microphones = new MicrophoneClock({
    epochMs: () => nowMs,
    monotonicMs: () => nowMs,
    after: (_delayMs, action) => {
      wake = action;
      return () => undefined;
    },
    every: () => () => undefined,
  });
  let ticks = 0;
  microphones.add(() => {
    ticks += 1;
  });
  nowMs = 200;
  wake?.();
  assert.equal(ticks, 11);
  nowMs = 60_000;
  wake?.();

  assert.ok(Math.abs(ticks - 11 - 50) <= 1, `${ticks - 11} frames after a minute's pause`);
});

test("without callers there is no timer", () => {
  const clock = new VirtualClock();
  const microphones = new MicrophoneClock(clock);
  const stopFirst = microphones.add(() => undefined);
  const stopSecond = microphones.add(() => undefined);
  assert.equal(clock.pendingTimerCount, 1);
  stopFirst();
  assert.equal(clock.pendingTimerCount, 1);
  stopSecond();
  assert.equal(clock.pendingTimerCount, 0);
});
