import assert from "node:assert/strict";
import { test } from "node:test";
import { SETTING_COSTS } from "../../../../api/console/words/setting-costs.js";
import { AnswerLog } from "../../../../engine/vendors/chain/answer-log.js";
import { AnswerTimes } from "../../../../engine/vendors/chain/answer-times.js";
import { ChainedModel, Hedging } from "../../../../engine/vendors/chain/llm-chain.js";
import { VirtualClock } from "../../../doubles/virtual-clock.js";
import { SeededRandom } from "../../../simulation/seeded-random.js";
import { never } from "../sandboxed-vendors.js";
import { chainOf } from "./chain-of.js";
import { TimedModel } from "./timed-model.js";

const REPLIES = 1_000;
/** Until times are known, and something is saved that may be spent. */
const FIRST_REPLIES = 100;
const LATE_MS = 2_000;

interface Trial {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly wastedShare: number;
}

/** Replies of a chain whose first model takes 250 to 550 ms, and 2 s for one reply in twenty. */
async function trial(isHedged: boolean): Promise<Trial> {
  const clock = new VirtualClock();
  const random = new SeededRandom(20);
  const [first, second] = [new TimedModel("first", clock), new TimedModel("second", clock)];
  const linkOf = (client: TimedModel) => ({ vendor: client.vendor, modelId: "m", client });
  const answers = new AnswerLog();
  const hedging = new Hedging(0.05);
  const model = new ChainedModel(chainOf("llm", clock, answers, [linkOf(first), linkOf(second)]), {
    timeouts: { firstTokenMs: 2_500, tokenGapMs: 1_200 },
    times: new AnswerTimes(),
    allowance: isHedged ? hedging.of("org") : undefined,
  });
  const firstWordsMs: number[] = [];
  let [usedTokens, wastedTokens] = [0, 0];
  // 400 characters, at four a token: what the models say that they charge for a question.
  const messages = [{ role: "user", content: "?".repeat(400) }] as const;
  for (let n = 0; n < FIRST_REPLIES + REPLIES; n++) {
    first.delayMs = random.chance(0.05) ? LATE_MS : random.whole(250, 550);
    second.delayMs = random.whole(250, 550);
    const askedAtMs = clock.monotonicMs();
    let isHeard = false;
    const isWaiting = () => !isHeard;
    const reply = model.complete(
      { modelId: "", messages, temperature: 0, maxTokens: 9 },
      () => {
        if (!isHeard && n >= FIRST_REPLIES) firstWordsMs.push(clock.monotonicMs() - askedAtMs);
        isHeard = true;
      },
      never(),
    );
    for (; isWaiting(); await Promise.resolve()) clock.advance(10);
    const { promptTokens, completionTokens } = await reply;
    const wasted = answers.take().llm?.hedges?.wastedTokens ?? 0;
    wastedTokens += wasted;
    usedTokens += promptTokens + completionTokens - wasted;
  }
  const sorted = firstWordsMs.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
  return { p50Ms: at(0.5), p99Ms: at(0.99), wastedShare: wastedTokens / usedTokens };
}

test("with a model that is late one time in twenty, hedging takes a third off the longest waits, for a twentieth of the tokens", async () => {
  const [alone, hedged] = [await trial(false), await trial(true)];
  const told = JSON.stringify({ alone, hedged });
  assert.equal(alone.p99Ms, LATE_MS, told);
  assert.ok(hedged.p99Ms <= 1_400, told);
  assert.ok(Math.abs(hedged.p50Ms - alone.p50Ms) < 20, told);
  assert.equal(alone.wastedShare, 0);
  // The console shows them next to the setting.
  const { slowestMs, hedgedSlowestMs, tokensPercent } = SETTING_COSTS.hedging;
  assert.deepEqual([slowestMs, hedgedSlowestMs], [alone.p99Ms, hedged.p99Ms]);
  assert.equal(tokensPercent, Math.round(hedged.wastedShare * 1_000) / 10);
  assert.ok(hedged.wastedShare > 0.01 && hedged.wastedShare <= 0.05, told);
});
