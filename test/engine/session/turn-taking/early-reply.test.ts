import assert from "node:assert/strict";
import { test } from "node:test";
import { PLAIN_SETTINGS, RecordedCall } from "../../../doubles/recorded-call.js";

const HEARD = { isFinal: true, speechFinal: false, lastWordEndMs: undefined } as const;

function callWithEarlyReply() {
  const call = new RecordedCall({ ...PLAIN_SETTINGS, earlyReply: true });
  call.send({ type: "opened", resumed: true });
  call.send({ type: "transcript", text: "what do you offer", ...HEARD, endedAgoMs: 150 });
  return call;
}

test("words that ended 150 ms ago are answered before the turn is certain to be over, newer ones when they are as old", () => {
  assert.equal(callWithEarlyReply().actor.state.early?.userText, "what do you offer");
  const call = new RecordedCall({ ...PLAIN_SETTINGS, earlyReply: true });
  call.send({ type: "opened", resumed: true });
  call.send({ type: "transcript", text: "what do you offer", ...HEARD, endedAgoMs: 149 });
  const isAsked = () => call.effects.some(({ type }) => type === "askEarly");
  assert.equal(isAsked(), false);
  call.clock.advance(1);
  assert.equal(isAsked(), true);
});

test("only the reply that there is no room for is given up, and none is begun early after it", () => {
  const call = callWithEarlyReply();
  const turnId = call.actor.state.early?.turnId ?? 0;
  call.send({ type: "earlyRefused", turnId: turnId - 1 });
  assert.equal(call.actor.state.early?.turnId, turnId);
  call.send({ type: "earlyRefused", turnId });
  assert.equal(call.actor.state.early, undefined);
  call.send({ type: "transcript", text: "and when", ...HEARD, endedAgoMs: 150 });
  assert.equal(call.actor.state.early, undefined);
});

test("of an early reply 4,000 characters are kept, and the token that reaches them", () => {
  const call = callWithEarlyReply();
  const turnId = call.actor.state.early?.turnId ?? 0;
  for (const chars of [3_999, 1, 1]) {
    call.send({ type: "replyToken", turnId, text: "x".repeat(chars) });
  }
  assert.equal(call.actor.state.early?.text.length, 4_000);
});

test("who is dictating is not answered early, unless the recognizer thinks that the turn is ending", () => {
  const call = new RecordedCall({ ...PLAIN_SETTINGS, earlyReply: true });
  call.send({ type: "opened", resumed: true });
  call.send({ type: "transcript", text: "my number is five five", ...HEARD, endedAgoMs: 150 });
  const answered = () => call.actor.state.early?.userText;
  assert.equal(answered(), undefined);
  call.send({ type: "callerTurnEnding" });
  assert.equal(answered(), "my number is five five");
});
