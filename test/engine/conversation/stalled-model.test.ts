import assert from "node:assert/strict";
import { test } from "node:test";
import { PLAIN_SETTINGS, RecordedCall } from "../../doubles/recorded-call.js";

/** What TTS was asked for after each of these tokens, and after the model has given nothing for `stallMs`. */
function asked(tokens: readonly string[], stallMs: number, intervalMs = 20): readonly string[] {
  const call = new RecordedCall(PLAIN_SETTINGS);
  call.send({ type: "opened", resumed: true });
  call.send({ type: "written", text: "hello" });
  for (const text of tokens) {
    call.clock.advance(intervalMs);
    call.send({ type: "replyToken", turnId: 1, text });
  }
  call.clock.advance(stallMs);
  assert.deepEqual(call.crashes, []);
  return call.effects.flatMap((each) => (each.type === "synthesize" ? [each.text] : []));
}

const FIRST = "Your table is booked.";

test("behind a number or an abbreviation the stall has to be longer", () => {
  for (const second of [" It costs 30.", " We close at 5 p.m.", " It ships from the U.S."]) {
    assert.deepEqual(asked([FIRST, second], 999), [FIRST], second);
    assert.deepEqual(asked([FIRST, second], 1_000), [FIRST, second.trim()], second);
  }
});
