import assert from "node:assert/strict";
import { test } from "node:test";
import { vendorShares } from "../../../engine/calls/vendor-shares.js";
import type { JsonObject } from "../../../storage/records.js";

const FAULTS_MAX = 10;
const MODELS_MAX = 20;
const TURNS_CALLS_MAX = 2_000;
/** A store with one turn a call, the newest first. */
function storeOf(turns: readonly JsonObject[]) {
  return {
    turnsSince: (_orgId: string, { skipCalls, calls }: { skipCalls: number; calls: number }) =>
      Promise.resolve(
        turns.slice(skipCalls, skipCalls + calls).map((turn, index) => ({
          callId: `call-${skipCalls + index}`,
          startedAtMs: 1_000 - index,
          turn,
        })),
      ),
  };
}

const FAILED = { attempts: 2, firstVendor: "openai", firstFault: "timeout", wastedMs: 900.4 };

test("vendors are listed with their answered and failed turns, the worst first", async () => {
  const shares = await vendorShares(
    storeOf([
      { llm: { vendor: "groq", model: "fast", ...FAILED }, tts: { vendor: "openai" } },
      { llm: { vendor: "groq", model: "fast", ...FAILED, firstFault: "unauthorized" } },
      { llm: { vendor: "openai", model: "large" } },
      { kind: "greeting" },
    ]),
    "org",
    0,
  );
  const none = { failed: 0, lastFault: null, wastedMs: 0, faults: [], models: [] };
  const one = { model: null, turns: 1 };
  assert.deepEqual(shares, [
    {
      category: "llm",
      vendor: "openai",
      answered: 1,
      failed: 2,
      lastFault: "timeout",
      wastedMs: 1_800,
      faults: [
        { ...one, fault: "timeout", lastCallId: "call-0", lastCallAtMs: 1_000 },
        { ...one, fault: "unauthorized", lastCallId: "call-1", lastCallAtMs: 999 },
      ],
      models: [],
    },
    { ...none, category: "llm", vendor: "groq", answered: 2 },
    { ...none, category: "tts", vendor: "openai", answered: 1 },
  ]);
});

test("faults are listed by reason and model, most frequent first, each with its newest call; the number is limited", async () => {
  const failed = (firstFault: string, firstModel: string) => ({
    stt: { ...FAILED, vendor: "", firstFault, firstModel },
  });
  const rare = Array.from({ length: FAULTS_MAX }, (_, index) => failed("refused", `${index}`));
  const turns = [failed("timeout", "nova"), ...rare, failed("timeout", "nova")];
  const [share] = await vendorShares(storeOf(turns), "org", 0);
  assert.equal(share?.failed, turns.length);
  assert.equal(share.faults.length, FAULTS_MAX);
  assert.deepEqual(share.faults.slice(0, 2), [
    { fault: "timeout", model: "nova", turns: 2, lastCallId: "call-0", lastCallAtMs: 1_000 },
    { fault: "refused", model: "0", turns: 1, lastCallId: "call-1", lastCallAtMs: 999 },
  ]);
});

test("the latency of a model is the median of its own part, without turns in which another vendor failed first", async () => {
  const llm = { vendor: "openai", model: "large" };
  const shares = await vendorShares(
    storeOf([
      {
        llm,
        llmFirstTokenMs: 300.4,
        tts: { vendor: "openai", model: "tts-1" },
        ttsFirstByteMs: 80,
      },
      { llm, llmFirstTokenMs: 900 },
      { llm, llmFirstTokenMs: 200 },
      { llm: { ...llm, ...FAILED, firstVendor: "groq" }, llmFirstTokenMs: 5_000 },
      { llm: { ...llm, model: "small" }, llmFirstTokenMs: 150 },
      { llm, sttMs: 10 },
    ]),
    "org",
    0,
  );
  const modelsOf = (category: string) =>
    shares.find((share) => share.category === category && share.vendor === "openai")?.models;
  assert.deepEqual(modelsOf("llm"), [
    { model: "large", turns: 3, p50Ms: 300 },
    { model: "small", turns: 1, p50Ms: 150 },
  ]);
  assert.deepEqual(modelsOf("tts"), [{ model: "tts-1", turns: 1, p50Ms: 80 }]);
});

test("the STT that a call began with is measured in its later turns, until its fallback takes over", async () => {
  const turns = [
    { callId: "new", turn: { kind: "greeting", stt: { vendor: "deepgram", model: "nova" } } },
    { callId: "new", turn: { sttMs: 140 } },
    { callId: "new", turn: { sttMs: 900, stt: { vendor: "openai", model: "whisper", ...FAILED } } },
    { callId: "new", turn: { sttMs: 300 } },
    { callId: "old", turn: { sttMs: 5_000 } },
  ].map((each) => ({ ...each, startedAtMs: 1 }));
  const store = {
    turnsSince: (_orgId: string, { skipCalls }: { skipCalls: number }) =>
      Promise.resolve(skipCalls === 0 ? turns : []),
  };
  const shares = await vendorShares(store, "org", 0);
  const modelsOf = (name: string) => {
    return shares.find(({ vendor, answered }) => vendor === name && answered > 0)?.models;
  };
  assert.deepEqual(modelsOf("deepgram"), [{ model: "nova", turns: 1, p50Ms: 140 }]);
  assert.deepEqual(modelsOf("openai"), [{ model: "whisper", turns: 1, p50Ms: 300 }]);
});

test("a vendor with many models lists the most used of them", async () => {
  const turns = Array.from({ length: 30 }, (_, index) => ({
    stt: { vendor: "deepgram", model: `model-${index % 25}` },
    sttMs: 100,
  }));
  const [share] = await vendorShares(storeOf(turns), "org", 0);
  assert.equal(share?.models.length, MODELS_MAX);
  assert.deepEqual(share.models[0], { model: "model-0", turns: 2, p50Ms: 100 });
});

test("a vendor that failed without a fallback has failed, and no vendor has answered", async () => {
  const shares = await vendorShares(
    storeOf([{ llm: { vendor: "", model: "", ...FAILED } }]),
    "org",
    0,
  );
  assert.deepEqual(
    shares.map(({ vendor, answered, failed }) => [vendor, answered, failed]),
    [["openai", 0, 1]],
  );
});

test("for a busy organization only the latest calls are counted", async () => {
  const calls = TURNS_CALLS_MAX + 500;
  const turns = Array.from({ length: calls }, () => ({ stt: { vendor: "deepgram" } }));
  const [share] = await vendorShares(storeOf(turns), "org", 0);
  assert.equal(share?.answered, TURNS_CALLS_MAX);
});

test("a failure without a reported wait has wasted none", async () => {
  const failed = { vendor: "groq", firstVendor: "openai", firstFault: "timeout" };
  const shares = await vendorShares(storeOf([{ llm: failed }]), "org", 0);
  assert.equal(shares.find(({ vendor }) => vendor === "openai")?.wastedMs, 0);
});

test("of vendors with equal failures the one with more answers comes first; an invalid entry counts nothing", async () => {
  const shares = await vendorShares(
    storeOf([
      { llm: { vendor: "groq" }, stt: "deepgram", tts: { vendor: 7, firstVendor: "edge" } },
      { llm: { vendor: "openai" } },
      { llm: { vendor: "openai", firstFault: "timeout" } },
    ]),
    "org",
    0,
  );
  assert.deepEqual(
    shares.map(({ category, vendor, answered, failed }) => [category, vendor, answered, failed]),
    [
      ["llm", "openai", 2, 0],
      ["llm", "groq", 1, 0],
    ],
  );
});

test("the turns of fifty calls are read at once, from the requested time on", async () => {
  const asked: unknown[] = [];
  const store = {
    turnsSince: (...of: readonly unknown[]) => {
      asked.push(of);
      const turn = { stt: { vendor: "deepgram" } };
      return Promise.resolve(asked.length < 3 ? [{ callId: "call", startedAtMs: 1, turn }] : []);
    },
  };
  const [share] = await vendorShares(store, "org", 1_234);
  assert.equal(share?.answered, 2);
  assert.deepEqual(
    asked,
    [0, 50, 100].map((skipCalls) => ["org", { sinceMs: 1_234, skipCalls, calls: 50 }]),
  );
});
