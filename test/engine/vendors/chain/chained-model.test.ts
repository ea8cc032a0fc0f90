import assert from "node:assert/strict";
import { test } from "node:test";
import { AnswerLog } from "../../../../engine/vendors/chain/answer-log.js";
import { AnswerTimes } from "../../../../engine/vendors/chain/answer-times.js";
import { ChainedModel } from "../../../../engine/vendors/chain/llm-chain.js";
import { VendorError } from "../../../../engine/vendors/contracts.js";
import { VirtualClock } from "../../../doubles/virtual-clock.js";
import { chainOf } from "./chain-of.js";
import { TimedModel } from "./timed-model.js";

test("the next model is warmed", () => {
  const clock = new VirtualClock();
  const warmed: string[] = [];
  const named = (vendor: string) => {
    const client = new TimedModel(vendor, clock);
    client.warm = () => void warmed.push(vendor);
    return { vendor, modelId: "m", client };
  };
  const chain = chainOf("llm", clock, new AnswerLog(), [named("first"), named("second")]);
  const timeouts = { firstTokenMs: 2_500, tokenGapMs: 1_200 };
  const model = new ChainedModel(chain, { timeouts, times: new AnswerTimes() });
  model.warm();
  chain.failed(chain.first, new VendorError("first", "timeout", "late"), { ms: 0, tokens: 0 });
  model.warm();
  assert.deepEqual(warmed, ["first", "second"]);
});
