import assert from "node:assert/strict";
import { test } from "node:test";
import { StreamLoudspeaker } from "../../../../engine/sandbox/sound/stream-loudspeaker.js";
import { bytesOf } from "../../../../engine/sandbox/telephone/telephone-audio.js";
import { encodeSpeech } from "../../../../engine/sandbox/telephone/tone-code.js";

const MS = 1_000_000n;
const speech = (text: string): Uint8Array => bytesOf(encodeSpeech(text, 24_000));

test("a streamed turn is played piece by piece, and reported by the millisecond", async () => {
  const loudspeaker = new StreamLoudspeaker(true);
  const sound = speech("one two three four five six");
  const durationMs = sound.length / 48;
  loudspeaker.startTurn(3, "pcm24k", 0n);
  for (let at = 0; at < sound.length; at += 4_800) {
    loudspeaker.play(sound.subarray(at, at + 4_800), 0n);
  }
  assert.deepEqual(loudspeaker.played(0n), { turnId: 3, ms: 0, isAll: false });
  assert.deepEqual(loudspeaker.played(400n * MS), { turnId: 3, ms: 400, isAll: false });
  const all = { turnId: 3, ms: durationMs, isAll: true };
  assert.deepEqual(loudspeaker.played(60_000n * MS), all);
  loudspeaker.stop(400n * MS);
  const [reply] = await loudspeaker.playedReplies(60_000n * MS);
  assert.equal(reply?.text, "one two three four five six");
  assert.equal(reply?.playedText, "one two");
});

test("a turn begins when the one before it has ended; a buffer makes all of it later", async () => {
  const loudspeaker = new StreamLoudspeaker(true, 500);
  loudspeaker.startTurn(1, "mulaw", 0n);
  loudspeaker.play(new Uint8Array(8_000), 0n);
  loudspeaker.startTurn(2, "mulaw", 900n * MS);
  loudspeaker.play(new Uint8Array(8_000), 900n * MS);
  assert.deepEqual(loudspeaker.played(1_600n * MS), { turnId: 2, ms: 100, isAll: false });
  assert.equal(loudspeaker.endsNs, 2_500n * MS);
});

test("before anything has come there is nothing to tell", () => {
  const loudspeaker = new StreamLoudspeaker(true);
  loudspeaker.play(new Uint8Array(10), 0n);
  assert.equal(loudspeaker.played(0n), undefined);
  assert.equal(loudspeaker.endsNs, undefined);
});
