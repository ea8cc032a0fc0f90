import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import type { ChatFault } from "../../../../engine/sandbox/faults.js";
import { AnswerLog } from "../../../../engine/vendors/chain/answer-log.js";
import { AnswerTimes } from "../../../../engine/vendors/chain/answer-times.js";
import { ChainedModel } from "../../../../engine/vendors/chain/llm-chain.js";
import { type CompletionRequest, VendorError } from "../../../../engine/vendors/contracts.js";
import { languageModel } from "../../../../engine/vendors/registry.js";
import { VirtualClock } from "../../../doubles/virtual-clock.js";
import {
  eventually,
  never,
  type SandboxedVendors,
  startSandboxedVendors,
} from "../sandboxed-vendors.js";
import { chainOf } from "./chain-of.js";

const PATIENCE = { firstTokenMs: 2_500, tokenGapMs: 1_200 };
const WORDS = "one two three four five. Six seven eight nine ten, and so on.";

/** After these another vendor is requested immediately. */
const REPORTED: readonly ChatFault[] = [
  "unauthorized",
  "forbidden",
  "badRequest",
  "notFound",
  "rateLimited",
  "quotaExceeded",
  "serverError",
  "overloaded",
  "disconnectBeforeFirstByte",
  "disconnectMidStream",
  "garbageJson",
  "emptyReply",
  "errorMidStream",
];
/** After these only when too much time has passed. */
const SILENT = [
  ["stallBeforeFirstByte", PATIENCE.firstTokenMs],
  ["stallMidStream", PATIENCE.tokenGapMs],
] as const;

function asking(said: string): CompletionRequest {
  const messages = [
    { role: "system", content: "Be brief." },
    { role: "user", content: said },
  ] as const;
  return { modelId: "whatever", messages, temperature: 0.4, maxTokens: 200 };
}

/** Vendors bill a request that they took, whatever becomes of its answer. */
const BILLED: readonly ChatFault[] = ["disconnectBeforeFirstByte", "garbageJson", "emptyReply"];
const UNBILLED: readonly ChatFault[] = ["unauthorized", "rateLimited", "serverError"];

describe("a chain of language models", () => {
  let clock: VirtualClock;
  let vendors: SandboxedVendors;
  let answers: AnswerLog;
  let model: ChainedModel;

  before(async () => {
    clock = new VirtualClock();
    vendors = await startSandboxedVendors(clock);
  });
  beforeEach(() => {
    Object.assign(vendors.sandbox.faults, { openai: {}, groq: {}, ollama: {} });
    answers = new AnswerLog();
    model = chained("openai", "groq");
  });
  after(() => vendors.close());

  function chained(...names: readonly ["openai" | "groq", ...("openai" | "groq")[]]): ChainedModel {
    const [first, ...others] = names.map((vendor) => ({
      vendor,
      modelId: `${vendor}-model`,
      client: languageModel(vendor, vendors.settingsFor(vendor), vendors.context),
    }));
    assert.ok(first);
    const chain = chainOf("llm", clock, answers, [first, ...others]);
    return new ChainedModel(chain, { timeouts: PATIENCE, times: new AnswerTimes() });
  }

  async function said(signal = never(), onToken = () => {}): Promise<string> {
    let text = "";
    const take = (token: string) => {
      text += token;
      onToken();
    };
    await model.complete(asking(`say ${WORDS}`), take, signal);
    return text;
  }

  function requestsTo(vendor: "openai" | "groq"): number {
    return vendors.sandbox.journal.filter((entry) => entry.vendor === vendor).length;
  }

  it("uses only the first while all is well, and keeps no timer", async () => {
    const before = requestsTo("groq");
    const timers = clock.pendingTimerCount;
    assert.equal(await said(), WORDS);
    assert.equal(requestsTo("groq"), before);
    assert.equal(clock.pendingTimerCount, timers);
    assert.deepEqual(answers.take(), { llm: { vendor: "openai", model: "openai-model" } });
  });

  for (const fault of REPORTED) {
    it(`${fault}: the next says all of it, and no word is lost or said twice`, async () => {
      vendors.sandbox.faults.openai = { fault };
      assert.equal(await said(), WORDS);
      const { llm } = answers.take();
      assert.equal(llm?.vendor, "groq");
      assert.equal(llm.attempts, 2);
      assert.equal(llm.firstVendor, "openai");
    });
  }

  for (const [isBilled, faults] of [
    [true, BILLED],
    [false, UNBILLED],
  ] as const) {
    for (const fault of faults) {
      it(`what ${fault} cost ${isBilled ? "is counted" : "is nothing"}`, async () => {
        vendors.sandbox.faults.openai = { fault };
        await said();
        assert.equal((answers.take().llm?.wastedTokens ?? 0) > 0, isBilled);
      });
    }
  }

  for (const [fault, limitMs] of SILENT) {
    it(`${fault}: a model that is silent for too long is left`, async () => {
      vendors.sandbox.faults.openai = { fault };
      const before = requestsTo("openai");
      let hasBegun = false;
      const reply = said(never(), () => {
        hasBegun = true;
      });
      const isStuck = () => (fault === "stallMidStream" ? hasBegun : requestsTo("openai") > before);
      await eventually(isStuck, "the first to be asked");
      clock.advance(limitMs - 1);
      clock.advance(1);
      assert.equal(await reply, WORDS);
      const { llm } = answers.take();
      assert.deepEqual([llm?.firstFault, llm?.wastedMs], ["timeout", limitMs]);
    });
  }

  it("tries a model that has just failed last, so that the next turn does not wait for it", async () => {
    vendors.sandbox.faults.openai = { fault: "serverError" };
    await said();
    answers.take();
    assert.equal(await said(), WORDS);
    assert.deepEqual(answers.take(), { llm: { vendor: "groq", model: "groq-model" } });
    clock.advance(60_000);
    vendors.sandbox.faults.openai = {};
    await said();
    assert.equal(answers.take().llm?.vendor, "openai", "and first again after a while");
  });

  it("asks those that it does not trust all the same when the others fail", async () => {
    vendors.sandbox.faults.openai = { fault: "serverError", times: 1 };
    await said();
    vendors.sandbox.faults.groq = { fault: "serverError" };
    assert.equal(await said(), WORDS);
    assert.equal(answers.take().llm?.vendor, "openai");
  });

  it("reports a retryable fault when no model is left", async () => {
    vendors.sandbox.faults.openai = { fault: "unauthorized" };
    vendors.sandbox.faults.groq = { fault: "serverError" };
    const error: unknown = await said().catch((cause) => cause);
    assert.ok(error instanceof VendorError);
    assert.equal(error.fault, "unavailable");
  });

  it("counts what the failed try has cost to the reply", async () => {
    const usual = await model.complete(asking(`say ${WORDS}`), () => {}, never());
    vendors.sandbox.faults.openai = { fault: "disconnectMidStream" };
    const dear = await model.complete(asking(`say ${WORDS}`), () => {}, never());
    assert.ok(dear.promptTokens > usual.promptTokens, `${dear.promptTokens}`);
    assert.ok((answers.take().llm?.wastedTokens ?? 0) > 0);
  });

  it("stops immediately when the request was aborted, and tries no other model", async () => {
    vendors.sandbox.faults.openai = { fault: "stallBeforeFirstByte" };
    const [asked, others] = [requestsTo("openai"), requestsTo("groq")];
    const abort = new AbortController();
    const reply = said(abort.signal);
    await eventually(() => requestsTo("openai") > asked, "the first to be asked");
    abort.abort();
    await assert.rejects(reply, VendorError);
    assert.equal(requestsTo("groq"), others);
    assert.deepEqual(answers.take(), {});
  });

  it("waits without a limit for the only one there is", async () => {
    model = chained("openai");
    vendors.sandbox.faults.openai = { fault: "stallBeforeFirstByte" };
    const before = requestsTo("openai");
    const abort = new AbortController();
    const reply = said(abort.signal);
    await eventually(() => requestsTo("openai") > before, "the only one to be asked");
    clock.advance(PATIENCE.firstTokenMs * 2);
    vendors.sandbox.faults.openai = {};
    abort.abort();
    const error: unknown = await reply.catch((cause) => cause);
    assert.ok(error instanceof VendorError);
    assert.equal(error.fault, "aborted");
  });
});
