import assert from "node:assert/strict";
import { test } from "node:test";
import { AnsweredWebhooks } from "../../../engine/telephony/answered-webhooks.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";

function counting(): () => string {
  let count = 0;
  return () => `token ${++count}`;
}

test("what comes again within the vendor's window gets the token that it got", () => {
  const clock = new VirtualClock();
  const answered = new AnsweredWebhooks(clock);
  const mint = counting();
  const unique = { id: "nonce", isUnique: true };
  assert.equal(answered.answerTo(unique, mint), "token 1");
  clock.stepWallClock(-3_600_000);
  clock.advance(599_999);
  assert.equal(answered.answerTo(unique, mint), "token 1");
  assert.equal(answered.answerTo({ id: "other", isUnique: true }, mint), "token 2");
  clock.advance(1);
  assert.equal(answered.answerTo(unique, mint), "token 3");
});

test("what carries no time may come again once its token is of no use", () => {
  const clock = new VirtualClock();
  const answered = new AnsweredWebhooks(clock);
  const mint = counting();
  const undated = { id: "signature", isUnique: false };
  assert.equal(answered.answerTo(undated, mint), "token 1");
  clock.advance(59_999);
  assert.equal(answered.answerTo(undated, mint), "token 1");
  clock.advance(1);
  assert.equal(answered.answerTo(undated, mint), "token 2");
});

test("memory that is full of what could still be replayed takes no more, until some is over", () => {
  const clock = new VirtualClock();
  const answered = new AnsweredWebhooks(clock, 2);
  const mint = counting();
  answered.answerTo({ id: "long", isUnique: true }, mint);
  answered.answerTo({ id: "short", isUnique: false }, mint);
  assert.equal(answered.answerTo({ id: "third", isUnique: true }, mint), undefined);
  assert.equal(answered.answerTo({ id: "long", isUnique: true }, mint), "token 1");
  clock.advance(60_000);
  assert.equal(answered.answerTo({ id: "third", isUnique: true }, mint), "token 3");
  assert.equal(answered.count, 2);
});

test("20,000 webhooks that could be replayed are remembered, and the next one waits", () => {
  const clock = new VirtualClock();
  const answered = new AnsweredWebhooks(clock);
  const mint = counting();
  for (let number = 1; number <= 20_000; number += 1) {
    answered.answerTo({ id: `${number}`, isUnique: true }, mint);
  }
  const next = { id: "next", isUnique: true };
  assert.equal(answered.answerTo(next, mint), undefined);
  assert.equal(answered.answerTo({ id: "1", isUnique: true }, mint), "token 1");
  clock.advance(600_000);
  assert.equal(answered.answerTo(next, mint), "token 20001");
  assert.equal(answered.count, 1);
});

test("a token that could not be made leaves nothing behind", () => {
  const answered = new AnsweredWebhooks(new VirtualClock());
  assert.throws(() =>
    answered.answerTo({ id: "id", isUnique: true }, () => {
      throw new RangeError("too long");
    }),
  );
  assert.equal(answered.count, 0);
});
