import assert from "node:assert/strict";
import { test } from "node:test";
import { AudioTrack } from "../../../../engine/calls/recording/recording.js";

/** This many samples from there on, of both channels. */
function taken(track: AudioTrack, from: number, moments: number, channel = 0): readonly number[] {
  const block = new Int16Array(moments * 2);
  track.take(from, block, channel);
  return [...block];
}

test("audio is at its position, on its own channel, with silence around it", () => {
  const track = new AudioTrack();
  track.place(2, Int16Array.of(1, 2));
  track.place(5, new Int16Array(0));
  assert.equal(track.bufferedSamples, 2);
  assert.deepEqual(taken(track, 0, 5, 1), [0, 0, 0, 0, 0, 1, 0, 2, 0, 0]);
});

test("a piece that crosses the end of a block continues in the next, and is then freed", () => {
  const track = new AudioTrack();
  track.place(1, Int16Array.of(1, 2, 3, 4));
  assert.deepEqual(taken(track, 0, 3), [0, 0, 1, 0, 2, 0]);
  assert.equal(track.bufferedSamples, 4);
  assert.deepEqual(taken(track, 3, 2), [3, 0, 4, 0]);
  assert.equal(track.bufferedSamples, 0);
});

test("of overlapping pieces, the later one wins", () => {
  const track = new AudioTrack();
  track.place(1, Int16Array.of(5, 5, 5));
  track.place(0, Int16Array.of(7, 7));
  assert.deepEqual(taken(track, 0, 4), [7, 0, 7, 0, 5, 0, 5, 0]);
});

test("cut audio is not heard, from the middle of a piece on", () => {
  const track = new AudioTrack();
  track.place(0, Int16Array.of(1, 2, 3));
  track.place(3, Int16Array.of(4));
  track.place(2, Int16Array.of(6, 6));
  track.cutFrom(2);
  assert.equal(track.bufferedSamples, 2);
  assert.deepEqual(taken(track, 0, 4), [1, 0, 2, 0, 0, 0, 0, 0]);
});

test("one sample of a piece may remain, and none of one after the cut", () => {
  const track = new AudioTrack();
  track.place(1, Int16Array.of(1, 2));
  track.place(3, Int16Array.of(4, 5, 6));
  track.cutFrom(2);
  assert.equal(track.bufferedSamples, 1);
  assert.deepEqual(taken(track, 0, 5), [0, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
});

test("audio before a block is not in it, and audio that ends with a block is freed", () => {
  const track = new AudioTrack();
  track.place(0, Int16Array.of(1, 2, 3, 4));
  track.place(6, Int16Array.of(7));
  assert.deepEqual(taken(track, 2, 3), [3, 0, 4, 0, 0, 0]);
  assert.equal(track.bufferedSamples, 1);
  assert.deepEqual(taken(track, 5, 2, 1), [0, 0, 0, 7]);
  assert.equal(track.bufferedSamples, 0);
});
