import assert from "node:assert/strict";
import { test } from "node:test";
import { PLAIN_SETTINGS, RecordedCall } from "../../../doubles/recorded-call.js";

/** A telephone call whose reply of 1,500 ms began 1,000 ms ago. */
function callInReply() {
  const call = new RecordedCall({ ...PLAIN_SETTINGS, isPaced: true, isStreamed: true });
  call.send({ type: "opened", resumed: true });
  call.send({ type: "written", text: "hello" });
  const turnId = call.actor.state.turn?.id ?? 0;
  call.send({ type: "replyToken", turnId, text: "Good morning to you." });
  call.send({ type: "replyDone", turnId, tokens: 5 });
  call.send({ type: "sentenceWhole", turnId, index: 0, durationMs: 1_500, firstByteAtMs: 0 });
  call.clock.advance(1_000);
  return call;
}

test("sound that stood still is heard so much later, however long that was", () => {
  for (const lateMs of [20, 400, 600, 900]) {
    const call = callInReply();
    call.send({ type: "soundLate", lateMs });
    assert.equal(call.actor.state.turn?.ledger.endsAtMs, 1_500 + lateMs);
  }
});

test("sound that was heard to its end before it stood still is not moved", () => {
  const call = callInReply();
  call.clock.advance(1_000);
  call.send({ type: "soundLate", lateMs: 100 });
  assert.equal(call.actor.state.turn?.ledger.endsAtMs, 1_500);
});
