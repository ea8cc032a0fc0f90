import assert from "node:assert/strict";
import { test } from "node:test";
import { MP3, PCM_16K } from "../../../../engine/audio/audio-format.js";
import { ProviderChecks } from "../../../../engine/tenancy/providers/provider-check.js";
import {
  type ListenOptions,
  type SpeechListener,
  type SpeechToText,
  VendorError,
} from "../../../../engine/vendors/contracts.js";
import type { Category, ProviderTest } from "../../../../storage/records.js";
import { ScriptedLanguageModel } from "../../../doubles/scripted-language-model.js";
import { ScriptedVoice } from "../../../doubles/scripted-voice.js";
import { VirtualClock } from "../../../doubles/virtual-clock.js";
import { providerRecord } from "../../../storage/sample-records.js";
import { TENANT } from "../sample-tenant.js";

const NOT_ABORTED = new AbortController().signal;
const DONE = { finishReason: "stop", promptTokens: 1, completionTokens: 1 } as const;

/** STT that takes audio, and finishes or fails when a test says so. */
class ScriptedEar implements SpeechToText {
  readonly heardBytes: number[] = [];
  options: ListenOptions | undefined;
  listener: SpeechListener | undefined;
  isClosed = false;
  finish = (): void => undefined;

  open(options: ListenOptions, listener: SpeechListener) {
    this.options = options;
    this.listener = listener;
    return Promise.resolve({
      write: (audio: Uint8Array) => void this.heardBytes.push(audio.length),
      finish: () => new Promise<void>((resolve) => (this.finish = resolve)),
      close: () => {
        this.isClosed = true;
      },
    });
  }
}

/** Starts a check of an organization's own provider. */
function checkOf(
  category: Category,
  { signal = NOT_ABORTED, fields = {} }: { signal?: AbortSignal; fields?: object } = {},
) {
  const clock = new VirtualClock();
  const [llm, tts, stt] = [new ScriptedLanguageModel(), new ScriptedVoice(), new ScriptedEar()];
  const provider = providerRecord({ category, ...fields });
  const tests: ProviderTest[] = [];
  const checks = new ProviderChecks({
    providers: {
      get: () => Promise.resolve(provider),
      draft: () => Promise.resolve(provider),
      getGlobal: () => Promise.resolve(provider),
      draftGlobal: () => Promise.resolve(provider),
      noteTest: (_provider, noted) => {
        tests.push(noted);
        return Promise.resolve();
      },
    },
    clients: { llm: () => llm, tts: () => tts, stt: () => stt },
    clock,
  });
  return { clock, llm, tts, stt, tests, result: checks.check(TENANT, provider.id, signal) };
}

/** Resolves when all earlier requests have reached the vendor. */
const asked = () => new Promise(setImmediate);

test("the check requests one token of an LLM, and the response time is in whole milliseconds", async () => {
  const { clock, llm, tests, result } = checkOf("llm");
  await asked();
  const [request] = llm.requests;
  const { modelId, messages, maxTokens, temperature } = request ?? {};
  assert.deepEqual(
    { modelId, messages, maxTokens, temperature },
    {
      modelId: "small",
      messages: [{ role: "user", content: "Hello" }],
      maxTokens: 1,
      temperature: null,
    },
  );
  clock.advance(120.4);
  llm.finish(DONE);
  assert.deepEqual(await result, { ok: true, latencyMs: 120 });
  assert.deepEqual(tests, [{ ok: true, latencyMs: 120, error: null, atMs: clock.epochMs() }]);
  assert.equal(clock.pendingTimerCount, 0);
});

test("TTS has to return audio", async () => {
  for (const [bytes, ok] of [
    [1, true],
    [0, false],
  ] as const) {
    const { tts, result } = checkOf("tts");
    await asked();
    const [synthesis] = tts.syntheses;
    assert.deepEqual(synthesis?.request, {
      text: "Hello",
      modelId: "small",
      speed: 1,
      language: "en-US",
      format: MP3,
    });
    synthesis?.give(new Uint8Array(bytes));
    synthesis?.finish();
    const found = await result;
    assert.equal(found.ok, ok);
    if (!found.ok) assert.equal(found.fault, "badAnswer");
  }
});

test("STT gets 200 ms of silence and has to accept it", async () => {
  const { stt, result } = checkOf("stt");
  await asked();
  assert.deepEqual(stt.options, {
    language: "en-US",
    modelId: "small",
    format: PCM_16K,
    endpointingMs: 200,
  });
  assert.deepEqual(stt.heardBytes, [6_400]);
  stt.finish();
  assert.deepEqual(await result, { ok: true, latencyMs: 0 });
  assert.equal(stt.isClosed, true);
});

test("the first loss of a recognizer's connection is the result", async () => {
  const { stt, result } = checkOf("stt");
  await asked();
  stt.listener?.onLost(new VendorError("deepgram", "disconnected", "deepgram: gone"));
  stt.listener?.onFailed(new VendorError("deepgram", "timeout", "deepgram: late"));
  const error = "deepgram closed the connection (deepgram: gone)";
  assert.deepEqual(await result, { ok: false, latencyMs: 0, error, fault: "disconnected" });
  assert.equal(stt.isClosed, true);
});

test("a silent vendor times out after twenty seconds", async () => {
  const { clock, result } = checkOf("llm");
  await asked();
  clock.advance(19_999);
  await asked();
  assert.equal(clock.pendingTimerCount, 1);
  clock.advance(1);
  const error = "openai timed out (openai: no answer within 20 s)";
  assert.deepEqual(await result, { ok: false, latencyMs: 20_000, error, fault: "timeout" });
});

test("STT that finishes without an error after twenty seconds is still a timeout", async () => {
  const { clock, stt, result } = checkOf("stt");
  await asked();
  clock.advance(20_000);
  stt.finish();
  const found = await result;
  assert.equal(found.ok ? undefined : found.fault, "timeout");
});

test("an error that is not the vendor's is thrown and is not a result", async () => {
  const { clock, llm, result } = checkOf("llm");
  await asked();
  llm.fail(new TypeError("a bug of ours"));
  await assert.rejects(result, /a bug of ours/);
  assert.equal(clock.pendingTimerCount, 0);
});

test("an aborted check is cancelled", async () => {
  const leaving = new AbortController();
  const { tests, result } = checkOf("llm", { signal: leaving.signal });
  await asked();
  leaving.abort();
  const found = await result;
  assert.equal(found.ok ? undefined : found.fault, "aborted");
  assert.deepEqual(tests, [], "an aborted check is not stored");
});

test("a provider of the platform is tested with a model of the plan, while it is switched on", async () => {
  const models = ["large", "llama3.2"].map((modelId) => ({ modelId, label: modelId }));
  const global = { orgId: null, providerKey: "ollama", models };
  const { llm, result } = checkOf("llm", { fields: global });
  await asked();
  assert.equal(llm.requests[0]?.modelId, "llama3.2");
  llm.finish(DONE);
  assert.equal((await result).ok, true);
  await assert.rejects(checkOf("llm", { fields: { ...global, active: false } }).result, {
    code: "provider_disabled",
    message: "the platform has switched this provider off",
  });
  await assert.rejects(
    checkOf("llm", { fields: { ...global, models: models.slice(0, 1) } }).result,
    { code: "model_not_allowed", message: 'the plan "free" includes no model of this provider' },
  );
});

test("an own provider is tested even while it is switched off, and without models only if it is STT", async () => {
  const { llm, result } = checkOf("llm", { fields: { active: false } });
  await asked();
  llm.finish(DONE);
  assert.equal((await result).ok, true);
  const none = await checkOf("llm", { fields: { models: [] } }).result;
  assert.deepEqual(none.ok ? undefined : none.fault, "refused");
  const deepgram = checkOf("stt", { fields: { providerKey: "deepgram", models: [] } });
  await asked();
  assert.equal(deepgram.stt.options?.modelId, "nova-3");
  deepgram.stt.finish();
  assert.equal((await deepgram.result).ok, true);
});
