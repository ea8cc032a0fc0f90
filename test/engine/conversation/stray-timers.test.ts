import assert from "node:assert/strict";
import { test } from "node:test";
import type { TimerName } from "../../../engine/conversation/events.js";
import { PLAIN_SETTINGS, RecordedCall } from "../../doubles/recorded-call.js";

const TIMERS: readonly TimerName[] = [
  "silence",
  "stall",
  "growth",
  "flush",
  "ahead",
  "playback",
  "falseInterruption",
  "hold",
  "digits",
  "waiting",
  "onset",
  "idle",
  "unrecognized",
  "timeUp",
  "transfer",
  "early",
];

function fire(call: RecordedCall, timer: TimerName): readonly string[] {
  call.takeLines();
  call.send({ type: "timerFired", timer, voiceAgoMs: undefined });
  return call.takeLines();
}

for (const preemptiveGeneration of [false, true]) {
  const when = preemptiveGeneration ? "where replies are begun early" : "where they are not";
  test(`a timer that fires when there is nothing left to do does nothing, ${when}`, () => {
    for (const timer of TIMERS) {
      const call = new RecordedCall({ ...PLAIN_SETTINGS, preemptiveGeneration });
      call.send({ type: "opened", resumed: true });
      const { state } = call.actor;
      assert.deepEqual(fire(call, timer), [], timer);
      assert.deepEqual(call.actor.state, state, timer);
    }
  });
}

test("an answer that is being heard is left alone by timers of what was before it", () => {
  for (const timer of [
    "falseInterruption",
    "hold",
    "digits",
    "waiting",
    "flush",
    "onset",
    "idle",
    "transfer",
  ] as const) {
    const call = new RecordedCall({
      ...PLAIN_SETTINGS,
      preemptiveGeneration: true,
      idleTimeoutMs: 5_000,
    });
    call.send({ type: "opened", resumed: true });
    call.send({ type: "written", text: "what time is it" });
    call.send({ type: "replyToken", turnId: 1, text: "It is ten." });
    call.send({ type: "replyDone", turnId: 1, tokens: 5 });
    call.send({ type: "sentenceWhole", turnId: 1, index: 0, durationMs: 2_000, firstByteAtMs: 0 });
    call.clock.advance(500);
    const { state } = call.actor;
    assert.deepEqual(fire(call, timer), [], timer);
    assert.deepEqual(call.actor.state, state, timer);
  }
});
