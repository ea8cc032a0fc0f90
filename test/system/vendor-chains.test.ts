import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { STALL_MAX_MS } from "../../engine/conversation/playout.js";
import type { SandboxFaults } from "../../engine/sandbox/faults.js";
import type { CallRecord } from "../../storage/records.js";
import { closeOf, ended, repliesOf } from "./events.js";
import { OWN_VENDORS_ALLOWED, OwnVendors } from "./own-vendors.js";
import { MODELS, TestServer } from "./test-server.js";

const CONCURRENT_MAX = 5;

let server: TestServer;
before(async () => {
  server = await TestServer.start({ environment: OWN_VENDORS_ALLOWED });
});
after(() => server.close());

/** The platform's vendors are the fallbacks of the organization's own sandbox, the only one with faults. */
async function withFallbacks(faults: Partial<SandboxFaults>) {
  const llm = { providerId: await server.providerId("llm", "groq"), modelId: MODELS.llm.groq };
  const voice = { providerId: await server.providerId("tts", "edge"), modelId: MODELS.tts.edge };
  const stt = { providerId: await server.providerId("stt", "deepgram"), modelId: "nova-2" };
  return { faults, agent: { fallbacks: { llm: [llm], tts: [voice], stt: [stt] } } };
}

function turnsOf(call: CallRecord): readonly Readonly<Record<string, unknown>>[] {
  const turns = call.metadata["turns"];
  assert.ok(Array.isArray(turns));
  return turns;
}

describe("a call whose vendors are down", { concurrency: CONCURRENT_MAX }, () => {
  const unauthorized = { fault: "unauthorized" } as const;
  const cases: readonly (readonly [string, Partial<SandboxFaults>])[] = [
    ["the language model", { openai: unauthorized }],
    ["the voice", { openaiSpeech: unauthorized }],
    ["the recognizer", { deepgram: unauthorized }],
    ["all of them", { openai: unauthorized, openaiSpeech: unauthorized, deepgram: unauthorized }],
  ];
  for (const [title, faults] of cases) {
    test(`${title}, from the beginning of the call: fallbacks take over`, async (context) => {
      const own = await OwnVendors.of(server, context, await withFallbacks(faults));
      const caller = await own.call();
      for (const word of ["yes", "no"]) {
        await caller.say(`say ${word}`);
        await caller.until(ended);
      }
      assert.deepEqual(repliesOf(caller), ["yes", "no"]);
      assert.deepEqual(
        (await caller.playedReplies()).map(({ text }) => text),
        ["yes", "no"],
      );
      await caller.hangUp();
      const call = await own.endedCall();
      assert.equal(call.status, "completed");
      assert.deepEqual(
        call.transcript.map(({ text }) => text),
        ["say yes", "yes", "say no", "no"],
      );
    });
  }

  const struck: readonly (readonly [string, Partial<SandboxFaults>])[] = [
    ["the LLM during a reply", { openai: { fault: "disconnectMidStream" } }],
    ["the TTS during a sentence", { openaiSpeech: { fault: "disconnectMidStream" } }],
    ["the STT with every connection", { deepgram: { fault: "closeMidCall" } }],
  ];
  for (const [title, faults] of struck) {
    test(`${title}: no word is lost or said twice`, async (context) => {
      const own = await OwnVendors.of(server, context, await withFallbacks({}));
      const caller = await own.call();
      await caller.say("say yes");
      await caller.until(ended);
      Object.assign(own.faults, faults);
      await caller.say("say Absolutely. There is more to tell.");
      await caller.until(ended);
      await caller.hangUp();
      const call = await own.endedCall();
      assert.equal(call.status, "completed");
      assert.deepEqual(
        call.transcript.slice(2).map(({ text }) => text),
        ["say Absolutely. There is more to tell.", "Absolutely. There is more to tell."],
      );
    });
  }

  test("the LLM during a reply: the turn records its vendors, and the cost", async (context) => {
    const own = await OwnVendors.of(server, context, await withFallbacks({}));
    const caller = await own.call();
    await caller.say("say yes");
    await caller.until(ended);
    own.faults.openai = unauthorized;
    await caller.say("say no");
    await caller.until(ended);
    await caller.hangUp();
    const call = await own.endedCall();
    const [healthy, spoilt] = turnsOf(call);
    assert.deepEqual(healthy?.["llm"], { vendor: "openai", model: MODELS.llm.openai });
    assert.deepEqual(healthy?.["tts"], { vendor: "openai", model: MODELS.tts.openai });
    const { wastedMs, ...answer } = Object(spoilt?.["llm"]);
    assert.deepEqual(answer, {
      vendor: "groq",
      model: MODELS.llm.groq,
      attempts: 2,
      firstVendor: "openai",
      firstModel: MODELS.llm.openai,
      firstFault: "unauthorized",
    });
    assert.ok(wastedMs >= 0 && wastedMs < STALL_MAX_MS, `${wastedMs} ms`);

    const headers = { "x-api-key": own.customer.apiKey };
    const listed = await fetch(`${server.url}/api/dashboard/providers?client=true`, { headers });
    const providers: unknown = await listed.json();
    assert.ok(Array.isArray(providers), listed.statusText);
    assert.deepEqual(
      providers.map(({ category, breaker }) => `${category} ${breaker}`).toSorted(),
      ["llm open", "stt closed", "tts closed"],
    );
  });

  test("the TTS and its fallback: the call ends with the reason", async (context) => {
    const edge = await withFallbacks({ openaiSpeech: unauthorized });
    const fallbacks = { ...edge.agent.fallbacks, tts: [] };
    const own = await OwnVendors.of(server, context, { ...edge, agent: { fallbacks } });
    const caller = await own.call();
    await caller.say("say ok");
    assert.equal((await closeOf(caller)).error, "speech synthesis failed");
    assert.equal((await own.endedCall()).metadata["endReason"], "speechFailed");
  });
});
