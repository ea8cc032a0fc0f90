import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import * as v from "valibot";
import { MP3, PCM_24K } from "../../../engine/audio/audio-format.js";
import { SystemClock } from "../../../engine/time/clock.js";
import { VendorError } from "../../../engine/vendors/contracts.js";
import { languageModel, speechToText, textToSpeech } from "../../../engine/vendors/registry.js";
import { Connections } from "../../../engine/vendors/transport/connections.js";
import type { VendorContext, VendorSettings } from "../../../engine/vendors/vendor-settings.js";
import { never } from "./sandboxed-vendors.js";
import { ScriptedWebServer } from "./scripted-web-server.js";

const ToolFields = v.object({
  tool_choice: v.optional(v.string()),
  tools: v.optional(v.array(v.unknown())),
});
const SAID = [{ role: "user", content: "12345678" }] as const;

describe("requests to a vendor", () => {
  let server: ScriptedWebServer;
  let context: VendorContext;

  beforeEach(async () => {
    server = new ScriptedWebServer();
    await server.start();
    const clock = new SystemClock();
    context = { clock, connections: new Connections({ clock, allowPrivateAddresses: false }) };
  });

  afterEach(async () => {
    await context.connections.close();
    await server.close();
  });

  function given(settings = {}, path = "/v1/"): VendorSettings {
    return { baseUrl: `${server.url}${path}`, apiKey: "secret-key", settings, clientOwned: false };
  }

  async function bodyOfChat(vendor: string, modelId: string, settings = {}): Promise<unknown> {
    server.answer = (response) => response.end('data: [DONE]\n\n{"done":true}\n');
    const model = languageModel(vendor, given(settings), context);
    const request = { modelId, messages: SAID, temperature: 0.4, maxTokens: 200 };
    await model.complete(request, () => undefined, never()).catch(() => undefined);
    return JSON.parse(server.requests.at(-1)?.body ?? "");
  }

  /** The tools of a request after which the model may call none. */
  async function lastRound(vendor: string): Promise<readonly [unknown, boolean]> {
    const model = languageModel(vendor, given(), context);
    const tools = [{ name: "find", description: "Finds it", parameters: {} }];
    const toolChoice = "none" as const;
    const fields = { modelId: "m", messages: SAID, temperature: null, maxTokens: 200 };
    await model
      .complete({ ...fields, tools, toolChoice }, () => undefined, never())
      .catch(() => undefined);
    const body: unknown = JSON.parse(server.requests.at(-1)?.body ?? "");
    const { tool_choice, tools: offered } = v.parse(ToolFields, body);
    return [tool_choice, offered !== undefined];
  }

  it("a model that has to answer keeps its tools and may not call them", async () => {
    server.answer = (response) => response.end('data: [DONE]\n\n{"done":true}\n');
    for (const vendor of ["openai", "groq", "anthropic", "gemini", "mistral", "openrouter", "vllm"])
      assert.deepEqual([vendor, ...(await lastRound(vendor))], [vendor, "none", true]);
    assert.deepEqual(await lastRound("ollama"), [undefined, false]);
  });

  it("a model that refuses the parameter gets no tools when it has to answer", async () => {
    const error = { message: "unknown parameter", param: "tool_choice" };
    server.answer = (response) => response.writeHead(400).end(JSON.stringify({ error }));
    assert.deepEqual(await lastRound("vllm"), [undefined, false]);
    assert.equal(server.requests.length, 2);
  });

  async function bodyOfSpeech(
    vendor: string,
    modelId: string,
    speed: number,
    settings = {},
    format: typeof MP3 | typeof PCM_24K = MP3,
  ) {
    server.answer = (response) => response.end("audio");
    const speech = textToSpeech(vendor, given(settings), context);
    const request = { text: "Hi.", modelId, speed, language: "de-DE", format } as const;
    await speech.synthesize(request, () => undefined, never());
    return JSON.parse(server.requests.at(-1)?.body ?? "");
  }

  it("OpenAI: a limit, a temperature and the usage", async () => {
    assert.deepEqual(await bodyOfChat("openai", "gpt-6-luna"), {
      model: "gpt-6-luna",
      messages: SAID,
      stream: true,
      stream_options: { include_usage: true },
      max_completion_tokens: 200,
      temperature: 0.4,
      reasoning_effort: "none",
    });
    assert.equal(server.requests[0]?.url, "/v1/chat/completions");
    assert.equal(server.requests[0]?.headers.authorization, "Bearer secret-key");
  });

  for (const [modelId, reasoning_effort] of [
    ["o3-mini", "low"],
    ["gpt-5-mini", "minimal"],
  ] as const) {
    it(`OpenAI: ${modelId} gets no temperature, and room to think`, async () => {
      assert.deepEqual(await bodyOfChat("openai", modelId, { reasoningEffort: "minimal" }), {
        model: modelId,
        messages: SAID,
        stream: true,
        stream_options: { include_usage: true },
        max_completion_tokens: 1_224,
        reasoning_effort,
      });
    });
  }

  it("Groq: no stream options, and no thoughts in what is spoken", async () => {
    const plain = { messages: SAID, stream: true, temperature: 0.4 };
    assert.deepEqual(await bodyOfChat("groq", "llama-3.1-8b-instant"), {
      model: "llama-3.1-8b-instant",
      ...plain,
      max_completion_tokens: 200,
    });
    assert.deepEqual(await bodyOfChat("groq", "qwen/qwen3-32b"), {
      model: "qwen/qwen3-32b",
      ...plain,
      max_completion_tokens: 1_224,
      reasoning_format: "hidden",
    });
    assert.deepEqual(await bodyOfChat("groq", "openai/gpt-oss-20b"), {
      model: "openai/gpt-oss-20b",
      ...plain,
      max_completion_tokens: 1_224,
      reasoning_effort: "low",
    });
  });

  it("Ollama: its own names for the same, and the model kept in memory", async () => {
    assert.deepEqual(await bodyOfChat("ollama", "llama3.2", { contextTokens: 4_096 }), {
      model: "llama3.2",
      messages: SAID,
      stream: true,
      think: false,
      keep_alive: "10m",
      options: { temperature: 0.4, num_predict: 200, num_ctx: 4_096 },
    });
    assert.equal(server.requests[0]?.url, "/v1/api/chat");
  });

  it("OpenAI speech: nothing that its schema does not know", async () => {
    assert.deepEqual(await bodyOfSpeech("openai", "tts-1", 9, { instructions: "Whisper." }), {
      model: "tts-1",
      voice: "alloy",
      input: "Hi.",
      response_format: "mp3",
      speed: 4,
    });
    const directed = await bodyOfSpeech("openai", "gpt-4o-mini-tts", 1, {
      instructions: "Whisper.",
      voice: "coral",
    });
    assert.equal(directed.instructions, "Whisper.");
    assert.equal(directed.voice, "coral");
  });

  it("voices with PCM list it, and are asked for it by their vendor's name", async () => {
    for (const vendor of ["openai", "elevenlabs"]) {
      const { formats } = textToSpeech(vendor, given(), context);
      assert.ok(formats.includes(PCM_24K), vendor);
    }
    const { response_format } = await bodyOfSpeech("openai", "tts-1", 1, {}, PCM_24K);
    assert.equal(response_format, "pcm");
    await bodyOfSpeech("elevenlabs", "eleven_flash_v2_5", 1, {}, PCM_24K);
    assert.match(server.requests.at(-1)?.url ?? "", /output_format=pcm_24000/);
  });

  it("ElevenLabs: a language only where the model takes one, a speed within its range", async () => {
    assert.deepEqual(await bodyOfSpeech("elevenlabs", "eleven_flash_v2_5", 2), {
      text: "Hi.",
      model_id: "eleven_flash_v2_5",
      language_code: "de",
      voice_settings: { speed: 1.2 },
    });
    const settings = { voiceId: "a/b", stability: 0.5 };
    assert.deepEqual(await bodyOfSpeech("elevenlabs", "eleven_multilingual_v2", 1, settings), {
      text: "Hi.",
      model_id: "eleven_multilingual_v2",
      voice_settings: { stability: 0.5, speed: 1 },
    });
    assert.equal(
      server.requests.at(-1)?.url,
      "/v1/v1/text-to-speech/a%2Fb/stream?output_format=mp3_24000_48",
    );
    assert.equal(server.requests.at(-1)?.headers["xi-api-key"], "secret-key");
  });

  it("tokens are estimated when the vendor does not count them", async () => {
    const chunk = '{"choices":[{"delta":{"content":"abcdefghi"},"finish_reason":"stop"}]}';
    server.answer = (response) => response.end(`data: ${chunk}\n\ndata: [DONE]\n\n`);
    const model = languageModel("openai", given(), context);
    const request = { modelId: "m", messages: SAID, temperature: 0, maxTokens: 9 };
    assert.deepEqual(await model.complete(request, () => undefined, never()), {
      finishReason: "stop",
      toolCalls: [],
      promptTokens: 2,
      completionTokens: 3,
    });
  });

  it("a refusal by the model is spoken like any reply", async () => {
    const chunk = '{"choices":[{"delta":{"content":null,"refusal":"I cannot."}}]}';
    server.answer = (response) => response.end(`data: ${chunk}\n\ndata: [DONE]\n\n`);
    const model = languageModel("openai", given(), context);
    const tokens: string[] = [];
    const request = { modelId: "m", messages: SAID, temperature: 0, maxTokens: 9 };
    await model.complete(request, (text) => tokens.push(text), never());
    assert.deepEqual(tokens, ["I cannot."]);
  });

  it("an event or a line without end is cut, not kept", async () => {
    for (const vendor of ["openai", "ollama"]) {
      server.answer = (response) => response.end(`data: ${"x".repeat(2 * 1024 * 1024)}`);
      const model = languageModel(vendor, given(), context);
      const request = { modelId: "m", messages: SAID, temperature: 0, maxTokens: 9 };
      await assert.rejects(
        model.complete(request, () => undefined, never()),
        { fault: "badAnswer" },
      );
    }
  });

  const refusals: [string, number, string, string][] = [
    [
      "elevenlabs",
      422,
      '{"detail":[{"loc":["body"],"msg":"field required","input":"Hi."}]}',
      "refused",
    ],
    ["elevenlabs", 400, '{"detail":{"status":"quota_exceeded","message":"m"}}', "quotaExceeded"],
    ["elevenlabs", 400, '{"detail":{"status":"voice_not_found","message":"m"}}', "notFound"],
    ["elevenlabs", 429, '{"detail":{"status":"system_busy","message":"m"}}', "unavailable"],
    ["elevenlabs", 500, '{"detail":"text"}', "unavailable"],
    ["elevenlabs", 502, "<html>bad gateway</html>", "unavailable"],
    ["openai", 403, '{"error":"text"}', "refused"],
    ["openai", 429, '{"error":{"code":"c","type":"insufficient_quota"}}', "quotaExceeded"],
    ["openai", 408, "", "timeout"],
    ["openai", 400, '{"error":{"message":"secret-key is odd","code":17}}', "refused"],
  ];
  for (const [vendor, status, body, fault] of refusals) {
    it(`${vendor} ${status} ${body.slice(0, 40)} is ${fault}`, async () => {
      server.answer = (response) => response.writeHead(status).end(body);
      const speech = textToSpeech(vendor, given(), context);
      const request = {
        text: "Hi.",
        modelId: "m",
        speed: 1,
        language: "en",
        format: MP3,
      } as const;
      const error: unknown = await speech
        .synthesize(request, () => undefined, never())
        .catch((cause: unknown) => cause);
      assert.ok(error instanceof VendorError, String(error));
      assert.deepEqual([error.vendor, error.fault], [vendor, fault]);
      assert.doesNotMatch(error.message, /secret-key|Hi\./);
    });
  }

  it("JSON with a status of 200 is not taken for sound", async () => {
    server.answer = (response) =>
      response.writeHead(200, { "content-type": "application/json" }).end("{}");
    const speech = textToSpeech("openai", given(), context);
    const request = { text: "Hi.", modelId: "m", speed: 1, language: "en", format: MP3 } as const;
    await assert.rejects(
      speech.synthesize(request, () => undefined, never()),
      { fault: "badAnswer" },
    );
  });

  it("a base URL in the provider's settings applies by default", async () => {
    server.answer = (response) => response.end("audio");
    const settings = { baseUrl: `${server.url}/own` };
    const speech = textToSpeech("openai", { ...given(settings), baseUrl: undefined }, context);
    const request = { text: "Hi.", modelId: "m", speed: 1, language: "en", format: MP3 } as const;
    await speech.synthesize(request, () => undefined, never());
    assert.equal(server.requests[0]?.url, "/own/audio/speech");
  });
});

describe("a provider that cannot work", () => {
  const clock = new SystemClock();
  const connections = new Connections({ clock, allowPrivateAddresses: false });
  const context = { clock, connections };
  const given = { baseUrl: undefined, apiKey: "key", settings: {}, clientOwned: true };

  it("is distinguished from one that fails, before any request", () => {
    const noKey = { ...given, apiKey: undefined };
    assert.throws(() => languageModel("openai", noKey, context), { fault: "unauthorized" });
    assert.throws(() => speechToText("deepgram", noKey, context), { fault: "unauthorized" });
    assert.throws(() => languageModel("toString", given, context), { fault: "refused" });
    assert.throws(() => textToSpeech("groq", given, context), { fault: "refused" });
    for (const baseUrl of ["ftp://x", "not a url", "javascript:alert(1)", "ws://x"]) {
      assert.throws(() => languageModel("openai", { ...given, baseUrl }, context), {
        fault: "refused",
        message: /base URL/,
      });
    }
    const settings = { voice: 7 };
    assert.throws(() => textToSpeech("openai", { ...given, settings }, context), {
      fault: "refused",
      message: /voice/,
    });
  });

  it("gets an error if its key is invalid in a header", async () => {
    const model = languageModel("openai", { ...given, apiKey: "line\nbreak" }, context);
    const request = { modelId: "m", messages: SAID, temperature: 0, maxTokens: 9 };
    await assert.rejects(
      model.complete(request, () => undefined, never()),
      { fault: "refused" },
    );
  });

  it("leaves a failed warm-up to the request", async () => {
    for (const vendor of ["openai", "groq", "ollama"]) {
      languageModel(vendor, { ...given, baseUrl: "http://127.0.0.1:9/" }, context).warm();
    }
    for (const vendor of ["elevenlabs", "openai"]) {
      textToSpeech(vendor, { ...given, baseUrl: "http://127.0.0.1:9/" }, context).warm();
    }
    textToSpeech("edge", { ...given, baseUrl: "ws://127.0.0.1:9/" }, context).warm();
    await new Promise(setImmediate);
    await connections.close();
  });
});
