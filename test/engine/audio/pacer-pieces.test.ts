import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { FRAME_MS } from "../../../engine/audio/audio-format.js";
import { Pacer } from "../../../engine/audio/pacer.js";
import type { Clock } from "../../../engine/time/clock.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";
import { AHEAD_FRAMES, FORMAT, speech, telephone } from "./paced-telephone.js";

const QUEUED_MAX_MS = 180_000;

test("a sentence that comes in pieces leaves in the same frames as it would whole", () => {
  const cut = fc.array(fc.integer({ min: 0, max: 700 }), { maxLength: 30 });
  fc.assert(
    fc.property(cut, (sizes) => {
      const whole = Uint8Array.from(
        { length: sizes.reduce((sum, size) => sum + size, 1) },
        (_, at) => at % 251,
      );
      const [one, other] = [telephone(), telephone()];
      one.stream.enqueue(whole, "end");
      let at = 0;
      for (const size of sizes) {
        other.stream.enqueue(whole.subarray(at, at + size));
        at += size;
      }
      other.stream.enqueue(whole.subarray(at), "end");
      one.clock.advance(10_000);
      other.clock.advance(10_000);
      const bytesOf = ({ what, bytes }: { what: string; bytes: Uint8Array }) => ({ what, bytes });
      assert.deepEqual(other.sent.map(bytesOf), one.sent.map(bytesOf));
      assert.equal(other.stream.queuedMs, 0);
    }),
  );
});

test("a part of a frame waits for the rest of it, which may come late without the pacer's being so", () => {
  const { clock, stream, frames, sent, late } = telephone();
  stream.enqueue(speech(1.5));
  assert.equal(frames().length, 1);
  clock.advance(500);
  stream.enqueue(speech(0.5, 2));
  assert.deepEqual(frames()[1]?.bytes.subarray(78, 82), Uint8Array.of(1, 1, 2, 2));
  stream.enqueue(new Uint8Array(0), "end");
  assert.equal(sent.at(-1)?.what, "end");
  clock.advance(500);
  stream.enqueue(speech(1), "next");
  assert.deepEqual(late, []);
});

test("the mark of a sentence that was dropped is reported all the same", () => {
  const { clock, stream, sent, frames } = telephone();
  const framesMax = QUEUED_MAX_MS / FRAME_MS;
  stream.enqueue(speech(framesMax), "long");
  assert.equal(stream.enqueue(speech(AHEAD_FRAMES + 1), "refused"), false);
  clock.advance(QUEUED_MAX_MS);
  assert.deepEqual(
    sent.filter(({ what }) => what !== "frame").map(({ what }) => what),
    ["long", "refused"],
  );
  assert.equal(frames().length, framesMax, "and nothing of its sound");
});

test("a pacer counts its frames from when its first stream was opened, now and after it had none", () => {
  const clock = new VirtualClock(7);
  const pacer = new Pacer(clock);
  for (const idleMs of [0, 1_013]) {
    clock.advance(idleMs);
    let count = 0;
    const stream = pacer.open(FORMAT, { frame: () => void (count += 1), mark: () => undefined });
    stream.enqueue(speech(AHEAD_FRAMES + 2));
    clock.advance(FRAME_MS - 1);
    assert.equal(count, AHEAD_FRAMES);
    clock.advance(1);
    assert.equal(count, AHEAD_FRAMES + 1);
    stream.close();
  }
});

/** Counts the frames of a stream whose first timer fires this early. */
function sentBy(preemptiveMs: number) {
  const clock = new VirtualClock(0);
  let leftMs = preemptiveMs;
  const early: Clock = {
    epochMs: () => clock.epochMs(),
    monotonicMs: () => clock.monotonicMs(),
    after: (delayMs, action) => {
      const byMs = leftMs;
      leftMs = 0;
      return clock.after(delayMs - byMs, action);
    },
    every: (periodMs, action) => clock.every(periodMs, action),
  };
  let count = 0;
  const stream = new Pacer(early).open(FORMAT, {
    frame: () => void (count += 1),
    mark: () => undefined,
  });
  stream.enqueue(speech(50));
  return [10, 19, 20, 39, 40].map((atMs) => {
    clock.advance(atMs - clock.monotonicMs());
    return count - AHEAD_FRAMES;
  });
}

test("a timer that fires up to half a frame early counts as the next one, and an earlier one is awaited", () => {
  assert.deepEqual(sentBy(0), [0, 0, 1, 1, 2]);
  assert.deepEqual(sentBy(10), [1, 1, 1, 1, 2]);
  assert.deepEqual(sentBy(11), [0, 0, 1, 1, 2]);
});

test("audio that waited too long continues from now, in real time", () => {
  const { clock, stream, frames, late } = telephone();
  stream.enqueue(speech(100), "a");
  clock.stall(360);
  assert.deepEqual(late, [200]);
  assert.equal(frames().length, 2 * AHEAD_FRAMES);
  clock.advance(FRAME_MS);
  assert.equal(frames().length, 2 * AHEAD_FRAMES + 1);
});

test("only an intended silence is no lateness, and only once", () => {
  const { clock, stream, late } = telephone();
  stream.enqueue(speech(200), "a");
  stream.resume();
  clock.stall(200);
  assert.deepEqual(late, [40]);
  stream.hold();
  clock.advance(500);
  stream.resume();
  clock.stall(260);
  assert.deepEqual(late, [40, 100]);
});

test("resumed audio is sent immediately, and cleared audio is no longer held", () => {
  const { clock, stream, frames } = telephone();
  stream.hold();
  stream.enqueue(speech(20), "a");
  assert.equal(frames().length, 0);
  assert.equal(stream.queuedMs, 20 * FRAME_MS);
  stream.resume();
  assert.equal(frames().length, AHEAD_FRAMES);
  assert.equal(stream.queuedMs, (20 - AHEAD_FRAMES) * FRAME_MS);
  stream.hold();
  stream.clear();
  assert.equal(stream.queuedMs, 0);
  stream.enqueue(speech(1), "b");
  assert.equal(frames().length, AHEAD_FRAMES + 1);
  clock.advance(FRAME_MS);
});

test("a mark without audio follows the audio before it, and does not affect later audio", () => {
  const { stream, sent } = telephone();
  assert.equal(stream.enqueue(new Uint8Array(0)), true);
  stream.enqueue(speech(0.5));
  stream.enqueue(new Uint8Array(0), "a");
  stream.enqueue(new Uint8Array(0), "b");
  stream.enqueue(speech(0.5));
  assert.deepEqual(
    sent.map(({ what }) => what),
    ["frame", "a", "b"],
  );
});

test("a telephone that throws is notified of the end, once", () => {
  const clock = new VirtualClock(0);
  const faults: unknown[] = [];
  const pacer = new Pacer(clock, (fault) => faults.push(fault));
  let brokenCount = 0;
  const stream = pacer.open(FORMAT, {
    frame: () => {
      if (clock.monotonicMs() > 0) throw new Error("the socket is gone");
    },
    mark: () => undefined,
    broken: () => void (brokenCount += 1),
  });
  stream.enqueue(speech(50));
  clock.advance(500);
  assert.deepEqual([faults.length, brokenCount, clock.pendingTimerCount], [1, 1, 0]);
});
