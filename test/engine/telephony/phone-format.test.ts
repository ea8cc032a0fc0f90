import assert from "node:assert/strict";
import { test } from "node:test";
import { phoneFormat } from "../../../engine/telephony/phone-format.js";

test("rates are whole numbers from 8 to 192 kHz, both included", () => {
  const isTaken = (rateHz: number) => phoneFormat("audio/l16", rateHz) !== undefined;
  assert.deepEqual([8_000, 16_000, 192_000].map(isTaken), [true, true, true]);
  assert.deepEqual([7_999, 192_001, 8_000.5, Number.NaN].map(isTaken), [
    false,
    false,
    false,
    false,
  ]);
});

test("only samples of two bytes have an order of bytes", () => {
  assert.equal(phoneFormat("audio/l16", 8_000, "pcm16be")?.encoding, "pcm16be");
  assert.equal(phoneFormat("PCMU", 8_000, "pcm16be")?.encoding, "mulaw");
  assert.equal(phoneFormat("audio/opus", 48_000), undefined);
});
