import assert from "node:assert/strict";
import { test } from "node:test";
import { PLAIN_SETTINGS, RecordedCall } from "../../doubles/recorded-call.js";
import { AnsweredCall } from "./answered-call.js";

/** A telephone call whose reply of 1,500 ms began 1,000 ms ago. */
function callInReply() {
  const call = new RecordedCall({ ...PLAIN_SETTINGS, isPaced: true, isStreamed: true });
  call.send({ type: "opened", resumed: true });
  call.send({ type: "written", text: "hello" });
  const turnId = call.turn?.id ?? 0;
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
    assert.equal(call.turn?.ledger.endsAtMs, 1_500 + lateMs);
  }
});

test("sound that is told to be late, or played, where none was sent or all stands still, changes nothing", () => {
  const silent = new AnsweredCall({ isPaced: true }).ask().token("It is ");
  const held = callInReply();
  held.send({ type: "speechStarted" });
  assert.equal(held.actor.state.outputPausedAtMs, 1_000);
  const over = new AnsweredCall();
  over.send({ type: "opened", resumed: true });
  for (const call of [silent, held, over]) {
    const before = structuredClone(call.turn);
    call.takeLines();
    call.send({ type: "soundLate", lateMs: 500 });
    call.send({ type: "played", turnId: 1, playedMs: 100 });
    assert.deepEqual(call.takeLines(), []);
    assert.deepEqual(call.turn, before);
    assert.deepEqual(call.crashes, []);
  }
});

test("a late report that all was played, or all but a rounded millisecond, leaves the moment at which it was", () => {
  const endsAtMs = (reportedAtMs: number, playedMs: number) => {
    const call = new AnsweredCall().ask().token("It is ten. So ").whole(0, 1_500);
    call.wait(reportedAtMs);
    call.send({ type: "played", turnId: 1, playedMs });
    return call.activeTurn.ledger.endsAtMs;
  };
  assert.equal(endsAtMs(3_000, 1_500), 1_500);
  assert.equal(endsAtMs(3_000, 1_499.5), 1_500);
  assert.equal(endsAtMs(3_000, 1_499), 3_001, "a whole millisecond is left");
  assert.equal(endsAtMs(1_500, 1_499.5), 1_500, "it ends just now");
  assert.equal(endsAtMs(1_499, 1_500), 1_499, "it was played faster");
});
