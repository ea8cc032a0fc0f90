import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { AnswerLog } from "../../../../engine/vendors/chain/answer-log.js";
import { AnswerTimes } from "../../../../engine/vendors/chain/answer-times.js";
import type { Chain } from "../../../../engine/vendors/chain/chain.js";
import { ChainedModel } from "../../../../engine/vendors/chain/llm-chain.js";
import type { LanguageModel } from "../../../../engine/vendors/contracts.js";
import { VirtualClock } from "../../../doubles/virtual-clock.js";
import { SeededRandom } from "../../../simulation/seeded-random.js";
import { never } from "../sandboxed-vendors.js";
import { chainOf } from "./chain-of.js";
import { TimedModel } from "./timed-model.js";

const PATIENCE = { firstTokenMs: 2_500, tokenGapMs: 1_200 };
const USUAL_MS = 300;
const HUNG_MS = 60_000;
/** A vendor that failed in a call is tried first again after this time. */
const GRUDGE_MS = 60_000;

describe("the time limit of a model with a fallback", () => {
  let clock: VirtualClock;
  let first: TimedModel;
  let second: TimedModel;
  let chain: Chain<LanguageModel>;
  let model: ChainedModel;

  beforeEach(() => {
    clock = new VirtualClock();
    [first, second] = [new TimedModel("first", clock), new TimedModel("second", clock)];
    [first.delayMs, second.delayMs] = [USUAL_MS, USUAL_MS];
    const linkOf = (client: TimedModel) => ({ vendor: client.vendor, modelId: "m", client });
    chain = chainOf("llm", clock, new AnswerLog(), [linkOf(first), linkOf(second)]);
    model = new ChainedModel(chain, { timeouts: PATIENCE, times: new AnswerTimes() });
  });

  async function firstWordMs(extra: { readonly isBackground?: true } = {}): Promise<number> {
    const askedAtMs = clock.monotonicMs();
    let heardAtMs: number | undefined;
    let isDone = false;
    const isUnderWay = () => !isDone;
    const messages = [{ role: "user", content: "Is there a table?" }] as const;
    const request = { modelId: "", messages, temperature: 0, maxTokens: 9, ...extra };
    const take = () => {
      heardAtMs ??= clock.monotonicMs();
    };
    const reply = model.complete(request, take, never()).finally(() => {
      isDone = true;
    });
    while (isUnderWay()) {
      clock.advance(50);
      for (let n = 0; n < 8; n++) await Promise.resolve();
    }
    await reply;
    return (heardAtMs ?? Number.NaN) - askedAtMs;
  }

  async function usualReplies(count: number): Promise<void> {
    for (let n = 0; n < count; n++) assert.equal(await firstWordMs(), USUAL_MS);
  }

  it("one that never begins is left after 800 ms, when it usually begins sooner", async () => {
    await usualReplies(20);
    first.delayMs = HUNG_MS;
    assert.equal(await firstWordMs(), 800 + USUAL_MS);
  });

  it("one of which little is known has all the time that is set", async () => {
    await usualReplies(19);
    first.delayMs = HUNG_MS;
    assert.equal(await firstWordMs(), PATIENCE.firstTokenMs + USUAL_MS);
  });

  it("and so has one whose fallback has failed, the last one, and one of a background request", async () => {
    await usualReplies(20);
    [first.delayMs, second.delayMs] = [HUNG_MS, 5_000];
    assert.equal(await firstWordMs(), 800 + 5_000, "the last has no limit");
    clock.advance(GRUDGE_MS);
    first.delayMs = 2_000;
    assert.equal(await firstWordMs({ isBackground: true }), 2_000);
    [first.outcome, second.outcome] = ["fails", "fails"];
    await assert.rejects(firstWordMs());
    [first.outcome, second.outcome] = ["speaks", "speaks"];
    clock.advance(GRUDGE_MS - 6_000);
    assert.equal(await firstWordMs(), 2_000, "who is behind it has failed in this call");
  });

  it("what a refusal took says nothing about how long an answer takes", async () => {
    await usualReplies(19);
    first.outcome = "fails";
    assert.equal(await firstWordMs(), 2 * USUAL_MS);
    clock.advance(GRUDGE_MS);
    [first.outcome, first.delayMs] = ["speaks", HUNG_MS];
    assert.equal(await firstWordMs(), PATIENCE.firstTokenMs + USUAL_MS);
  });

  it("one that begins and then says no more has begun once", async () => {
    await usualReplies(18);
    first.outcome = "stalls";
    assert.equal(await firstWordMs(), USUAL_MS);
    clock.advance(GRUDGE_MS);
    [first.outcome, first.delayMs] = ["speaks", HUNG_MS];
    assert.equal(await firstWordMs(), PATIENCE.firstTokenMs + USUAL_MS);
  });

  it("one that speaks after it was given up is not heard", async () => {
    await usualReplies(20);
    [first.delayMs, second.delayMs] = [1_000, 1_500];
    first.isOverheard = true;
    assert.equal(await firstWordMs(), 800 + 1_500);
  });

  /** Asks the first one each time, as calls do that know of no failure, and returns how often it was left for the other. */
  async function leftShare(replies: number, delayMs: () => number): Promise<number> {
    let left = 0;
    for (let n = 0; n < replies; n++) {
      clock.advance(GRUDGE_MS);
      first.delayMs = delayMs();
      const askedBefore = second.asked;
      await firstWordMs();
      left += second.asked - askedBefore;
    }
    return left / replies;
  }

  function spread(medianMs: number, sigma: number): () => number {
    const random = new SeededRandom(12);
    return () => {
      const radius = Math.sqrt(-2 * Math.log(1 - random.fraction()));
      const normal = radius * Math.cos(2 * Math.PI * random.fraction());
      return medianMs * Math.exp(sigma * normal);
    };
  }

  for (const [medianMs, sigma] of [
    [250, 0.4],
    [250, 0.7],
    [500, 0.5],
    [800, 0.4],
  ] as const) {
    it(`a healthy one of ${medianMs} ms is left in less than 1 % of its replies, though they vary widely (${sigma})`, async () => {
      await leftShare(20, spread(medianMs, sigma));
      const share = await leftShare(1_000, spread(medianMs, sigma));
      assert.ok(share < 0.01, String(share));
      assert.equal(chain.first.breaker.phase, "closed");
    });
  }

  it("one that has become slower for good is waited for after a few replies", async () => {
    await usualReplies(100);
    const share = await leftShare(200, () => 1_800);
    assert.ok(share <= 0.1, String(share));
    assert.equal(await leftShare(50, () => 1_800), 0);
  });
});
