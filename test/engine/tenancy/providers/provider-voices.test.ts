import assert from "node:assert/strict";
import { test } from "node:test";
import { ProviderVoices } from "../../../../engine/tenancy/providers/provider-voices.js";
import { VendorError } from "../../../../engine/vendors/contracts.js";
import { textToSpeech, vendorVoices } from "../../../../engine/vendors/registry.js";
import type { VoiceList } from "../../../../engine/vendors/vendor.js";
import { ScriptedVoice } from "../../../doubles/scripted-voice.js";
import { VirtualClock } from "../../../doubles/virtual-clock.js";
import { providerRecord } from "../../../storage/sample-records.js";
import { never, startSandboxedVendors } from "../../vendors/sandboxed-vendors.js";
import { TENANT } from "../sample-tenant.js";

const RACHEL = { voiceId: "r1", name: "Rachel", language: "en", description: null };
const SENTENCE = { text: "Hello.", modelId: "m1", voice: "r1", speed: 1, language: "en-US" };

function standOf(fields: object = {}) {
  const clock = new VirtualClock();
  const provider = providerRecord({ category: "tts", ...fields });
  const speech = new ScriptedVoice();
  const stand = {
    clock,
    speech,
    asked: 0,
    voice: undefined as string | null | undefined,
    answer: (): Promise<VoiceList | undefined> =>
      Promise.resolve({ voices: [RACHEL], hasMore: false }),
  };
  const voices = new ProviderVoices({
    providers: { get: () => Promise.resolve(provider) },
    clients: {
      tts: (_provider, _orgId, voice) => {
        stand.voice = voice;
        return speech;
      },
      voices: () => {
        stand.asked += 1;
        return stand.answer();
      },
    },
    clock,
  });
  return { stand, list: () => voices.list(TENANT, provider.id), voices, provider };
}

test("a list of voices is requested once in ten minutes", async () => {
  const { stand, list } = standOf();
  const expected = { chosenBy: "voice", voices: [RACHEL], hasMore: false, error: null };
  assert.deepEqual(await Promise.all([list(), list()]), [expected, expected]);
  stand.clock.advance(599_000);
  await list();
  assert.equal(stand.asked, 1);
  stand.clock.advance(1_000);
  await list();
  assert.equal(stand.asked, 2);
});

test("a refused list is reported in plain words, and requested again after ten seconds", async () => {
  const { stand, list } = standOf();
  stand.answer = () => Promise.reject(new VendorError("elevenlabs", "unauthorized", "no"));
  assert.match((await list()).error ?? "", /rejects the credentials/);
  await list();
  assert.equal(stand.asked, 1);
  stand.clock.advance(10_000);
  stand.answer = () => Promise.resolve({ voices: [RACHEL], hasMore: false });
  assert.equal((await list()).error, null);
});

test("a list contains at most 500 voices and says whether there are more", async () => {
  const { stand, list } = standOf();
  const voices = Array.from({ length: 501 }, () => RACHEL);
  stand.answer = () => Promise.resolve({ voices, hasMore: false });
  const found = await list();
  assert.equal(found.voices.length, 500);
  assert.equal(found.hasMore, true);
});

test("if each model is a voice, the models are listed as voices", async () => {
  const models = [{ modelId: "aura-2-thalia-en", label: "Thalia" }];
  const { stand, list } = standOf({ models });
  stand.answer = () => Promise.resolve(undefined);
  const { chosenBy, voices } = await list();
  assert.equal(chosenBy, "model");
  assert.deepEqual(
    voices.map(({ voiceId, name }) => [voiceId, name]),
    [["aura-2-thalia-en", "Thalia"]],
  );
});

test("only a TTS provider has voices", async () => {
  await assert.rejects(standOf({ category: "llm" }).list(), { code: "invalid_request" });
});

test("a preview uses the chosen voice and reports the time to the first audio", async () => {
  const { stand, voices, provider } = standOf();
  const result = voices.preview(TENANT, provider.id, SENTENCE, never());
  await new Promise(setImmediate);
  stand.clock.advance(120);
  const [synthesis] = stand.speech.syntheses;
  synthesis?.give(Uint8Array.of(1, 2));
  stand.clock.advance(300);
  synthesis?.give(Uint8Array.of(3));
  synthesis?.finish();
  const audio = Buffer.from([1, 2, 3]);
  assert.deepEqual(await result, { ok: true, latencyMs: 120, audio });
  assert.equal(stand.voice, "r1");
  assert.equal(synthesis?.request.text, "Hello.");
});

test("a preview fails when the vendor refuses, after 20 seconds, or beyond 1 MiB", async () => {
  for (const [end, fault] of [
    ["refused", "refused"],
    ["late", "timeout"],
    ["long", "badAnswer"],
  ] as const) {
    const { stand, voices, provider } = standOf();
    const result = voices.preview(TENANT, provider.id, SENTENCE, never());
    await new Promise(setImmediate);
    const [synthesis] = stand.speech.syntheses;
    if (end === "refused") synthesis?.fail(new VendorError("elevenlabs", "refused", "no"));
    if (end === "late") stand.clock.advance(20_000);
    if (end === "long") synthesis?.give(new Uint8Array(1024 * 1024 + 1));
    const given = await result;
    assert.equal(given.ok, false);
    assert.equal(given.ok ? undefined : given.fault, fault);
  }
});

test("vendors with a list of voices return it, and accept a voice from it", async () => {
  const vendors = await startSandboxedVendors();
  try {
    for (const vendor of ["elevenlabs", "cartesia", "openai"] as const) {
      const given = vendors.settingsFor(vendor);
      const found = await vendorVoices(vendor, given, vendors.context, never());
      const [first] = found?.voices ?? [];
      assert.ok(first !== undefined && first.name !== "", vendor);
      const settings = { voiceId: first.voiceId, voice: first.voiceId };
      assert.ok(textToSpeech(vendor, { ...given, settings }, vendors.context));
    }
    const deepgram = vendors.settingsFor("deepgram");
    assert.equal(vendorVoices("deepgram", deepgram, vendors.context, never()), undefined);
    const refused = { ...vendors.settingsFor("elevenlabs"), apiKey: undefined };
    await assert.rejects(
      async () => vendorVoices("elevenlabs", refused, vendors.context, never()),
      { fault: "unauthorized" },
    );
  } finally {
    await vendors.close();
  }
});
