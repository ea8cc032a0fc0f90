import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { FRAME_MS } from "../../../engine/audio/audio-format.js";
import { Pacer } from "../../../engine/audio/pacer.js";
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

test("the mark of a sentence that had no room is told all the same", () => {
  const { clock, stream, sent } = telephone();
  const framesMax = QUEUED_MAX_MS / FRAME_MS;
  stream.enqueue(speech(framesMax), "long");
  assert.equal(stream.enqueue(speech(AHEAD_FRAMES + 1), "refused"), false);
  clock.advance(QUEUED_MAX_MS);
  assert.deepEqual(
    sent.filter(({ what }) => what !== "frame").map(({ what }) => what),
    ["long", "refused"],
  );
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
