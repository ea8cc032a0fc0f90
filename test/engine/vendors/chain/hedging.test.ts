import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { AnswerLog } from "../../../../engine/vendors/chain/answer-log.js";
import { AnswerTimes } from "../../../../engine/vendors/chain/answer-times.js";
import type { Chain } from "../../../../engine/vendors/chain/chain.js";
import { ChainedModel, Hedging } from "../../../../engine/vendors/chain/llm-chain.js";
import {
  type Completion,
  type LanguageModel,
  VendorError,
} from "../../../../engine/vendors/contracts.js";
import { VirtualClock } from "../../../doubles/virtual-clock.js";
import { never } from "../sandboxed-vendors.js";
import { chainOf } from "./chain-of.js";
import { TimedModel } from "./timed-model.js";

const PATIENCE_MS = 2_500;
const PATIENCE = { firstTokenMs: PATIENCE_MS, tokenGapMs: PATIENCE_MS };
const USUAL_MS = 400;
const LATE_MS = 480;
/** The question below, at four characters a token. */
const PROMPT_TOKENS = 10;
const QUESTION = "Is there a table for two tomorrow at 8?!";
const MESSAGES = [{ role: "user", content: QUESTION }] as const;

describe("a second model, when the first is late", () => {
  let clock: VirtualClock;
  let first: TimedModel;
  let second: TimedModel;
  let answers: AnswerLog;
  let hedging: Hedging;
  let times: AnswerTimes;
  let chain: Chain<LanguageModel>;
  let model: ChainedModel;

  beforeEach(async () => {
    clock = new VirtualClock();
    hedging = new Hedging(0.05);
    answers = new AnswerLog();
    [first, second] = [new TimedModel("first", clock), new TimedModel("second", clock)];
    const linkOf = (client: TimedModel) => ({ vendor: client.vendor, modelId: "m", client });
    chain = chainOf("llm", clock, answers, [linkOf(first), linkOf(second)]);
    times = new AnswerTimes();
    const allowance = hedging.of("org");
    model = new ChainedModel(chain, { timeouts: PATIENCE, times, allowance });
    await usualReplies(40);
  });

  async function usualReplies(count: number): Promise<void> {
    for (let n = 0; n < count; n++) await reply();
    answers.take();
    [first.asked, second.asked] = [0, 0];
  }

  interface Heard {
    readonly text: string;
    readonly firstWordMs: number;
    readonly completion: Completion;
  }

  async function reply(
    extra: { readonly isBackground?: true } = {},
    signal = never(),
  ): Promise<Heard> {
    const askedAtMs = clock.monotonicMs();
    let text = "";
    let firstWordMs = Number.POSITIVE_INFINITY;
    let isDone = false;
    const isUnderWay = () => !isDone;
    const request = { modelId: "", messages: MESSAGES, temperature: 0, maxTokens: 9, ...extra };
    const take = (token: string) => {
      if (text === "") firstWordMs = clock.monotonicMs() - askedAtMs;
      text += token;
    };
    const completion = model.complete(request, take, signal).finally(() => {
      isDone = true;
    });
    completion.catch(() => undefined);
    // Resolved promises run between one timer and the next.
    for (let passedMs = 0; isUnderWay() && passedMs < 30_000; passedMs += 50) {
      clock.advance(50);
      await new Promise(setImmediate);
    }
    return { text, firstWordMs, completion: await completion };
  }

  it("requests no other model while the first is no later than usual, and leaves no timer", async () => {
    const { text } = await reply();
    assert.equal(text, "first speaks.");
    assert.equal(second.asked, 0);
    assert.equal(clock.pendingTimerCount, 0);
    assert.deepEqual(answers.take(), { llm: { vendor: "first", model: "m" } });
  });

  it("lets the second continue alone if it starts first, and aborts the first", async () => {
    first.delayMs = 2_000;
    const { text, firstWordMs, completion } = await reply();
    assert.equal(text, "second speaks.");
    assert.equal(firstWordMs, LATE_MS + USUAL_MS);
    assert.equal(first.aborted, 1);
    assert.equal(completion.promptTokens, 100 + PROMPT_TOKENS, "both are paid for");
    const hedges = { asked: 1, won: 1, withheld: 0, wastedTokens: PROMPT_TOKENS };
    assert.deepEqual(answers.take(), { llm: { vendor: "second", model: "m", hedges } });
    assert.equal(clock.pendingTimerCount, 0);
  });

  it("stops the second when the first begins after all", async () => {
    first.delayMs = 600;
    const { text, firstWordMs } = await reply();
    assert.equal(text, "first speaks.");
    assert.equal(firstWordMs, 600);
    assert.equal(second.aborted, 1);
    const hedges = { asked: 1, won: 0, withheld: 0, wastedTokens: PROMPT_TOKENS };
    assert.deepEqual(answers.take().llm, { vendor: "first", model: "m", hedges });
    assert.equal(clock.pendingTimerCount, 0);
  });

  it("takes the beginning of a tool's use for a first word", async () => {
    first.delayMs = 2_000;
    second.outcome = "usesTool";
    const { text, completion } = await reply();
    assert.equal(text, "");
    assert.equal(completion.toolCalls?.length, 1);
    assert.equal(first.aborted, 1);
  });

  it("continues with the second immediately if the late first fails", async () => {
    [first.delayMs, first.outcome] = [500, "fails"];
    const { text, firstWordMs } = await reply();
    assert.equal(text, "second speaks.");
    assert.equal(firstWordMs, LATE_MS + USUAL_MS);
    assert.equal(second.asked, 1);
    assert.equal(answers.take().llm?.firstFault, "unavailable");
  });

  it("waits for the first if the second fails, and reports the failure", async () => {
    first.delayMs = 1_500;
    [second.delayMs, second.outcome] = [100, "fails"];
    const { text } = await reply();
    assert.equal(text, "first speaks.");
    const { llm } = answers.take();
    assert.equal(llm?.vendor, "first");
    assert.equal(llm.firstVendor, "second");
    assert.equal(llm.hedges?.won, 0);
  });

  it("asks the first once more when the second breaks off in mid-reply", async () => {
    first.delayMs = 2_000;
    second.outcome = "breaksOff";
    const { text } = await reply();
    assert.equal(text, "second first speaks.");
    assert.equal(first.asked, 2);
  });

  it("waits for the second without a limit if the first returned nothing and none is left", async () => {
    first.delayMs = 60_000;
    second.delayMs = 5_000;
    const { text, firstWordMs } = await reply();
    assert.equal(text, "second speaks.");
    assert.equal(firstWordMs, LATE_MS + 5_000);
    assert.equal(answers.take().llm?.firstFault, "timeout");
  });

  it("stops both when the request was aborted", async () => {
    [first.delayMs, second.delayMs] = [2_000, 2_000];
    const abort = new AbortController();
    clock.after(700, () => abort.abort());
    await assert.rejects(reply({}, abort.signal), VendorError);
    assert.deepEqual([first.aborted, second.aborted], [1, 1]);
    assert.equal(clock.pendingTimerCount, 0);
  });

  it("does not hedge with a vendor whose breaker is not closed", async () => {
    const [, link] = chain.candidates();
    for (let n = 0; n < 3; n++)
      link?.breaker.failed({ fault: "unavailable", retryAfterMs: undefined });
    first.delayMs = 2_000;
    assert.equal((await reply()).text, "first speaks.");
    assert.equal(second.asked, 0);
  });

  it("does not hedge a background request", async () => {
    first.delayMs = 2_000;
    assert.equal((await reply({ isBackground: true })).text, "first speaks.");
    assert.equal(second.asked, 0);
  });

  it("withholds what would cost more than its share of all tokens, and says so", async () => {
    first.delayMs = 600;
    // 40 replies of 120 tokens have left room for 24 questions of 10 tokens.
    let [asked, withheld] = [0, 0];
    for (let n = 0; n < 60; n++) {
      // As if it had answered in time on many other calls.
      for (let other = 0; other < 30; other++) times.record(chain.first, USUAL_MS);
      await reply();
      const { hedges } = answers.take().llm ?? {};
      asked += hedges?.asked ?? 0;
      withheld += hedges?.withheld ?? 0;
      if (hedges?.withheld === 1) assert.equal(hedges.wastedTokens, 0, "nobody was asked");
    }
    const spentTokens = asked * PROMPT_TOKENS;
    assert.ok(asked > 24 && withheld > 0, `${asked} ${withheld}`);
    assert.ok(spentTokens <= 0.05 * 100 * 120, `${spentTokens}`);
  });
});
