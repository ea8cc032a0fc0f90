import assert from "node:assert/strict";
import { test } from "node:test";
import { PLAIN_SETTINGS, RecordedCall } from "../../doubles/recorded-call.js";

function delaysMs(call: RecordedCall): readonly number[] {
  return call.deadlinesSet.flatMap((deadline) => {
    const [name, delayMs] = deadline.split(" ");
    return name === "overlapBeforeReply" ? [Number(delayMs)] : [];
  });
}

test("a reply waits once for the words of a caller who makes a sound, however often they cough before it", () => {
  const call = new RecordedCall(PLAIN_SETTINGS);
  call.send({ type: "opened", resumed: true });
  call.send({ type: "written", text: "what time is it" });
  call.send({ type: "speechStarted", voiceAgoMs: undefined });
  call.clock.advance(1_200);
  call.send({ type: "speechStarted", voiceAgoMs: undefined });
  assert.deepEqual(delaysMs(call), [1_200]);
  assert.equal(call.turn?.overlapAtMs, undefined);
});

test("a voice that was heard half a second ago may be going on, and is waited for three seconds at most", () => {
  const beganWith = (voiceAgoMs: number) => {
    const call = new RecordedCall(PLAIN_SETTINGS);
    call.send({ type: "opened", resumed: true });
    call.send({ type: "written", text: "what time is it" });
    call.send({ type: "speechStarted", voiceAgoMs });
    return call;
  };
  assert.deepEqual(delaysMs(beganWith(501)), []);
  const call = beganWith(500);
  call.hearVoice(true);
  call.clock.advance(10_000);
  // Looked at every 400 ms, until the first look after three seconds.
  assert.equal(delaysMs(call).length, 8);
  assert.ok(delaysMs(call).every((delayMs) => delayMs === 400));
  assert.equal(call.turn?.overlapAtMs, undefined);
});

test("a voice is waited for no longer when it has gone on for three seconds to the millisecond", () => {
  const isWaitedAt = (ms: number) => {
    const call = new RecordedCall(PLAIN_SETTINGS);
    call.send({ type: "opened", resumed: true });
    call.send({ type: "written", text: "what time is it" });
    call.send({ type: "speechStarted", voiceAgoMs: 0 });
    call.hearVoice(true);
    call.clock.advance(ms);
    call.reach("overlapBeforeReply", { voiceAgoMs: 0 });
    return call.turn?.overlapAtMs !== undefined;
  };
  assert.deepEqual([2_999, 3_000].map(isWaitedAt), [true, false]);
});
