import assert from "node:assert/strict";
import { test } from "node:test";
import { AnswerLog } from "../../../../engine/vendors/chain/answer-log.js";
import { AnswerTimes } from "../../../../engine/vendors/chain/answer-times.js";
import { ChainedModel } from "../../../../engine/vendors/chain/llm-chain.js";
import { VirtualClock } from "../../../doubles/virtual-clock.js";
import { chainOf } from "./chain-of.js";
import { TimedModel } from "./timed-model.js";

const PATIENCE = { firstTokenMs: 2_500, tokenGapMs: 1_200 };

/** The phases of a model's breaker, after each attempt that was silent for this long and then aborted. */
async function phasesAfter(quietMs: number, hasBegun: boolean): Promise<readonly string[]> {
  const clock = new VirtualClock();
  const client = new TimedModel("only", clock);
  client.outcome = "stalls";
  client.delayMs = hasBegun ? 100 : 60_000;
  const chain = chainOf("llm", clock, new AnswerLog(), [{ vendor: "only", modelId: "m", client }]);
  const model = new ChainedModel(chain, { timeouts: PATIENCE, times: new AnswerTimes() });
  const request = { modelId: "", messages: [], temperature: 0, maxTokens: 9 };
  const phases: string[] = [];
  for (let time = 0; time < 3; time += 1) {
    const abort = new AbortController();
    const asked = model.complete(request, () => undefined, abort.signal);
    asked.catch(() => undefined);
    await new Promise(setImmediate);
    if (hasBegun) clock.advance(100);
    clock.advance(quietMs);
    abort.abort();
    await assert.rejects(asked);
    phases.push(chain.first.breaker.phase);
  }
  return phases;
}

const TRUSTED = ["closed", "closed", "closed"];
const LEFT = ["closed", "closed", "open"];

test("a model that hangs until it times out is not used again, one that was only interrupted is", async () => {
  for (const [quietMs, hasBegun, phases] of [
    [2_499, false, TRUSTED],
    [2_500, false, LEFT],
    [1_199, true, TRUSTED],
    [1_200, true, LEFT],
  ] as const) {
    assert.deepEqual(await phasesAfter(quietMs, hasBegun), phases, `${quietMs} ms, ${hasBegun}`);
  }
});
