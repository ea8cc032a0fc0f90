import assert from "node:assert/strict";
import { after, afterEach, before, describe, it } from "node:test";
import {
  type LearnedCorrection,
  LearnedParameters,
} from "../../../../engine/vendors/learned-parameters.js";
import { languageModel } from "../../../../engine/vendors/registry.js";
import { Connections } from "../../../../engine/vendors/transport/connections.js";
import { VirtualClock } from "../../../doubles/virtual-clock.js";
import { never, type SandboxedVendors, startSandboxedVendors } from "../sandboxed-vendors.js";
import { ScriptedWebServer } from "../scripted-web-server.js";

const TOOLS = [{ name: "look_up", description: "Looks up.", parameters: { type: "object" } }];
const WHOLE = 'data: {"choices":[{"delta":{"content":"Yes."}}]}\n\ndata: [DONE]\n\n';

const openAiError = (message: string, param: string | null, code: string | null = null) => ({
  status: 400,
  body: { error: { message, type: "invalid_request_error", param, code } },
});

interface Refusal {
  readonly status: number;
  readonly body: unknown;
}

describe("a refusal that names a parameter", () => {
  const clock = new VirtualClock();
  const connections = new Connections({ clock, allowPrivateAddresses: true });
  const server = new ScriptedWebServer();
  let learned: LearnedCorrection[] = [];
  let memory = newMemory();
  before(() => server.start());
  afterEach(() => {
    server.requests.splice(0);
    learned = [];
    memory = newMemory();
  });
  after(async () => {
    await connections.close();
    await server.close();
  });

  function newMemory() {
    return new LearnedParameters((_provider, correction) => learned.push(correction));
  }

  const bodies = () => server.requests.map(({ body }) => JSON.parse(body));

  /** The vendor refuses what `refusalOf` says of a body; what it says of none is answered. */
  async function ask(
    vendor: string,
    refusalOf: (body: Record<string, unknown>) => Refusal | undefined,
    { tools = [], settings = {}, version = 1, modelId = "brand-new" }: Partial<Asked> = {},
  ): Promise<string> {
    server.answer = (response, asked) => {
      const refusal = refusalOf(JSON.parse(asked.body));
      if (refusal === undefined) return response.end(WHOLE);
      response.statusCode = refusal.status;
      return response.end(JSON.stringify(refusal.body));
    };
    const provider = { id: "provider-1", version };
    const address = { baseUrl: `${server.url}/v1`, apiKey: "k", clientOwned: false };
    const given = { ...address, settings, provider };
    const client = languageModel(vendor, given, { clock, connections, learned: memory });
    const messages = [{ role: "user", content: "Hello" }] as const;
    const request = { modelId, messages, temperature: 0.4, maxTokens: 200, tools };
    let said = "";
    await client.complete(request, (text) => (said += text), never());
    return said;
  }

  interface Asked {
    readonly tools: typeof TOOLS;
    readonly settings: Record<string, unknown>;
    readonly version: number;
    readonly modelId: string;
  }

  const CASES: readonly (readonly [
    vendor: string,
    field: string,
    refusal: Refusal,
    then: Record<string, unknown>,
  ])[] = [
    [
      "openai-compatible",
      "temperature",
      openAiError("Unsupported value: 'temperature' does not support 0.4.", "temperature"),
      { max_tokens: 200 },
    ],
    [
      "openai-compatible",
      "max_tokens",
      openAiError("Use 'max_completion_tokens' instead.", "max_tokens", "unsupported_parameter"),
      { max_completion_tokens: 200, temperature: 0.4 },
    ],
    [
      "groq",
      "max_completion_tokens",
      openAiError("property 'max_completion_tokens' is unsupported", null),
      { max_tokens: 200, temperature: 0.4 },
    ],
    [
      "anthropic",
      "max_tokens",
      openAiError("`max_tokens` is deprecated for this model.", null),
      { max_completion_tokens: 1_224 },
    ],
    [
      "mistral",
      "max_tokens",
      {
        status: 422,
        body: { detail: [{ type: "extra_forbidden", loc: ["body", "max_tokens"], msg: "no" }] },
      },
      { max_completion_tokens: 200, temperature: 0.4 },
    ],
    [
      "gemini",
      "reasoning_effort",
      {
        status: 400,
        body: [
          {
            error: {
              code: 400,
              message: 'Invalid JSON payload received. Unknown name "reasoning_effort"',
              status: "INVALID_ARGUMENT",
            },
          },
        ],
      },
      { max_tokens: 200 },
    ],
    [
      "openai",
      "reasoning_effort",
      openAiError(
        "Unsupported value: 'none' is not supported. Supported values are: 'low', 'medium', and 'high'.",
        "reasoning_effort",
      ),
      { max_completion_tokens: 1_224, reasoning_effort: "low" },
    ],
    [
      "openrouter",
      "stream_options",
      openAiError("Unrecognized request argument supplied: stream_options", null),
      { max_tokens: 200, temperature: 0.4 },
    ],
  ];

  it("is followed by exactly one request without it or with the right one, and is remembered", async () => {
    for (const [vendor, field, refusal, then] of CASES) {
      const first = JSON.stringify(refusal);
      let refused: unknown;
      const answer = (body: Record<string, unknown>) => {
        refused ??= body[field];
        return body[field] === refused && refused !== undefined ? refusal : undefined;
      };
      assert.equal(await ask(vendor, answer), "Yes.", first);
      assert.equal(server.requests.length, 2, first);
      assert.equal(await ask(vendor, answer), "Yes.", first);
      assert.equal(server.requests.length, 3, first);
      for (const body of bodies().slice(1)) {
        const {
          model: _m,
          messages: _n,
          stream: _s,
          tools: _t,
          stream_options: _o,
          ...rest
        } = body;
        assert.deepEqual(rest, then, `${vendor} ${first}`);
      }
      assert.equal(learned.length, 1);
      assert.deepEqual([learned[0]?.modelId, learned[0]?.parameter], ["brand-new", field]);
      assert.deepEqual(memory.ofProvider({ id: "provider-1", version: 1 }), learned);
      server.requests.splice(0);
      learned = [];
      memory = newMemory();
    }
  });

  it("is the failure when the second request is refused, too, and nothing is learned of it", async () => {
    const refusal = openAiError("temperature is wrong, and so is everything", "temperature");
    await assert.rejects(
      ask("openai-compatible", () => refusal),
      { fault: "refused" },
    );
    assert.equal(server.requests.length, 2);
    assert.deepEqual(learned, []);
  });

  it("means nothing when it names what every request has, or is about length", async () => {
    for (const refusal of [
      openAiError("messages is too long", "messages"),
      openAiError("The model does not exist", "model"),
      openAiError("maximum context length is 8192 tokens, max_tokens is too large", "max_tokens"),
      { ...openAiError("temperature", "temperature"), status: 401 },
      { ...openAiError("temperature", "temperature"), status: 500 },
    ]) {
      await assert.rejects(ask("openai-compatible", () => refusal));
      assert.equal(server.requests.length, 1, JSON.stringify(refusal));
      server.requests.splice(0);
    }
    assert.deepEqual(learned, []);
  });

  it("is not remembered where a value was out of range: another agent's may fit", async () => {
    const refusal = openAiError("temperature: range: 0..0.3", "temperature");
    const answer = (body: Record<string, unknown>) => ("temperature" in body ? refusal : undefined);
    assert.equal(await ask("openai-compatible", answer), "Yes.");
    assert.deepEqual(learned, []);
  });

  it("is tried again after the provider was changed, and applies to its own model only", async () => {
    const refusal = openAiError("no temperature", "temperature");
    const answer = (body: Record<string, unknown>) => ("temperature" in body ? refusal : undefined);
    await ask("openai-compatible", answer);
    await ask("openai-compatible", answer, { version: 2 });
    await ask("openai-compatible", answer, { version: 2, modelId: "other" });
    assert.equal(server.requests.length, 6);
    assert.deepEqual(
      memory
        .ofProvider({ id: "provider-1", version: 2 })
        .map(({ modelId }) => modelId)
        .toSorted(),
      ["brand-new", "other"],
    );
  });

  it("of an effort with tools leads to none with tools, and is unchanged without", async () => {
    const words =
      "Function tools with reasoning_effort are not supported in /v1/chat/completions. Use /v1/responses or set reasoning_effort to 'none'.";
    const answer = (body: Record<string, unknown>) =>
      "tools" in body && body["reasoning_effort"] !== "none"
        ? openAiError(words, "reasoning_effort")
        : undefined;
    for (const settings of [{ reasoningEffort: "high" }, {}]) {
      assert.equal(await ask("vllm", answer, { tools: TOOLS, settings }), "Yes.");
      assert.equal(await ask("vllm", answer, { settings }), "Yes.");
      assert.deepEqual(
        bodies().map(({ reasoning_effort }) => reasoning_effort),
        [settings.reasoningEffort, "none", settings.reasoningEffort],
      );
      server.requests.splice(0);
      memory = newMemory();
    }
  });

  it("is reported within a reply that had begun without a word, as by a gateway", async () => {
    const error = { code: 400, message: "temperature is not supported with this model" };
    server.answer = (response, asked) => {
      const isRefused = "temperature" in JSON.parse(asked.body);
      response.end(isRefused ? `data: ${JSON.stringify({ error })}\n\n` : WHOLE);
    };
    const given = { baseUrl: `${server.url}/v1`, apiKey: "k", settings: {}, clientOwned: false };
    const client = languageModel("openrouter", given, { clock, connections });
    const messages = [{ role: "user", content: "Hello" }] as const;
    const request = { modelId: "m", messages, temperature: 0.4, maxTokens: 200 };
    let said = "";
    await client.complete(request, (text) => (said += text), never());
    assert.deepEqual([said, server.requests.length], ["Yes.", 2]);
  });

  it("is kept for a thousand models, and for eight parameters of each", () => {
    const provider = { id: "p", version: 1 };
    for (let n = 0; n < 1_100; n++) {
      memory.add(provider, { modelId: `m${n}`, parameter: "temperature", atMs: n });
    }
    assert.equal(memory.ofProvider(provider).length, 1_000);
    for (let n = 0; n < 12; n++)
      memory.add(provider, { modelId: "x", parameter: `p${n}`, atMs: n });
    assert.deepEqual(
      memory.of(provider, "x").map(({ parameter }) => parameter),
      ["p4", "p5", "p6", "p7", "p8", "p9", "p10", "p11"],
    );
    learned = [];
    memory.add(provider, { modelId: "x", parameter: "p11", atMs: 99 });
    assert.deepEqual(learned, []);
  });
});

describe("a temperature of null", () => {
  it("is omitted for every vendor", async () => {
    const clock = new VirtualClock();
    const connections = new Connections({ clock, allowPrivateAddresses: true });
    const server = new ScriptedWebServer();
    await server.start();
    server.answer = (response, { url }) =>
      response.end(url.endsWith("/api/chat") ? '{"done":true}\n' : "data: [DONE]\n\n");
    try {
      for (const [vendor, modelId] of [
        ["openai", "gpt-6-luna"],
        ["groq", "openai/gpt-oss-20b"],
        ["mistral", "mistral-small-latest"],
        ["anthropic", "claude-haiku-4-5"],
        ["openai-compatible", "m"],
        ["ollama", "llama3.2"],
      ] as const) {
        const given = { baseUrl: server.url, apiKey: "k", settings: {}, clientOwned: false };
        const client = languageModel(vendor, given, { clock, connections });
        const messages = [{ role: "user", content: "Hello" }] as const;
        for (const temperature of [null, 0.4]) {
          const request = { modelId, messages, temperature, maxTokens: 9 };
          await client.complete(request, () => undefined, never());
          const body = server.requests.at(-1)?.body ?? "";
          assert.equal(body.includes('"temperature"'), temperature !== null, `${vendor} ${body}`);
        }
      }
    } finally {
      await connections.close();
      await server.close();
    }
  });
});

describe("models as strict as the real ones", () => {
  let vendors: SandboxedVendors;
  before(async () => {
    vendors = await startSandboxedVendors();
    vendors.sandbox.faults.openai = { strictModels: true };
  });
  after(() => vendors.close());

  it("answer a voice agent with and without tools, at any effort that is set, the unknown one, too", async () => {
    const models = ["gpt-6-luna", "gpt-6.2", "gpt-5.6-luna", "gpt-5", "o3", "gpt-4o", "gpt-7-nova"];
    for (const modelId of models) {
      for (const settings of [{}, { reasoningEffort: "none" }, { reasoningEffort: "high" }]) {
        for (const tools of [[], TOOLS]) {
          const given = { ...vendors.settingsFor("openai"), settings };
          const model = languageModel("openai", given, vendors.context);
          const messages = [{ role: "user", content: "say yes" }] as const;
          const request = { modelId, messages, temperature: 0.4, maxTokens: 200, tools };
          let said = "";
          await model.complete(request, (text) => (said += text), never());
          assert.equal(said, "yes", `${modelId} ${JSON.stringify(settings)}`);
        }
      }
    }
  });
});
