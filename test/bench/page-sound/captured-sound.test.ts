import assert from "node:assert/strict";
import { test } from "node:test";
import { CapturedSound } from "../../../bench/page-sound/captured-sound.js";

const RATE_HZ = 1_000;

/** A sample a ms: 100 ms up to that moment, of which those from `from` to `to` sound. */
function piece(endAtMs: number, from = 0, to = 0) {
  const samples = Int16Array.from({ length: 100 }, (_, n) => (n >= from && n < to ? 9 : 0));
  return { endAtMs, rateHz: RATE_HZ, samples };
}

test("audio is reported from its first sample to its last, across its pieces", () => {
  const sound = new CapturedSound();
  sound.push(piece(1_100, 30, 100));
  sound.push(piece(1_200, 0, 50));
  assert.equal(sound.firstSoundFrom(1_000), 1_030);
  assert.equal(sound.firstSoundFrom(1_031), undefined);
  assert.equal(sound.silentFrom(1_120), undefined, "it may go on");
  sound.push(piece(1_300));
  assert.equal(sound.silentFrom(1_120), 1_149);
  assert.equal(sound.silentFrom(1_020), 1_020, "before it there was silence");
  assert.equal(sound.silentFrom(1_220), 1_220);
});

test("what sounds again before 80 ms are over has not fallen silent", () => {
  const sound = new CapturedSound();
  sound.push(piece(1_100, 0, 40));
  sound.push(piece(1_200, 10, 20));
  sound.push(piece(1_300));
  assert.equal(sound.silentFrom(1_010), 1_119);
  sound.push(piece(1_400, 50, 60));
  assert.equal(sound.firstSoundFrom(1_120), 1_350);
});
