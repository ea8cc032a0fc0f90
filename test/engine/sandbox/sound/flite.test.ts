import assert from "node:assert/strict";
import { test } from "node:test";
import { Flite, WAV_BYTES_MAX } from "../../../../engine/sandbox/sound/flite.js";

test("Flite speaks at two speeds, and reads nothing where there is nothing to read", async () => {
  const flite = await Flite.load();
  const usual = flite.speak("How can I help you today?", 1).length / 16_000;
  const slow = flite.speak("How can I help you today?", 0.5).length / 16_000;
  assert.ok(usual > 1 && usual < 3, `${usual} s`);
  assert.ok(slow > 1.5 * usual, `${slow} s`);
});

test("no more is kept of a text than the limit, and the next text is whole again", async () => {
  const flite = await Flite.load();
  assert.equal(WAV_BYTES_MAX, 16_777_216);
  const [whole, limited, again] = [undefined, 20_000, undefined].map(
    (bytesMax) => flite.speak("How can I help you today?", 1, bytesMax).length,
  );
  assert.ok(limited !== undefined && limited <= 10_000, `${limited} samples`);
  assert.equal(again, whole);
});
