import assert from "node:assert/strict";
import { test } from "node:test";
import { PLAIN_SETTINGS, RecordedCall } from "../../doubles/recorded-call.js";

const HEARD = { isFinal: true, speechFinal: false, lastWordEndMs: undefined, endedAgoMs: 0 };

const isAnswered = (call: RecordedCall) => call.effects.some(({ type }) => type === "requestReply");

test("a sentence that is left open is over when the recognizer heard no word for as long as the agent is patient", () => {
  const isOverAfter = (endedAgoMs: number) => {
    const call = new RecordedCall(PLAIN_SETTINGS);
    call.send({ type: "opened", resumed: true });
    call.send({ type: "transcript", text: "my name is", ...HEARD });
    call.send({ type: "utteranceEnd", lastWordEndMs: 0, endedAgoMs });
    return isAnswered(call);
  };
  assert.deepEqual([1_499, 1_500].map(isOverAfter), [false, true]);
});

test("words that end as their voice is noticed are that voice's, and no others are waited for", () => {
  const isAnsweredBy2s = (noticedAfterMs: number) => {
    const call = new RecordedCall(PLAIN_SETTINGS);
    call.send({ type: "opened", resumed: true });
    call.clock.advance(900);
    call.hearVoice(true);
    call.hearVoice(false);
    call.clock.advance(100);
    if (noticedAfterMs === 0) call.send({ type: "speechStarted", voiceAgoMs: 100 });
    call.send({ type: "transcript", text: "what do you offer", ...HEARD });
    call.clock.advance(noticedAfterMs);
    if (noticedAfterMs > 0) call.send({ type: "speechStarted", voiceAgoMs: 101 });
    call.clock.advance(1_000 - noticedAfterMs);
    return isAnswered(call);
  };
  assert.deepEqual([0, 1].map(isAnsweredBy2s), [true, false]);
});

test("a sentence that is whole is over when the recognizer says so, however short the silence was", () => {
  const call = new RecordedCall(PLAIN_SETTINGS);
  call.send({ type: "opened", resumed: true });
  call.send({ type: "transcript", text: "what do you offer", ...HEARD });
  call.send({ type: "utteranceEnd", lastWordEndMs: 0, endedAgoMs: 200 });
  assert.equal(isAnswered(call), true);
});

test("a turn is over when the voice in it has been quiet for the agent's silence, to the millisecond", () => {
  const leftMs = (voiceAgoMs: number) => {
    const call = new RecordedCall(PLAIN_SETTINGS);
    call.send({ type: "opened", resumed: true });
    call.send({ type: "transcript", text: "what do you offer", ...HEARD });
    call.clock.advance(600);
    call.takeLines();
    call.reach("endpointing", { voiceAgoMs });
    return isAnswered(call) ? 0 : Number(call.takeLines()[0]?.split(" ").at(-1));
  };
  assert.deepEqual([0, 500, 699, 699.5, 700].map(leftMs), [700, 200, 1, 0, 0]);
});
