import assert from "node:assert/strict";
import { test } from "node:test";
import { VendorChains, type VoiceOfProvider } from "../../../engine/calls/agent-vendors.js";
import { type LegAudio, WEB_AUDIO } from "../../../engine/conversation/leg-audio.js";
import type { AgentForCall } from "../../../engine/tenancy/agents/agent-for-call.js";
import { VendorError } from "../../../engine/vendors/contracts.js";
import type { Category } from "../../../storage/records.js";
import { chainsOf } from "../../doubles/chains-of.js";
import { ScriptedLanguageModel } from "../../doubles/scripted-language-model.js";
import { ScriptedVoice } from "../../doubles/scripted-voice.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";
import { agentRecord, providerRecord } from "../../storage/sample-records.js";
import { ScriptedRecognizer } from "../vendors/chain/scripted-recognizer.js";
import { never } from "../vendors/sandboxed-vendors.js";

const FAULT = new VendorError("first", "unavailable", "first: out of order");

/** An agent each of whose vendors has a fallback; `told` lists their results. */
function chained(hedging = false, unusable: readonly string[] = []) {
  const clock = new VirtualClock();
  const of = <Client>(made: () => Client) => ({ first: made(), second: made() });
  const models = of(() => new ScriptedLanguageModel());
  const voices = of(() => new ScriptedVoice());
  const ears = of(() => new ScriptedRecognizer());
  const by =
    <Client>(clients: { first: Client; second: Client }) =>
    (provider: { readonly id: string; readonly category: Category }): Client => {
      if (unusable.includes(provider.id)) throw new VendorError(provider.id, "unauthorized", "no");
      return provider.id === "first" ? clients.first : clients.second;
    };
  const clients = { llm: by(models), tts: by(voices), stt: by(ears) };
  const deps = chainsOf(clients, clock);
  const told: string[] = [];
  const say = (what: string) => (category: Category, link: { vendor: string; modelId: string }) =>
    void told.push(`${category} ${link.vendor} ${link.modelId} ${what}`);
  const chains = new VendorChains(deps, {
    answered: say("answered"),
    failed: say("failed"),
    hedged: (category, outcome) => told.push(`${category} ${outcome}`),
  });
  const provider = (id: string, category: Category) =>
    providerRecord({ id, category, providerKey: id });
  const pair = (category: Category) => ({
    provider: provider("second", category),
    modelId: "other",
  });
  const agent = agentRecord({ llmModelId: "large", ttsModelId: "voice" });
  const forCall: AgentForCall = {
    agent: { ...agent, fallbacks: { ...agent.fallbacks, hedging } },
    llm: provider("first", "llm"),
    tts: provider("first", "tts"),
    stt: provider("first", "stt"),
    sttModelId: "ears",
    fallbacks: { llm: [pair("llm")], tts: [{ ...pair("tts"), speed: 1.2 }], stt: [pair("stt")] },
    languageVoices: [],
  };
  return { clock, deps, chains, told, models, voices, ears, forCall };
}

const settled = () => new Promise(setImmediate);

test("a model's fallback is requested when the model fails, and both are recorded by category, vendor and model", async () => {
  const { chains, told, models, forCall } = chained();
  const llm = chains.llm(forCall);
  const request = { modelId: "large", messages: [], temperature: 0, maxTokens: 9 };
  const heard: string[] = [];
  const reply = llm.complete(request, (text) => heard.push(text), never());
  await settled();
  models.first.fail(FAULT);
  await settled();
  models.second.say("Hello");
  models.second.finish({ finishReason: "stop", promptTokens: 1, completionTokens: 1 });
  await reply;
  assert.deepEqual(heard, ["Hello"]);
  assert.deepEqual(
    [models.first.requests, models.second.requests].map(([asked]) => asked?.modelId),
    ["large", "other"],
  );
  assert.deepEqual(told, ["llm first large failed", "llm second other answered"]);
});

test("a voice's fallback speaks at its own speed, and is the next to speak", async () => {
  const { chains, told, voices, forCall } = chained();
  const { client, next } = chains.tts(forCall, WEB_AUDIO);
  assert.deepEqual([next().provider.id, next().modelId], ["first", "voice"]);
  const format = voices.first.formats[0] ?? assert.fail();
  const request = { text: "Hello", modelId: "voice", speed: 1, language: "en", format };
  const spoken = client.synthesize(request, () => {}, never());
  await settled();
  voices.first.syntheses[0]?.fail(FAULT);
  await settled();
  const [synthesis] = voices.second.syntheses;
  assert.deepEqual([synthesis?.request.modelId, synthesis?.request.speed], ["other", 1.2]);
  assert.deepEqual([next().provider.id, next().speed], ["second", 1.2]);
  assert.equal(told[0], "tts first voice failed");
  spoken.catch(() => {});
});

test("a language's own voice speaks it, and behind it the agent's; a call that was given a voice keeps it", async () => {
  const { chains, told, voices, forCall } = chained();
  const { tts: provider, agent } = forCall;
  const german = { language: "de-DE", modelId: "katja", voice: "v1" };
  const second = { ...provider, id: "second", providerKey: "second" };
  const { ttsConfig } = agent;
  const withVoice = { ...ttsConfig, languageVoices: [{ ...german, providerId: "second" }] };
  const speaking = {
    ...forCall,
    agent: { ...agent, ttsConfig: withVoice },
    languageVoices: [{ ...german, provider: second }],
  };
  const nameOf = ({ provider: { id }, modelId, voiceId }: VoiceOfProvider) => [
    id,
    modelId,
    voiceId,
  ];
  const own = ["first", "voice", null];
  assert.deepEqual(nameOf(chains.tts(speaking, WEB_AUDIO, "en-US").next()), own);
  const { client, next } = chains.tts(speaking, WEB_AUDIO, "de");
  assert.deepEqual(nameOf(next()), ["second", "katja", "v1"]);
  const format = voices.first.formats[0] ?? assert.fail();
  const request = { text: "Hallo", modelId: "katja", speed: 1, language: "de", format };
  const spoken = client.synthesize(request, () => {}, never());
  await settled();
  voices.second.syntheses[0]?.fail(FAULT);
  await settled();
  assert.equal(voices.first.syntheses[0]?.request.modelId, "voice");
  assert.deepEqual(nameOf(next()), own);
  assert.equal(told[0], "tts second katja failed");
  spoken.catch(() => {});
  const given = { ...speaking, agent };
  assert.deepEqual(nameOf(chains.tts(given, WEB_AUDIO, "de").next()), own);
});

test("the agent's own voice stands behind another voice of the same provider, and not behind itself", async () => {
  const { chains, voices, forCall } = chained();
  const { tts: provider, agent } = forCall;
  const voicesOf = (voice: { readonly modelId: string; readonly voice: string | null }) => {
    const german = { language: "de-DE", ...voice };
    const languageVoices = [{ ...german, providerId: provider.id }];
    return chains.tts(
      {
        ...forCall,
        agent: { ...agent, ttsConfig: { ...agent.ttsConfig, languageVoices } },
        fallbacks: { ...forCall.fallbacks, tts: [] },
        languageVoices: [{ ...german, provider }],
      },
      WEB_AUDIO,
      "de",
    );
  };
  const spokenBy = async ({ client }: ReturnType<typeof voicesOf>, modelId: string) => {
    const from = voices.first.syntheses.length;
    const format = voices.first.formats[0] ?? assert.fail();
    const request = { text: "Hallo", modelId, speed: 1, language: "de", format };
    const spoken = client.synthesize(request, () => {}, never());
    spoken.catch(() => {});
    await settled();
    voices.first.syntheses[from]?.fail(FAULT);
    await settled();
    return voices.first.syntheses.slice(from).map((each) => each.request.modelId);
  };
  const other = voicesOf({ modelId: "katja", voice: null });
  assert.deepEqual(await spokenBy(other, "katja"), ["katja", "voice"]);
  const same = voicesOf({ modelId: "voice", voice: null });
  assert.deepEqual(await spokenBy(same, "voice"), ["voice"]);
});

test("the first voice decides the line's format", () => {
  const { chains, voices, forCall } = chained();
  const asked: unknown[] = [];
  const audio: LegAudio = {
    ...WEB_AUDIO,
    sentenceFormat: (client) => {
      asked.push(client);
      return { ...WEB_AUDIO.sentenceFormat(client), name: `format ${asked.length}` };
    },
  };
  assert.equal(chains.tts(forCall, audio).format.name, "format 1");
  assert.deepEqual(asked, [voices.first]);
});

test("STT's fallback is used when STT is unavailable", async () => {
  const { chains, told, ears, forCall } = chained();
  ears.first.failures.push(FAULT);
  const options = {
    language: "en",
    modelId: "ears",
    format: WEB_AUDIO.input,
    endpointingMs: 200,
    eagerTurns: false,
  };
  const listener = {
    onSpeechStarted() {},
    onTranscript() {},
    onUtteranceEnd() {},
    onTurn() {},
    onLost() {},
    onRecovered() {},
    onFailed() {},
  };
  await chains.stt(forCall).open(options, listener, never());
  assert.deepEqual([ears.first.askedCount, ears.second.askedCount], [1, 1]);
  assert.equal(told[0], "stt first ears failed");
});

test("unusable providers are skipped, and if none is left the first one's reason is reported", () => {
  const one = chained(false, ["first"]);
  const { next } = one.chains.tts(one.forCall, WEB_AUDIO);
  assert.equal(next().provider.id, "second");
  const none = chained(false, ["first", "second"]);
  for (const ask of [
    () => none.chains.llm(none.forCall),
    () => none.chains.stt(none.forCall),
    () => none.chains.tts(none.forCall, WEB_AUDIO),
  ]) {
    assert.throws(ask, { name: "VendorError", vendor: "first", fault: "unauthorized" });
  }
  const { chains, forCall, deps } = chained();
  deps.clients.llm = () => {
    throw new TypeError("a mistake");
  };
  assert.throws(() => chains.llm(forCall), TypeError);
});

test("a late model is hedged only if the agent's author wants that, at the organization's cost", (t) => {
  for (const [hedging, asked] of [
    [false, []],
    [true, [["org"]]],
  ] as const) {
    const { chains, deps, forCall } = chained(hedging);
    const of = t.mock.method(deps.hedging, "of");
    chains.llm(forCall);
    assert.deepEqual(
      of.mock.calls.map(({ arguments: given }) => given),
      asked,
    );
  }
});
