import assert from "node:assert/strict";
import { test } from "node:test";
import type { ProviderRecord } from "../../../storage/records.js";
import { openPlatform, type SeededPlatform } from "./seeded-platform.js";

const SANDBOX = { vendorKeys: {}, sandbox: true };
const NO_KEYS = { vendorKeys: {}, sandbox: false };
const DEEPGRAM_KEY = { vendorKeys: { deepgram: "dg-real" }, sandbox: false };

function globals(platform: SeededPlatform): Promise<readonly ProviderRecord[]> {
  return platform.database.providers.listVisible("");
}

async function namesOf(platform: SeededPlatform): Promise<readonly string[]> {
  return (await globals(platform)).map((each) => `${each.category}/${each.providerKey}`).sort();
}

async function deepgramOf(platform: SeededPlatform): Promise<ProviderRecord> {
  const found = (await globals(platform)).find((each) => each.providerKey === "deepgram");
  assert.ok(found);
  return found;
}

test("for the sandbox all seven global providers are made, marked, with keys that open nothing real", async (t) => {
  const platform = await openPlatform(t, SANDBOX);
  assert.deepEqual(await namesOf(platform), [
    "llm/groq",
    "llm/ollama",
    "llm/openai",
    "stt/deepgram",
    "tts/edge",
    "tts/elevenlabs",
    "tts/openai",
  ]);
  for (const { active, orgId, settings, sealedCredentials, providerKey } of await globals(
    platform,
  )) {
    assert.deepEqual(
      { active, orgId, settings },
      { active: true, orgId: null, settings: { sandbox: true } },
    );
    const needsKey = providerKey !== "ollama" && providerKey !== "edge";
    assert.equal(sealedCredentials !== null, needsKey);
    if (sealedCredentials === null) continue;
    assert.deepEqual({ ...platform.cipher.open(sealedCredentials) }, { apiKey: "sandbox" });
  }
});

test("for real only what has a key is made, and what needs none", async (t) => {
  const platform = await openPlatform(t, {
    vendorKeys: { deepgram: "dg-real", openai: "sk-real", groq: "" },
    sandbox: false,
  });
  assert.deepEqual(await namesOf(platform), [
    "llm/ollama",
    "llm/openai",
    "stt/deepgram",
    "tts/edge",
    "tts/openai",
  ]);
  const deepgram = await deepgramOf(platform);
  assert.deepEqual(deepgram.settings, {});
  assert.deepEqual(
    { ...platform.cipher.open(deepgram.sealedCredentials ?? "") },
    { apiKey: "dg-real" },
  );
});

test("the registry lists the seven vendors once, however often it is seeded", async (t) => {
  const platform = await openPlatform(t, NO_KEYS);
  await platform.seed(NO_KEYS);
  const registry = await platform.providers.registry();
  assert.deepEqual(
    registry.map((entry) => `${entry.category}/${entry.providerKey}/${entry.requiresKey}`).sort(),
    [
      "llm/groq/true",
      "llm/ollama/false",
      "llm/openai/true",
      "stt/deepgram/true",
      "tts/edge/false",
      "tts/elevenlabs/true",
      "tts/openai/true",
    ],
  );
});

test("seeding skips what exists", async (t) => {
  const platform = await openPlatform(t, DEEPGRAM_KEY);
  const before = await globals(platform);
  platform.clock.advance(1_000);
  await platform.seed({ vendorKeys: { deepgram: "dg-another" }, sandbox: false });
  assert.deepEqual(await globals(platform), before);
});

test("a real key takes the place of the sandbox's", async (t) => {
  const platform = await openPlatform(t, SANDBOX);
  const { id } = await deepgramOf(platform);
  await platform.seed(DEEPGRAM_KEY);
  const deepgram = await deepgramOf(platform);
  assert.equal(deepgram.id, id);
  assert.equal(deepgram.active, true);
  assert.deepEqual(deepgram.settings, {});
  assert.deepEqual(
    { ...platform.cipher.open(deepgram.sealedCredentials ?? "") },
    { apiKey: "dg-real" },
  );
});

test("without sandbox and key a provider of the sandbox is switched off, and on again with the sandbox", async (t) => {
  const platform = await openPlatform(t, SANDBOX);
  await platform.seed(NO_KEYS);
  assert.equal((await deepgramOf(platform)).active, false);
  await platform.seed(NO_KEYS);
  assert.equal((await deepgramOf(platform)).active, false);
  await platform.seed(SANDBOX);
  assert.equal((await deepgramOf(platform)).active, true);
});

test("a provider of the sandbox that was switched off works once its key is set", async (t) => {
  const platform = await openPlatform(t, SANDBOX);
  await platform.seed(NO_KEYS);
  await platform.seed(DEEPGRAM_KEY);
  const { active, settings } = await deepgramOf(platform);
  assert.deepEqual({ active, settings }, { active: true, settings: {} });
});

test("vendors that need no key go between sandbox and real as the server does", async (t) => {
  const platform = await openPlatform(t, SANDBOX);
  const settingsOfEdge = async () => {
    const edge = (await globals(platform)).find((each) => each.providerKey === "edge");
    return { active: edge?.active, settings: edge?.settings };
  };
  await platform.seed(NO_KEYS);
  assert.deepEqual(await settingsOfEdge(), { active: true, settings: {} });
  await platform.seed(SANDBOX);
  assert.deepEqual(await settingsOfEdge(), { active: true, settings: { sandbox: true } });
});

test("the sandbox never overwrites a provider with a real key", async (t) => {
  const platform = await openPlatform(t, DEEPGRAM_KEY);
  const before = await deepgramOf(platform);
  await platform.seed(SANDBOX);
  assert.deepEqual(await deepgramOf(platform), before);
});

test("two servers that seed at once make each provider once", async (t) => {
  const platform = await openPlatform(t, NO_KEYS);
  await Promise.all([platform.seed(SANDBOX), platform.seed(SANDBOX)]);
  assert.equal((await globals(platform)).length, 7);
});
