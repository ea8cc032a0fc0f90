import assert from "node:assert/strict";
import { test } from "node:test";
import { PhoneEarpiece } from "../../../../engine/sandbox/telephone/phone-earpiece.js";
import { encodeMuLaw } from "../../../../engine/sandbox/telephone/telephone-audio.js";
import { encodeSpeech } from "../../../../engine/sandbox/telephone/tone-code.js";

const MS = 1_000_000;
const SECOND_OF_SILENCE = new Uint8Array(8000).fill(0xff);

function speech(text: string): Uint8Array {
  return encodeMuLaw(encodeSpeech(text, 8000));
}

test("a mark is due when all that came before it has been played", () => {
  const earpiece = new PhoneEarpiece(true);
  earpiece.play(SECOND_OF_SILENCE, 0);
  earpiece.mark("one", 10 * MS);
  earpiece.play(SECOND_OF_SILENCE, 20 * MS);
  earpiece.mark("two", 20 * MS);
  assert.deepEqual(earpiece.reached(999 * MS), []);
  assert.deepEqual(earpiece.reached(1000 * MS), ["one"]);
  assert.deepEqual(earpiece.reached(5000 * MS), ["two"]);
  earpiece.mark("idle", 6000 * MS);
  assert.deepEqual(earpiece.reached(6000 * MS), ["idle"]);
  assert.equal(earpiece.endNs, 2000 * MS);
});

test("a clear ends playback now and returns all marks", () => {
  const earpiece = new PhoneEarpiece(true);
  earpiece.play(SECOND_OF_SILENCE, 0);
  earpiece.mark("one", 0);
  earpiece.play(SECOND_OF_SILENCE, 0);
  earpiece.mark("two", 0);
  assert.deepEqual(earpiece.clear(500 * MS), ["one", "two"]);
  assert.deepEqual(earpiece.reached(9000 * MS), []);
  earpiece.play(SECOND_OF_SILENCE, 600 * MS);
  assert.equal(earpiece.endNs, 1600 * MS);
});

test("sent words and heard words", () => {
  const earpiece = new PhoneEarpiece(true);
  earpiece.play(speech("one two three four"), 0);
  assert.equal(earpiece.said(), "one two three four");
  assert.equal(earpiece.playedText(0), "");
  assert.match(earpiece.playedText(400 * MS), /^one/);
  earpiece.clear(400 * MS);
  earpiece.play(speech("five"), 500 * MS);
  assert.equal(earpiece.said(), "one two three four five");
  const heard = earpiece.playedText(60_000 * MS);
  assert.match(heard, /^one .*five$/);
  assert.doesNotMatch(heard, /four/);
});

test("for a load test nothing is kept", () => {
  const earpiece = new PhoneEarpiece(false);
  earpiece.play(speech("one"), 0);
  assert.equal(earpiece.said(), "");
  assert.ok(earpiece.endNs > 0);
});
