import assert from "node:assert/strict";
import { test } from "node:test";
import { PLAIN_SETTINGS, RecordedCall } from "../../doubles/recorded-call.js";

/** A call whose caller has asked something, so that a reply is awaited. */
function askedCall(settings = PLAIN_SETTINGS): RecordedCall {
  const call = new RecordedCall({ ...settings, greeting: "" });
  call.send({ type: "opened", resumed: false });
  const heard = { isFinal: true, speechFinal: true, lastWordEndMs: 900, endedAgoMs: 100 };
  call.send({ type: "transcript", text: "tell me everything", ...heard });
  return call;
}

test("tokens of a reply that was stopped for its length are not counted a second time", () => {
  const call = askedCall();
  const turnId = call.turn?.id ?? 0;
  call.send({ type: "replyToken", turnId, text: "word ".repeat(1_000) });
  assert.equal(call.effects.filter(({ type }) => type === "stopModel").length, 1);
  const { totalTokens } = call.actor.state.record.metrics;
  assert.ok(totalTokens > 0, "what was generated is paid for");
  call.send({ type: "replyDone", turnId, tokens: 9_999 });
  call.send({ type: "replyToken", turnId, text: "More of it." });
  assert.equal(call.actor.state.record.metrics.totalTokens, totalTokens);
});

test("the passages of a reply that was stopped are counted with its prompt", () => {
  const tokensOf = (passagesChars: number) => {
    const call = askedCall();
    const turnId = call.turn?.id ?? 0;
    call.send({ type: "passagesAdded", turnId, chars: passagesChars });
    call.send({ type: "replyToken", turnId, text: "word ".repeat(1_000) });
    return call.actor.state.record.metrics.totalTokens;
  };
  assert.equal(tokensOf(4_000) - tokensOf(0), 1_000);
});

test("the first 32 of a caller's DTMF digits are a number, and the rest is dropped", () => {
  const call = new RecordedCall({ ...PLAIN_SETTINGS, greeting: "", isPaced: true });
  call.send({ type: "opened", resumed: false });
  for (let count = 0; count < 40; count += 1) call.send({ type: "digit", digit: "7" });
  call.clock.advance(2_000);
  const told = call.takeLines().find((line) => line.includes("[keypad]"));
  assert.equal(told, `send user final "[keypad] ${"7".repeat(32)}"`);
});
