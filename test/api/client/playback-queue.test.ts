import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { PlaybackQueue } from "../../../api/client/playback-queue.js";

const BLOCK = 128;

function tone(samples: number, rateHz: number): Int16Array {
  return Int16Array.from({ length: samples }, (_, at) =>
    Math.round(10_000 * Math.sin((2 * Math.PI * 440 * at) / rateHz)),
  );
}

function blocks(queue: PlaybackQueue, count: number): Float32Array {
  const heard = new Float32Array(count * BLOCK);
  for (let at = 0; at < heard.length; at += BLOCK) queue.fill(heard.subarray(at, at + BLOCK));
  return heard;
}

const isSilent = (samples: Float32Array) => samples.every((sample) => sample === 0);
const peak = (samples: Float32Array) =>
  samples.reduce((loudest, sample) => Math.max(loudest, Math.abs(sample)), 0);

test("a turn is buffered for 40 ms, or less if no more audio arrives", () => {
  const sounding: number[] = [];
  const queue = new PlaybackQueue(48_000, (turn) => sounding.push(turn));
  queue.startTurn(3, 48_000);
  queue.play(tone(480, 48_000));
  assert.ok(isSilent(blocks(queue, 14)));
  assert.deepEqual(sounding, []);
  assert.ok(peak(blocks(queue, 2)) > 0.1);
  assert.deepEqual(sounding, [3]);
  queue.startTurn(4, 48_000);
  queue.play(tone(1_920, 48_000));
  assert.ok(peak(blocks(queue, 2)) > 0.1, "a buffer that is full enough does not delay playback");
});

test("the output has the input's duration for any sizes of the pieces, and is counted to the end", () => {
  const rates = fc.constantFrom(16_000, 24_000, 44_100, 48_000);
  const sizes = fc.array(fc.integer({ min: 1, max: 2_400 }), { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(rates, rates, sizes, (rateHz, deviceHz, lengths) => {
      const total = lengths.reduce((sum, length) => sum + length, 0);
      const whole = tone(total, rateHz);
      const queue = new PlaybackQueue(deviceHz, () => {});
      queue.startTurn(1, rateHz);
      let at = 0;
      for (const length of lengths) {
        queue.play(whole.slice(at, at + length));
        at += length;
      }
      const heard = blocks(queue, Math.ceil(((total / rateHz + 0.3) * deviceHz) / BLOCK));
      assert.deepEqual(queue.progress, { turn: 1, ms: (total * 1_000) / rateHz });
      const first = heard.findIndex((sample) => sample !== 0);
      const last = heard.findLastIndex((sample) => sample !== 0);
      const heardMs = ((last - first + 1) * 1_000) / deviceHz;
      assert.ok(heardMs <= (total * 1_000) / rateHz + 2, `${heardMs} ms of ${total} samples`);
      assert.ok(peak(heard) < 0.4);
    }),
    { numRuns: 40 },
  );
});

test("after a stop the output is silent within 5 ms, without a jump, until the next turn", () => {
  const queue = new PlaybackQueue(48_000, () => {});
  queue.startTurn(1, 24_000);
  queue.play(tone(24_000, 24_000));
  blocks(queue, 40);
  queue.stop();
  const faded = blocks(queue, 20);
  assert.ok(isSilent(faded.subarray(240 + 1)));
  for (let at = 1; at < faded.length; at += 1) {
    assert.ok(Math.abs((faded[at] ?? 0) - (faded[at - 1] ?? 0)) < 0.05, `a jump at ${at}`);
  }
  queue.play(tone(24_000, 24_000));
  assert.ok(isSilent(blocks(queue, 40)), "audio of the stopped turn is dropped");
  assert.equal(queue.progress, undefined);
  queue.startTurn(2, 24_000);
  queue.play(tone(24_000, 24_000));
  assert.ok(peak(blocks(queue, 40)) > 0.1);
});

test("a turn that ran dry is reported as paused, and buffers more when it resumes", () => {
  const queue = new PlaybackQueue(48_000, () => {});
  queue.startTurn(1, 48_000);
  queue.play(tone(4_800, 48_000));
  blocks(queue, 60);
  assert.deepEqual(queue.progress, { turn: 1, ms: 100 });
  blocks(queue, 60);
  assert.deepEqual(queue.progress, { turn: 1, ms: 100 });
  queue.play(tone(2_400, 48_000));
  assert.ok(isSilent(blocks(queue, 28)), "50 ms are less than the 80 ms that are buffered now");
  assert.ok(peak(blocks(queue, 4)) > 0.1);
});

test("the reported progress of a turn never decreases, however its pieces arrive", () => {
  const rates = fc.constantFrom(16_000, 24_000, 44_100, 48_000);
  const steps = fc.array(
    fc.record({
      samples: fc.integer({ min: 1, max: 600 }),
      blocks: fc.integer({ min: 0, max: 9 }),
    }),
    { minLength: 1, maxLength: 30 },
  );
  fc.assert(
    fc.property(rates, rates, steps, (rateHz, deviceHz, arrivals) => {
      const queue = new PlaybackQueue(deviceHz, () => {});
      queue.startTurn(1, rateHz);
      let playedMs = 0;
      for (const { samples, blocks: count } of arrivals) {
        queue.play(tone(samples, rateHz));
        for (let block = 0; block < count; block += 1) {
          blocks(queue, 1);
          const ms = queue.progress?.ms ?? 0;
          assert.ok(ms >= playedMs, `${ms} ms after ${playedMs} ms`);
          playedMs = ms;
        }
      }
    }),
    { numRuns: 200 },
  );
});
