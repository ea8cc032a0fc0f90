import assert from "node:assert/strict";
import { test } from "node:test";
import { stockPhrases } from "../../../engine/speech/stock-phrases.js";
import { PLAIN_SETTINGS, RecordedCall } from "../../doubles/recorded-call.js";

/** When a call that may last so long is told that its time is up; undefined for never. */
function timeUpAfterMs(durationMaxMs: number): number | undefined {
  const phrases = stockPhrases("en");
  const call = new RecordedCall({ ...PLAIN_SETTINGS, phrases, durationMaxMs });
  call.send({ type: "opened", resumed: true });
  const started = call.effects.find(
    (effect) => effect.type === "startTimer" && effect.timer === "timeUp",
  );
  return started?.type === "startTimer" ? started.delayMs : undefined;
}

test("a call that may last half a minute or longer is told six seconds before its end", () => {
  assert.equal(timeUpAfterMs(29_999), undefined);
  assert.equal(timeUpAfterMs(30_000), 24_000);
  assert.equal(timeUpAfterMs(1_800_000), 1_794_000);
});
