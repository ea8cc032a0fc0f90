import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { GO_ON } from "../../../../engine/vendors/chain/llm-chain.js";
import {
  type Completion,
  type LanguageModel,
  VendorError,
} from "../../../../engine/vendors/contracts.js";
import { LATE_MS, MESSAGES, ScriptedReplies, SPOKEN } from "./scripted-replies.js";

const GONE = new VendorError("first", "disconnected", "first: gone");

describe("a model that gets a reply, or the rest of one", () => {
  let replies: ScriptedReplies;

  beforeEach(() => {
    replies = new ScriptedReplies();
  });

  it("continues after another one's words", async () => {
    const completion = replies.ask();
    replies.first.say("We open");
    replies.first.say("");
    replies.first.fail(GONE);
    await replies.pass(0);
    assert.deepEqual(replies.second.requests[0]?.messages, [
      ...MESSAGES,
      { role: "assistant", content: "We open" },
      { role: "user", content: GO_ON },
    ]);
    replies.second.say("open");
    replies.second.say(" at nine. We");
    replies.second.finish(SPOKEN);
    const { completionTokens } = await completion;
    assert.deepEqual(replies.tokens, ["We open", " at nine. We"]);
    assert.equal(completionTokens, 20 + 2, "the seven characters of the first are paid for too");
  });

  it("is held while it may only repeat them, until it has ended", async () => {
    const completion = replies.ask();
    replies.first.say("We open");
    replies.first.fail(GONE);
    await replies.pass(0);
    replies.second.say("We");
    assert.deepEqual(replies.tokens, ["We open"]);
    replies.second.finish(SPOKEN);
    await completion;
    assert.deepEqual(replies.tokens, ["We open", " We"]);
  });

  it("may not return an empty reply if there is a fallback, but may return only tool calls", async () => {
    const completion = replies.ask();
    replies.first.finish(SPOKEN);
    await replies.pass(0);
    assert.deepEqual(replies.told, [
      ["failed", "first", "badAnswer", "first: an empty reply", { ms: 0, tokens: 10 }],
    ]);
    const toolCalls = [{ id: "1", name: "hold", argumentsJson: "{}" }];
    replies.second.finish({ ...SPOKEN, toolCalls });
    assert.deepEqual(await completion, { ...SPOKEN, promptTokens: 110, toolCalls });
    replies.chain = replies.chained(replies.first);
    const alone = replies.ask();
    replies.first.finish(SPOKEN);
    assert.deepEqual(await alone, SPOKEN);
  });

  it("is ignored if it continues after another has started", async () => {
    let finish: (completion: Completion) => void = () => undefined;
    const deaf: LanguageModel = {
      complete: () =>
        new Promise((resolve) => {
          finish = resolve;
        }),
      warm: () => undefined,
    };
    replies.chain = replies.chained(deaf, replies.second);
    replies.hedge();
    const completion = replies.ask();
    await replies.pass(LATE_MS);
    replies.second.say("Yes.");
    finish({ ...SPOKEN, completionTokens: 1 });
    await replies.pass(0);
    replies.second.finish(SPOKEN);
    assert.deepEqual(await completion, { ...SPOKEN, promptTokens: 110 });
    assert.deepEqual(replies.told.at(-1), ["answered", "second"]);
  });

  it("tries for all calls when its breaker lets one try", async () => {
    const { breaker } = replies.chain.first;
    breaker.failed({ fault: "unauthorized", retryAfterMs: undefined });
    replies.clock.advance(5_000);
    const completion = replies.ask();
    assert.equal(breaker.phase, "halfOpen");
    replies.first.say("Yes.");
    replies.first.finish(SPOKEN);
    await completion;
    assert.equal(breaker.phase, "closed");
  });
});
