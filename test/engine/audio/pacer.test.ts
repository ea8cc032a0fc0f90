import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { FRAME_MS } from "../../../engine/audio/audio-format.js";
import { Pacer } from "../../../engine/audio/pacer.js";
import type { Clock } from "../../../engine/time/clock.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";
import { AHEAD_FRAMES, FORMAT, speech, telephone } from "./paced-telephone.js";

const QUEUED_MAX_MS = 180_000;
const SEND_AHEAD_MS = 160;

test("the first frames leave at once, the rest in real time", () => {
  const { clock, stream, frames, late } = telephone();
  stream.enqueue(speech(50), "a");
  assert.equal(frames().length, AHEAD_FRAMES);
  clock.advance(100);
  assert.equal(frames().length, AHEAD_FRAMES + 5);
  clock.advance(50 * FRAME_MS);
  assert.equal(frames().length, 50);
  assert.deepEqual(late, []);
});

test("the mark follows the last frame of its sentence, which is filled up with silence", () => {
  const { clock, stream, sent } = telephone();
  stream.enqueue(speech(1.5), "a");
  stream.enqueue(speech(1, 2), "b");
  stream.enqueue(speech(0.5, 3), "c");
  clock.advance(100);
  assert.deepEqual(
    sent.map(({ what }) => what),
    ["frame", "frame", "a", "frame", "b", "frame", "c"],
  );
  assert.ok(
    sent.every(({ what, bytes }) => what !== "frame" || bytes.length === FORMAT.frameBytes),
  );
  assert.deepEqual(sent[1]?.bytes.subarray(80), new Uint8Array(80).fill(0xff));
});

test("after a clear nothing of what was queued leaves, and the next sentence leaves at once", () => {
  const { clock, stream, frames, sent } = telephone();
  stream.enqueue(speech(100), "old");
  clock.advance(40);
  stream.clear();
  const before = frames().length;
  clock.advance(1_000);
  assert.equal(frames().length, before);
  stream.enqueue(speech(2, 9), "new");
  assert.equal(frames().at(-1)?.bytes[0], 9);
  assert.ok(!sent.some(({ what }) => what === "old"));
});

test("while paused nothing is sent, and then it resumes at the same position", () => {
  const { clock, stream, frames } = telephone();
  const audio = Uint8Array.from({ length: 40 * FORMAT.frameBytes }, (_, at) =>
    Math.floor(at / FORMAT.frameBytes),
  );
  stream.enqueue(audio, "a");
  clock.advance(100);
  stream.hold();
  const before = frames().length;
  clock.advance(500);
  assert.equal(frames().length, before);
  stream.resume();
  clock.advance(2_000);
  assert.deepEqual(
    frames().map(({ bytes }) => bytes[0]),
    Array.from({ length: 40 }, (_, index) => index),
  );
});

test("more than three minutes are not taken", () => {
  const { stream } = telephone();
  const framesMax = QUEUED_MAX_MS / FRAME_MS;
  assert.equal(stream.enqueue(speech(framesMax), "a"), true);
  assert.equal(stream.enqueue(speech(AHEAD_FRAMES + 1), "b"), false);
  stream.clear();
  assert.equal(stream.enqueue(speech(1), "c"), true);
});

test("lateness is reported when the caller's buffer has run dry, and not before", () => {
  const { clock, stream, late } = telephone();
  stream.enqueue(speech(100), "a");
  clock.stall(SEND_AHEAD_MS);
  assert.deepEqual(late, []);
  clock.stall(SEND_AHEAD_MS + 100);
  assert.deepEqual(late, [100]);
  clock.advance(2_000);
  assert.deepEqual(late, [100]);
});

test("a piece that arrives before the late timer finds the waiting audio sent, and that reported", () => {
  const { stream, late, frames } = telephone();
  stream.enqueue(speech(AHEAD_FRAMES + 4));
  stream.sendDue(SEND_AHEAD_MS + 300);
  assert.deepEqual(late, [300]);
  assert.equal(frames().length, AHEAD_FRAMES + 4);
});

test("a pacer without lines has no timer", () => {
  const { clock, pacer, stream } = telephone();
  assert.equal(clock.pendingTimerCount, 1);
  const other = pacer.open(FORMAT, { frame: () => undefined, mark: () => undefined });
  assert.equal(clock.pendingTimerCount, 1, "one for all lines");
  stream.enqueue(speech(50));
  stream.close();
  assert.equal(stream.queuedMs, 0);
  assert.equal(clock.pendingTimerCount, 1);
  other.close();
  assert.equal(pacer.streamCount, 0);
  assert.equal(clock.pendingTimerCount, 0);
});

test("a telephone's exception is rethrown after the others' frames if there is no handler", (t) => {
  t.mock.timers.enable({ apis: ["setImmediate"] });
  const clock = new VirtualClock(0);
  const pacer = new Pacer(clock);
  const error = new Error("the socket is gone");
  const broken = pacer.open(FORMAT, {
    frame: () => undefined,
    mark: () => {
      throw error;
    },
  });
  let frames = 0;
  const other = pacer.open(FORMAT, { frame: () => void (frames += 1), mark: () => undefined });
  broken.enqueue(speech(AHEAD_FRAMES + 1), "a");
  other.enqueue(speech(AHEAD_FRAMES + 1));
  clock.advance(FRAME_MS);
  assert.deepEqual([frames, pacer.streamCount], [AHEAD_FRAMES + 1, 1]);
  assert.throws(() => t.mock.timers.tick(0), error);
});

test("whatever is enqueued, held and cleared, sound is never sent twice, reordered or sent too early", () => {
  const step = fc.oneof(
    fc.record({
      kind: fc.constant("enqueue" as const),
      frames: fc.double({ min: 0.1, max: 30, noNaN: true }),
    }),
    fc.record({
      kind: fc.constant("grow" as const),
      frames: fc.double({ min: 0, max: 12, noNaN: true }),
    }),
    fc.record({ kind: fc.constantFrom("hold" as const, "resume" as const, "clear" as const) }),
    fc.record({ kind: fc.constant("wait" as const), ms: fc.integer({ min: 1, max: 700 }) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const { clock, stream, frames } = telephone();
      for (const [index, each] of steps.entries()) {
        if (each.kind === "enqueue") stream.enqueue(speech(each.frames, index), String(index));
        else if (each.kind === "grow") stream.enqueue(speech(each.frames, index));
        else if (each.kind === "wait") clock.advance(each.ms);
        else stream[each.kind]();
      }
      const order = frames().map(({ bytes }) => bytes[0] ?? 0);
      assert.deepEqual(
        order,
        order.toSorted((one, other) => one - other),
      );
      const clears = steps.filter(({ kind }) => kind === "clear").length + 1;
      const framesMax = clock.monotonicMs() / FRAME_MS + clears * (AHEAD_FRAMES + 1);
      assert.ok(
        frames().length <= framesMax,
        `${frames().length} frames in ${clock.monotonicMs()} ms`,
      );
    }),
  );
});

test("a timer that is always late, each time by another amount, sends one frame each time", () => {
  const clock = new VirtualClock(0);
  const lateness = [3, 0, 9, 1, 5, 0, 8, 2];
  let fired = 0;
  const late: Clock = {
    epochMs: () => clock.epochMs(),
    monotonicMs: () => clock.monotonicMs(),
    after: (delayMs, action) => {
      fired += 1;
      return clock.after(delayMs + (lateness[fired % lateness.length] ?? 0), action);
    },
    every: (periodMs, action) => clock.every(periodMs, action),
  };
  const atMs: number[] = [];
  const stream = new Pacer(late).open(FORMAT, {
    frame: () => atMs.push(clock.monotonicMs()),
    mark: () => undefined,
  });
  clock.advance(7);
  stream.enqueue(speech(400), "a");
  clock.advance(6_000);
  const paced = atMs.slice(AHEAD_FRAMES);
  assert.ok(paced.length > 250);
  for (const [index, sentMs] of paced.entries()) {
    const offMs = sentMs - (paced[0] ?? 0) - index * FRAME_MS;
    assert.ok(Math.abs(offMs) <= 9, `frame ${index} is off by ${offMs} ms`);
  }
});

test("after a pause of the whole process the frames that are due leave together", () => {
  const clock = new VirtualClock(0);
  let stalledMs = 0;
  const stalling: Clock = {
    epochMs: () => clock.epochMs(),
    monotonicMs: () => clock.monotonicMs(),
    after: (delayMs, action) => clock.after(delayMs + stalledMs, action),
    every: (periodMs, action) => clock.every(periodMs, action),
  };
  let frames = 0;
  const stream = new Pacer(stalling).open(FORMAT, {
    frame: () => {
      frames += 1;
    },
    mark: () => undefined,
    late: () => assert.fail("the telephone still had sound"),
  });
  stream.enqueue(speech(400), "a");
  stalledMs = 90;
  clock.advance(20);
  stalledMs = 0;
  clock.advance(110);
  assert.equal(frames, AHEAD_FRAMES + 6);
});

test("a telephone that throws closes its own stream; the others play on, and it is reported", () => {
  const clock = new VirtualClock(0);
  const faults: unknown[] = [];
  const pacer = new Pacer(clock, (fault) => faults.push(fault));
  const error = new Error("the socket is gone");
  let frames = 0;
  let isGone = false;
  const broken = pacer.open(FORMAT, {
    frame: () => {
      if (isGone) throw error;
    },
    mark: () => undefined,
  });
  const other = pacer.open(FORMAT, {
    frame: () => {
      frames += 1;
    },
    mark: () => undefined,
  });
  broken.enqueue(speech(100), "a");
  other.enqueue(speech(100), "b");
  isGone = true;
  clock.advance(200);
  assert.deepEqual(faults, [error]);
  assert.equal(pacer.streamCount, 1);
  assert.equal(frames, AHEAD_FRAMES + 10);
});

test("after an intended silence nothing is late", () => {
  const { clock, stream, late } = telephone();
  stream.enqueue(speech(100), "a");
  clock.advance(100);
  stream.hold();
  clock.advance(1_000);
  stream.resume();
  clock.advance(100);
  assert.deepEqual(late, []);
});

test("a stream that keeps nothing is sent only as much ahead as it says", () => {
  const clock = new VirtualClock();
  const sent: string[] = [];
  const stream = new Pacer(clock).open(
    { ...FORMAT, aheadMs: 2 * FRAME_MS },
    { frame: () => sent.push("frame"), mark: (name) => sent.push(name) },
  );
  stream.enqueue(speech(4), "a");
  assert.deepEqual(sent, ["frame", "frame"]);
  clock.advance(2 * FRAME_MS);
  assert.deepEqual(sent, ["frame", "frame", "frame", "frame", "a"]);
});
