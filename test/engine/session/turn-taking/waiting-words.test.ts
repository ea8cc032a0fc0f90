import assert from "node:assert/strict";
import { test } from "node:test";
import { stockPhrases } from "../../../../engine/speech/stock-phrases.js";
import { PLAIN_SETTINGS, RecordedCall } from "../../../doubles/recorded-call.js";

test("while no words are ready, or the caller speaks, the agent looks again every half second, and then says them", () => {
  const phrases = stockPhrases("en");
  const call = new RecordedCall({ ...PLAIN_SETTINGS, phrases, waitingWordMs: 1_500 });
  const delaysMs = () =>
    call.effects.flatMap((effect) =>
      effect.type === "startTimer" && effect.timer === "waiting" ? [effect.delayMs] : [],
    );
  call.send({ type: "opened", resumed: true });
  call.send({ type: "written", text: "what is my balance" });
  call.clock.advance(2_000);
  assert.deepEqual(delaysMs(), [1_500, 500, 500]);
  const [text = ""] = phrases?.waiting ?? [];
  call.send({ type: "phraseReady", text, durationMs: 800 });
  call.hearVoice(true);
  call.clock.advance(500);
  assert.deepEqual(delaysMs(), [1_500, 500, 500, 500]);
  call.hearVoice(false);
  call.clock.advance(500);
  assert.ok(call.effects.some((effect) => effect.type === "playPhrase" && effect.text === text));
});

test("the agent does not say that it is at work over words of the caller that may be going on", () => {
  const phrases = stockPhrases("en");
  const settings = {
    ...PLAIN_SETTINGS,
    phrases,
    waitingWordMs: 1_500,
    sensitivity: "low",
  } as const;
  const call = new RecordedCall(settings);
  const isSaid = () => call.effects.some(({ type }) => type === "playPhrase");
  call.send({ type: "opened", resumed: true });
  const [text = ""] = phrases?.waiting ?? [];
  call.send({ type: "phraseReady", text, durationMs: 800 });
  call.send({ type: "written", text: "what is my balance" });
  call.clock.advance(1_000);
  const heard = { text: "please", isFinal: false, speechFinal: false, lastWordEndMs: undefined };
  call.send({ type: "transcript", ...heard, endedAgoMs: 0 });
  call.clock.advance(600);
  assert.equal(isSaid(), false);
});
