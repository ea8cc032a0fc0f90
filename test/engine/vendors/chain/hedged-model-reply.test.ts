import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { AnswerTimes } from "../../../../engine/vendors/chain/answer-times.js";
import { VendorError } from "../../../../engine/vendors/contracts.js";
import { LATE_MS, ScriptedReplies, SPOKEN } from "./scripted-replies.js";

describe("a hedged reply", () => {
  let replies: ScriptedReplies;

  beforeEach(() => {
    replies = new ScriptedReplies();
  });

  it("also requests the next model if the first is late, which continues alone if it starts first", async () => {
    const spent = replies.hedge();
    const completion = replies.ask();
    await replies.pass(LATE_MS - 1);
    assert.equal(replies.second.requests.length, 0);
    await replies.pass(1);
    assert.equal(replies.second.requests.length, 1);
    await replies.pass(300);
    replies.second.say("Yes.");
    assert.equal(replies.first.signals[0]?.aborted, true);
    replies.second.finish(SPOKEN);
    assert.deepEqual(await completion, { ...SPOKEN, promptTokens: 110 });
    assert.deepEqual(replies.told, [
      ["asked", 0],
      ["won", 10],
      ["answered", "second"],
    ]);
    assert.deepEqual(spent, [
      ["spend", 10],
      ["used", 120],
    ]);
    assert.equal(replies.clock.pendingTimerCount, 0);
  });

  it("leaves the reply to a late model that starts after all, and aborts the next", async () => {
    replies.hedge();
    const completion = replies.ask();
    await replies.pass(LATE_MS);
    replies.first.say("Yes.");
    assert.equal(replies.second.signals[0]?.aborted, true);
    replies.first.finish(SPOKEN);
    assert.deepEqual(await completion, { ...SPOKEN, promptTokens: 110 });
    assert.deepEqual(replies.told, [
      ["asked", 0],
      ["lost", 10],
      ["answered", "first"],
    ]);
  });

  it("hedges neither beyond the budget, nor with a vendor that has failed meanwhile", async () => {
    for (const [isSpent, isDown, expected] of [
      [false, false, [["withheld", 0]]],
      [true, true, []],
    ] as const) {
      replies.chain = replies.chained(replies.first, replies.second);
      [replies.told, replies.times] = [[], new AnswerTimes()];
      const spent = replies.hedge(isSpent);
      const completion = replies.ask();
      const [, standIn] = replies.chain.candidates();
      if (isDown) {
        standIn?.breaker.failed({ fault: "unauthorized", retryAfterMs: undefined });
      }
      await replies.pass(LATE_MS);
      assert.equal(replies.second.requests.length, 0);
      replies.first.say("Yes.");
      replies.first.finish(SPOKEN);
      assert.deepEqual(await completion, SPOKEN);
      assert.deepEqual(replies.told, [...expected, ["answered", "first"]]);
      assert.deepEqual(spent.at(-1), ["used", 120]);
    }
  });

  it("ends with its call, and blames no model that was not silent for too long", async () => {
    replies.hedge();
    const completion = replies.ask();
    await replies.pass(LATE_MS);
    replies.call.abort();
    await assert.rejects(completion, { fault: "aborted" });
    assert.deepEqual(replies.told, [["asked", 0]]);
    assert.deepEqual(
      [replies.first.signals[0]?.aborted, replies.second.signals[0]?.aborted],
      [true, true],
    );
    assert.equal(replies.clock.pendingTimerCount, 0);
  });

  it("asks one more and no more, however late that one is too", async () => {
    replies.chain = replies.chained(replies.first, replies.second, replies.third);
    replies.hedge();
    const completion = replies.ask();
    await replies.pass(LATE_MS);
    replies.first.fail(new VendorError("first", "unavailable", "first: down"));
    await replies.pass(0);
    await replies.pass(LATE_MS);
    assert.equal(replies.third.requests.length, 0);
    replies.second.say("Yes.");
    replies.second.finish(SPOKEN);
    await completion;
    assert.equal(replies.clock.pendingTimerCount, 0);
  });

  it("does not wait without a fallback, and not for one that has failed in time", async () => {
    replies.chain = replies.chained(replies.first);
    replies.hedge();
    const alone = replies.ask();
    assert.equal(replies.clock.pendingTimerCount, 0);
    replies.first.finish(SPOKEN);
    await alone;
    replies.chain = replies.chained(replies.first, replies.second);
    replies.hedge();
    const completion = replies.ask();
    replies.first.fail(new VendorError("first", "unavailable", "first: down"));
    await replies.pass(0);
    assert.equal(replies.clock.pendingTimerCount, 0, "the last is waited for without a limit");
    replies.second.say("Yes.");
    replies.second.finish(SPOKEN);
    await completion;
  });

  it("does not hedge after the first has started, nor after passed-on words, nor for a background request", async () => {
    replies.chain = replies.chained(replies.first, replies.second, replies.third);
    replies.hedge();
    const completion = replies.ask();
    await replies.pass(500);
    replies.first.say("We");
    await replies.pass(LATE_MS - 100);
    assert.equal(replies.second.requests.length, 0);
    replies.first.fail(new VendorError("first", "disconnected", "first: gone"));
    await replies.pass(0);
    await replies.pass(LATE_MS);
    assert.deepEqual([replies.second.requests.length, replies.third.requests.length], [1, 0]);
    replies.second.say("We open.");
    replies.second.finish(SPOKEN);
    await completion;
    replies.chain = replies.chained(replies.first, replies.second);
    const isBackground = replies.ask({ isBackground: true });
    await replies.pass(LATE_MS);
    assert.equal(replies.second.requests.length, 1);
    replies.first.say("Yes.");
    replies.first.finish(SPOKEN);
    await isBackground;
  });

  it("waits for the second no longer than is set where there is a third", async () => {
    replies.chain = replies.chained(replies.first, replies.second, replies.third);
    replies.hedge();
    const completion = replies.ask();
    await replies.pass(LATE_MS);
    replies.first.fail(new VendorError("first", "unavailable", "first: down"));
    await replies.pass(0);
    await replies.pass(2_499);
    assert.equal(replies.third.requests.length, 0);
    await replies.pass(1);
    assert.equal(replies.third.requests.length, 1);
    replies.third.say("Yes.");
    replies.third.finish(SPOKEN);
    await completion;
  });

  it("leaves the probe of a model that was only outpaced or abandoned to the next call", async () => {
    for (const isEnded of [false, true]) {
      replies = new ScriptedReplies();
      const breakers = replies.chain.candidates().map(({ breaker }) => breaker);
      for (const breaker of breakers) {
        breaker.failed({ fault: "unauthorized", retryAfterMs: undefined });
      }
      replies.clock.advance(5_000);
      replies.hedge();
      const completion = replies.ask();
      await replies.pass(LATE_MS);
      assert.deepEqual(
        breakers.map(({ phase }) => phase),
        ["halfOpen", "halfOpen"],
      );
      if (isEnded) replies.call.abort();
      else replies.second.say("Yes.");
      await replies.pass(0);
      assert.deepEqual(
        breakers.map(({ phase, isSkipped }) => [phase, isSkipped]),
        isEnded
          ? [
              ["open", false],
              ["open", false],
            ]
          : [
              ["open", false],
              ["halfOpen", true],
            ],
      );
      replies.second.finish(SPOKEN);
      await completion.catch(() => undefined);
    }
  });

  it("learns of both how long they took, though the late one was not heard to its end", async (context) => {
    replies.hedge();
    const { mock } = context.mock.method(replies.times, "record");
    const completion = replies.ask();
    await replies.pass(LATE_MS);
    await replies.pass(300);
    replies.second.say("Yes.");
    replies.second.finish(SPOKEN);
    await completion;
    assert.deepEqual(
      mock.calls.map(({ arguments: [link, ...others] }) => [link.vendor, ...others]),
      [
        ["second", 300, 10],
        ["first", LATE_MS + 300, 10],
      ],
    );
  });
});
