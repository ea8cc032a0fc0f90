import assert from "node:assert/strict";
import { test } from "node:test";
import {
  changedAgentFields,
  newAgent,
  patchedAgent,
} from "../../../../engine/tenancy/agents/agent-input.js";

const REFERENCES = {
  llmProviderId: "p1",
  llmModelId: "m1",
  ttsProviderId: "p2",
  ttsModelId: "m2",
  sttProviderId: "p3",
};
const IDENTITY = { id: "a1", orgId: "o1", createdAtMs: 1, updatedAtMs: 1 };
const AGENT = newAgent(IDENTITY, { name: "Reception", ...REFERENCES });

test("an agent with only a name and vendors gets the contract's defaults", () => {
  const { persona, ...others } = AGENT;
  assert.deepEqual(others, {
    ...IDENTITY,
    ...REFERENCES,
    name: "Reception",
    sttModelId: null,
    llmConfig: { temperature: 0.4, maxTokens: 200 },
    ttsConfig: { speed: 1, voice: null, languageVoices: [] },
    fallbacks: { llm: [], tts: [], stt: [], hedging: false },
    thresholds: {
      silenceTimeoutMs: 700,
      maxCallDurationSec: 1_800,
      interruptionSensitivity: "medium",
      backchannels: "ignore",
      backchannelPhrases: [],
      interruptionPhrases: [],
      preemptiveGeneration: false,
      onProviderFailure: "end",
      onUnrecognizedSpeech: null,
      endpointingMs: 200,
      maxEndpointingDelayMs: 1_500,
      dtmfDigits: 0,
      fillerAfterMs: 1_500,
      idleTimeoutMs: null,
    },
    tools: [],
    sealedToolHeaders: null,
    recording: { enabled: false, retentionDays: 30 },
    allowedOrigins: [],
    analysis: null,
    preCall: null,
    sealedPreCall: null,
    mcpServers: [],
    sealedMcpSecrets: null,
    knowledge: { documentIds: [] },
    active: true,
  });
  assert.equal(persona.language, "en-US");
});

test("a change keeps fields that it leaves out, and cannot change an agent's identity", () => {
  const foreign = { name: "Reception", id: "a2", orgId: "o2", createdAtMs: 9, updatedAtMs: 9 };
  assert.deepEqual(patchedAgent(AGENT, foreign, 5), { ...AGENT, updatedAtMs: 5 });
  const patch = {
    name: undefined,
    persona: { greeting: "Hi." },
    llmConfig: { maxTokens: 9 },
    thresholds: { preemptiveGeneration: true },
    recording: { enabled: true },
    allowedOrigins: ["https://shop.example"],
    active: false,
  };
  assert.deepEqual(patchedAgent(AGENT, patch, 5), {
    ...AGENT,
    persona: { ...AGENT.persona, greeting: "Hi." },
    llmConfig: { temperature: 0.4, maxTokens: 9 },
    thresholds: { ...AGENT.thresholds, preemptiveGeneration: true },
    recording: { enabled: true, retentionDays: 30 },
    allowedOrigins: ["https://shop.example"],
    active: false,
    updatedAtMs: 5,
  });
});

test("a change of the STT provider clears the STT model, unless a new model is given with it", () => {
  const listening = { ...AGENT, sttModelId: "m3" };
  const modelAfter = (patch: Parameters<typeof patchedAgent>[1]) =>
    patchedAgent(listening, patch, 5).sttModelId;
  assert.equal(modelAfter({}), "m3");
  assert.equal(modelAfter({ sttProviderId: "p3" }), "m3");
  assert.equal(modelAfter({ sttProviderId: "p4" }), null);
  assert.equal(modelAfter({ sttProviderId: "p4", sttModelId: "m4" }), "m4");
  assert.equal(modelAfter({ sttModelId: null }), null);
});

test("a language that is taken away takes its voice along, unless new voices are given with it", () => {
  const voice = { providerId: "p2", modelId: "m2", voice: null };
  const german = { language: "de-DE", ...voice };
  const spanish = { language: "es", ...voice };
  const agent = patchedAgent(
    AGENT,
    {
      persona: { languages: ["de-DE", "es"] },
      ttsConfig: { languageVoices: [german, spanish] },
    },
    2,
  );
  const voicesAfter = (patch: Parameters<typeof patchedAgent>[1]) =>
    patchedAgent(agent, patch, 3).ttsConfig.languageVoices;
  assert.deepEqual(voicesAfter({ persona: { languages: [] } }), []);
  assert.deepEqual(voicesAfter({ persona: { languages: ["es"] } }), [spanish]);
  assert.deepEqual(voicesAfter({ persona: { greeting: "Hi." } }), [german, spanish]);
  const texts = [{ language: "de-DE", greeting: "Guten Tag.", stockPhrases: {} }];
  const written = patchedAgent(agent, { persona: { languageTexts: texts } }, 3);
  const textsAfter = (persona: Parameters<typeof patchedAgent>[1]["persona"]) =>
    patchedAgent(written, { persona }, 4).persona.languageTexts;
  assert.deepEqual(textsAfter({ greeting: "Hi." }), texts);
  assert.deepEqual(textsAfter({ languages: ["es-ES", "de-DE"] }), texts);
  assert.deepEqual(textsAfter({ languages: ["es-ES"] }), []);
  const briefed = patchedAgent(agent, { persona: { briefingLanguage: "de-DE" } }, 3);
  const briefingAfter = (persona: Parameters<typeof patchedAgent>[1]["persona"]) =>
    patchedAgent(briefed, { persona }, 4).persona.briefingLanguage;
  assert.equal(briefingAfter({ greeting: "Hi." }), "de-DE");
  assert.equal(briefingAfter({ language: "de-DE", languages: [] }), "de-DE");
  assert.equal(briefingAfter({ languages: ["es"] }), null);
  const given = { persona: { languages: [] }, ttsConfig: { languageVoices: [german] } };
  assert.deepEqual(voicesAfter(given), [german]);
});

test("a fallback voice uses the agent's new speed unless it has its own", () => {
  const tts = [
    { providerId: "p5", modelId: "m5" },
    { providerId: "p6", modelId: "m6", speed: 0.8 },
  ];
  const changed = patchedAgent(AGENT, { ttsConfig: { speed: 1.2 }, fallbacks: { tts } }, 5);
  assert.deepEqual(changed.fallbacks, {
    llm: [],
    tts: [
      { providerId: "p5", modelId: "m5", speed: 1.2 },
      { providerId: "p6", modelId: "m6", speed: 0.8 },
    ],
    stt: [],
    hedging: false,
  });
  const hedged = patchedAgent(changed, { fallbacks: { hedging: true } }, 6);
  assert.deepEqual(hedged.fallbacks, { ...changed.fallbacks, hedging: true });
});

test("changes are named by field, sealed headers count as tools, and the time of the change does not count", () => {
  const after = {
    ...AGENT,
    updatedAtMs: 5,
    sealedToolHeaders: "sealed",
    tools: [{ type: "hangup" } as const],
    persona: { ...AGENT.persona, greeting: "Hi." },
  };
  const names = changedAgentFields(AGENT, after);
  assert.deepEqual(names.toSorted(), ["persona.greeting", "tools"]);
  assert.deepEqual(changedAgentFields(AGENT, { ...AGENT, updatedAtMs: 5 }), []);
});
