import assert from "node:assert/strict";
import { test } from "node:test";
import { ORGANIZATION_ENDED } from "../../../engine/session/ending.js";
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

test("who hears a goodbye already is not told that the time is up", () => {
  const phrases = stockPhrases("en");
  const settings = { ...PLAIN_SETTINGS, phrases, durationMaxMs: 60_000 };
  const call = new RecordedCall(settings);
  call.send({ type: "opened", resumed: true });
  call.send({ type: "endRequested", ending: ORGANIZATION_ENDED });
  const goodbye = call.actor.state.turn;
  assert.deepEqual(goodbye?.ending, ORGANIZATION_ENDED);
  call.send({ type: "timerFired", timer: "timeUp", voiceAgoMs: undefined });
  assert.equal(call.actor.state.turn, goodbye);
});

test("a call that may last half a minute or longer is told six seconds before its end", () => {
  assert.equal(timeUpAfterMs(29_999), undefined);
  assert.equal(timeUpAfterMs(30_000), 24_000);
  assert.equal(timeUpAfterMs(1_800_000), 1_794_000);
});

test("a client is told to be silent for the last words where it was sent something, and not else", () => {
  for (const isSpeaking of [true, false]) {
    const call = new RecordedCall(PLAIN_SETTINGS);
    call.send({ type: "opened", resumed: true });
    call.send({ type: "written", text: "what time is it" });
    call.send({ type: "replyToken", turnId: 1, text: "It is ten." });
    call.send({ type: "replyDone", turnId: 1, tokens: 5 });
    if (isSpeaking) {
      const audio = { turnId: 1, index: 0, durationMs: 900, firstByteAtMs: 0 };
      call.send({ type: "sentenceWhole", ...audio });
    }
    call.send({ type: "endRequested", ending: ORGANIZATION_ENDED });
    const lines = call.takeLines();
    assert.equal(lines.includes("send audioStop"), isSpeaking);
  }
});
