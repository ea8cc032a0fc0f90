import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { ChatMessage, Completion } from "../../../../engine/vendors/contracts.js";
import { languageModel } from "../../../../engine/vendors/registry.js";
import { AskedServer } from "../asked-server.js";
import { never, type SandboxedVendors, startSandboxedVendors } from "../sandboxed-vendors.js";

const TOOLS = [
  { name: "look_up", description: "Looks up.", parameters: { type: "object" } },
  { name: "find", description: "Finds.", parameters: { type: "object" } },
];

const ASKED: ChatMessage = { role: "user", content: "use look_up and find" };

function withResults({ toolCalls = [] }: Completion): readonly ChatMessage[] {
  return [
    ASKED,
    { role: "assistant", content: "", toolCalls },
    ...toolCalls.map(({ id }) => ({ role: "tool", toolCallId: id, content: "42" }) as const),
  ];
}

describe("what a vendor wants back with its tool calls", () => {
  let vendors: SandboxedVendors;
  before(async () => {
    vendors = await startSandboxedVendors();
  });
  after(() => vendors.close());

  async function ask(
    vendor: "gemini" | "openai" | "groq" | "mistral",
    modelId: string,
    messages: readonly ChatMessage[],
  ) {
    const model = languageModel(vendor, vendors.settingsFor(vendor), vendors.context);
    let said = "";
    const request = { modelId, messages, temperature: 0.4, maxTokens: 200, tools: TOOLS };
    const completion = await model.complete(request, (text) => (said += text), never());
    return { said, completion };
  }

  it("goes back to it: Gemini answers with what its tools said, from several rounds, too", async () => {
    for (const modelId of ["gemini-3.6-flash", "gemini-3.5-flash-lite", "gemini-3.1-pro-preview"]) {
      const first = await ask("gemini", modelId, [ASKED]);
      assert.equal(first.completion.toolCalls?.length, 2);
      const messages = withResults(first.completion);
      const second = await ask("gemini", modelId, messages);
      assert.equal(second.said, "The tool says: 42. The tool says: 42.");
    }
  });

  it("does not go to another vendor, nor is Gemini left without when another one has begun", async () => {
    const ofGemini = await ask("gemini", "gemini-3.6-flash", [ASKED]);
    for (const [vendor, modelId] of [
      ["openai", "gpt-6-luna"],
      ["groq", "openai/gpt-oss-20b"],
      ["mistral", "mistral-small-latest"],
      ["gemini", "gemini-3.5-flash-lite"],
    ] as const) {
      const { said } = await ask(vendor, modelId, withResults(ofGemini.completion));
      assert.equal(said, "The tool says: 42. The tool says: 42.", vendor);
      const begun = await ask(vendor, modelId, [ASKED]);
      const { said: gone } = await ask("gemini", "gemini-3.6-flash", withResults(begun.completion));
      assert.equal(gone, "The tool says: 42. The tool says: 42.", vendor);
    }
  });
});

describe("fields that only a vendor knows", () => {
  const asked = new AskedServer();
  const event = (delta: object) => `data: ${JSON.stringify({ choices: [{ delta }] })}\n\n`;
  const call = (more: object, ofFunction = {}) => ({
    tool_calls: [
      { index: 0, ...more, function: { name: "look_up", arguments: "{}", ...ofFunction } },
    ],
  });

  const modelAt = (vendor: string) => languageModel(vendor, asked.given(), asked.context);

  async function answered(body: string, vendor = "openai-compatible"): Promise<Completion> {
    asked.server.answer = (response) => response.end(body);
    const request = { modelId: "m", messages: [ASKED], temperature: 0.4, maxTokens: 9 };
    return modelAt(vendor).complete(request, () => undefined, never());
  }

  async function wireOf(messages: readonly ChatMessage[], modelId = "m", vendor?: string) {
    asked.server.answer = (response, { url }) =>
      response.end(url.endsWith("/api/chat") ? '{"done":true}\n' : "data: [DONE]\n\n");
    const request = { modelId, messages, temperature: 0.4, maxTokens: 9 };
    await modelAt(vendor ?? "openai-compatible").complete(request, () => undefined, never());
    return JSON.parse(asked.server.requests.at(-1)?.body ?? "").messages[1];
  }

  it("go back as they came, to the same model at the same address", async () => {
    const completion = await answered(
      [
        event({ reasoning_content: "Let me " }),
        event({ reasoning_content: "see.", reasoning_details: [{ type: "a", data: "x" }] }),
        event({ reasoning_details: [{ type: "b", index: 1 }] }),
        event(
          call(
            { id: "c1", type: "function", provider_specific_fields: { thought_signature: "s1" } },
            { thought: "t" },
          ),
        ),
        event({
          tool_calls: [{ index: 0, extra_content: { google: { thought_signature: "s2" } } }],
        }),
        "data: [DONE]\n\n",
      ].join(""),
    );
    const messages = withResults(completion);
    assert.deepEqual(await wireOf(messages), {
      role: "assistant",
      content: null,
      reasoning_content: "Let me see.",
      reasoning_details: [
        { type: "a", data: "x" },
        { type: "b", index: 1 },
      ],
      tool_calls: [
        {
          id: "c1",
          type: "function",
          provider_specific_fields: { thought_signature: "s1" },
          extra_content: { google: { thought_signature: "s2" } },
          function: { name: "look_up", arguments: "{}", thought: "t" },
        },
      ],
    });
    const plain = {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "c1", type: "function", function: { name: "look_up", arguments: "{}" } }],
    };
    assert.deepEqual(await wireOf(messages, "other"), plain);
    const ollama = await wireOf(messages, "m", "ollama");
    assert.deepEqual(Object.keys(ollama), ["role", "content", "tool_calls"]);
  });

  it("of Ollama's models are returned, too", async () => {
    const line = {
      message: {
        content: "",
        tool_calls: [
          { id: "c1", signature: "s", function: { name: "look_up", arguments: {}, signed: "f" } },
        ],
      },
      done: true,
    };
    const completion = await answered(`${JSON.stringify(line)}\n`, "ollama");
    const { tool_calls } = await wireOf(withResults(completion), "m", "ollama");
    assert.deepEqual(tool_calls, [
      { id: "c1", signature: "s", function: { name: "look_up", arguments: {}, signed: "f" } },
    ]);
  });

  it("are bounded: a call with more is not understood, thoughts that are longer stay away", async () => {
    const long = "x".repeat(64 * 1024);
    const thoughts = await answered(
      event({ reasoning_content: `${long}x` }) + event(call({ id: "c1" })) + "data: [DONE]\n\n",
    );
    assert.equal(thoughts.toolCalls?.[0]?.opaque, undefined);
    await assert.rejects(
      answered(event(call({ id: "c1", signature: long + long })) + "data: [DONE]\n\n"),
      { fault: "badAnswer" },
    );
  });
});
