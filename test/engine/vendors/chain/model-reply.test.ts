import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { VendorError, type VendorFault } from "../../../../engine/vendors/contracts.js";
import { MESSAGES, ScriptedReplies, SPOKEN } from "./scripted-replies.js";

describe("a reply of whichever model says it", () => {
  let replies: ScriptedReplies;

  beforeEach(() => {
    replies = new ScriptedReplies();
  });

  function failing(fault: VendorFault): VendorError {
    return new VendorError("first", fault, `first: ${fault}`);
  }

  it("is billed with what failed requests have cost, if they were taken at all", async () => {
    for (const [fault, tokensLost] of [
      ["timeout", 10],
      ["disconnected", 10],
      ["badAnswer", 10],
      ["unavailable", 0],
      ["refused", 0],
    ] as const) {
      replies.chain = replies.chained(replies.first, replies.second);
      replies.told = [];
      const completion = replies.ask();
      await replies.pass(40);
      replies.first.fail(failing(fault));
      await replies.pass(0);
      assert.deepEqual(replies.second.requests.at(-1)?.messages, MESSAGES);
      assert.equal(replies.second.requests.at(-1)?.modelId, "second-model");
      replies.second.say("Yes.");
      replies.second.finish(SPOKEN);
      assert.deepEqual(await completion, { ...SPOKEN, promptTokens: 100 + tokensLost });
      assert.deepEqual(replies.told, [
        ["failed", "first", fault, `first: ${fault}`, { ms: 40, tokens: tokensLost }],
        ["answered", "second"],
      ]);
      assert.equal(replies.clock.pendingTimerCount, 0);
    }
  });

  it("is waited for as long as is set to its first word and from one to the next, and no longer", async () => {
    for (const [isBegun, limitMs] of [
      [false, 2_500],
      [true, 1_200],
    ] as const) {
      replies.chain = replies.chained(replies.first, replies.second);
      replies.told = [];
      const asked = replies.second.requests.length;
      const completion = replies.ask();
      if (isBegun) replies.first.say("We");
      await replies.pass(limitMs - 1);
      assert.equal(replies.second.requests.length, asked);
      await replies.pass(1);
      const message = `first: returned nothing for ${limitMs} ms`;
      assert.deepEqual(replies.told, [
        ["failed", "first", "timeout", message, { ms: limitMs, tokens: 10 }],
      ]);
      assert.equal(replies.second.requests.length, asked + 1);
      await replies.pass(60_000);
      replies.first.say("late");
      replies.second.say("We open.");
      replies.second.finish(SPOKEN);
      await completion;
      assert.equal(replies.tokens.splice(0).join(""), "We open.");
    }
  });

  it("has a shorter limit if it usually starts sooner, unless there is no hurry", async () => {
    for (const [extra, limitMs] of [
      [{}, 800],
      [{ isBackground: true }, 2_500],
    ] as const) {
      replies.chain = replies.chained(replies.first, replies.second);
      for (let n = 0; n < 20; n += 1) replies.times.record(replies.chain.first, 300, 10);
      const asked = replies.second.requests.length;
      const completion = replies.ask(extra);
      await replies.pass(limitMs - 1);
      assert.equal(replies.second.requests.length, asked);
      await replies.pass(1);
      assert.equal(replies.second.requests.length, asked + 1);
      replies.second.say("Yes.");
      replies.second.finish(SPOKEN);
      await completion;
    }
  });

  it("is a retryable fault if all have failed, reported once for each", async () => {
    const completion = replies.ask();
    replies.first.fail(failing("unauthorized"));
    await replies.pass(0);
    replies.second.fail(new Error("a bug"));
    await assert.rejects(completion, { vendor: "second", fault: "badAnswer" });
    assert.deepEqual(replies.told, [
      ["failed", "first", "unauthorized", "first: unauthorized", { ms: 0, tokens: 0 }],
      ["failed", "second", "badAnswer", "second: its client broke off", { ms: 0, tokens: 10 }],
    ]);
  });

  it("reports the wait for its start, or for a missing start", async (context) => {
    const { mock } = context.mock.method(replies.times, "record");
    const took = () =>
      mock.calls.map(({ arguments: [link, ...others] }) => [link.vendor, ...others]);
    const completion = replies.ask();
    await replies.pass(300);
    replies.first.say("We");
    await replies.pass(700);
    replies.first.fail(failing("disconnected"));
    await replies.pass(0);
    await replies.pass(50);
    replies.second.say("We open.");
    replies.second.finish(SPOKEN);
    await completion;
    assert.deepEqual(took(), [["first", 300, 10]], "the rest of a reply is no beginning");
    replies.chain = replies.chained(replies.first, replies.second);
    mock.resetCalls();
    const other = replies.ask();
    await replies.pass(2_500);
    await replies.pass(50);
    replies.second.finish({ ...SPOKEN, toolCalls: [{ id: "1", name: "a", argumentsJson: "" }] });
    await other;
    assert.deepEqual(took(), [
      ["first", 2_500, 10],
      ["second", 50, 10],
    ]);
    replies.chain = replies.chained(replies.first, replies.second);
    mock.resetCalls();
    const stalled = replies.ask();
    await replies.pass(300);
    replies.first.say("We");
    await replies.pass(1_200);
    replies.second.say("We open.");
    replies.second.finish(SPOKEN);
    await stalled;
    assert.deepEqual(took(), [["first", 300, 10]], "a stall behind the beginning is no late one");
    replies.chain = replies.chained(replies.first, replies.second);
    mock.resetCalls();
    const refused = replies.ask();
    await replies.pass(100);
    replies.first.fail(failing("unavailable"));
    await replies.pass(0);
    replies.second.say("Yes.");
    replies.second.finish(SPOKEN);
    await refused;
    assert.deepEqual(took(), [["second", 0, 10]], "a refusal is no beginning");
  });

  it("that ends with its call blames the last model too, if that was quiet for too long", async () => {
    const completion = replies.ask();
    replies.first.fail(failing("refused"));
    await replies.pass(0);
    await replies.pass(2_500);
    replies.call.abort();
    await assert.rejects(completion, { fault: "aborted" });
    assert.deepEqual(replies.told, [
      ["failed", "first", "refused", "first: refused", { ms: 0, tokens: 0 }],
      ["failed", "second", "timeout", "second: returned nothing", { ms: 2_500, tokens: 0 }],
    ]);
  });
});
