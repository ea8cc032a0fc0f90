import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import * as v from "valibot";
import { SystemClock } from "../../../../engine/time/clock.js";
import type { ChatMessage, Completion, ToolCall } from "../../../../engine/vendors/contracts.js";
import { languageModel } from "../../../../engine/vendors/registry.js";
import { Connections } from "../../../../engine/vendors/transport/connections.js";
import type { VendorContext } from "../../../../engine/vendors/vendor-settings.js";
import { never } from "../sandboxed-vendors.js";
import { ScriptedWebServer } from "../scripted-web-server.js";

const TOOL_ARGUMENTS_MAX_BYTES = 16 * 1024;
const TOOL_CALLS_MAX = 8;

const FIND = {
  name: "find_order",
  description: "Finds an order",
  parameters: { type: "object", properties: { order: { type: "string" } } },
};
const CALL = { id: "call_7", name: "find_order", argumentsJson: '{"order":"12"}' };
const USED: readonly ChatMessage[] = [
  { role: "user", content: "Where is order 12?" },
  { role: "assistant", content: "", toolCalls: [CALL] },
  { role: "tool", toolCallId: "call_7", content: '{"ok":true}' },
];

describe("tools in a vendor's own form", () => {
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

  function complete(
    vendor: string,
    messages: readonly ChatMessage[] = USED,
    tools = [FIND],
  ): Promise<Completion> {
    const settings = { baseUrl: server.url, apiKey: "k", settings: {}, clientOwned: false };
    const request = { modelId: "m", messages, temperature: 0, maxTokens: 99, tools };
    return languageModel(vendor, settings, context).complete(request, () => undefined, never());
  }

  async function bodyFor(vendor: string, messages = USED, tools = [FIND]) {
    server.answer = (response) => response.end('data: [DONE]\n\n{"done":true}\n');
    await complete(vendor, messages, tools).catch(() => undefined);
    const Body = v.looseObject({ messages: v.array(v.unknown()), tools: v.optional(v.unknown()) });
    return v.parse(v.pipe(v.string(), v.parseJson(), Body), server.requests.at(-1)?.body);
  }

  /** The calls of an answer whose deltas are these. */
  async function callsIn(...fragments: readonly object[]): Promise<readonly ToolCall[]> {
    const chunks = fragments.map((fragment) => {
      const chunk = { choices: [{ delta: { content: null, tool_calls: [fragment] } }] };
      return `data: ${JSON.stringify(chunk)}\n\n`;
    });
    server.answer = (response) => response.end(`${chunks.join("")}data: [DONE]\n\n`);
    return (await complete("openai")).toolCalls ?? [];
  }

  async function ollamaCallsIn(...lines: readonly string[]): Promise<readonly ToolCall[]> {
    server.answer = (response) => response.end(`${lines.join("\n")}\n{"done":true}\n`);
    return (await complete("ollama")).toolCalls ?? [];
  }

  for (const vendor of ["openai", "groq"]) {
    it(`${vendor}: tools are functions, arguments are text, results name their call`, async () => {
      const { messages, tools } = await bodyFor(vendor);
      assert.deepEqual(tools, [{ type: "function", function: FIND }]);
      assert.deepEqual(messages, [
        { role: "user", content: "Where is order 12?" },
        {
          role: "assistant",
          content: null,
          tool_calls: [
            {
              id: "call_7",
              type: "function",
              function: { name: "find_order", arguments: '{"order":"12"}' },
            },
          ],
        },
        { role: "tool", tool_call_id: "call_7", content: '{"ok":true}' },
      ]);
    });
  }

  it("Ollama: arguments are an object, and results name their tool too", async () => {
    const { messages, tools } = await bodyFor("ollama");
    assert.deepEqual(tools, [{ type: "function", function: FIND }]);
    assert.deepEqual(messages.slice(1), [
      {
        role: "assistant",
        content: "",
        tool_calls: [
          { id: "call_7", function: { name: "find_order", arguments: { order: "12" } } },
        ],
      },
      { role: "tool", tool_call_id: "call_7", tool_name: "find_order", content: '{"ok":true}' },
    ]);
  });

  it("an id that comes again in a later round means the nearest call", async () => {
    const again = [
      ...USED,
      { role: "assistant", content: "", toolCalls: [{ ...CALL, name: "later" }] },
      { role: "tool", toolCallId: "call_7", content: "{}" },
    ] as const;
    const { messages } = await bodyFor("ollama", again);
    assert.deepEqual(messages.at(-1), {
      role: "tool",
      tool_call_id: "call_7",
      tool_name: "later",
      content: "{}",
    });
  });

  it("arguments that were no JSON object go back as an empty one", async () => {
    for (const argumentsJson of ["{half", "[1]", "null"]) {
      const toolCalls = [{ ...CALL, argumentsJson }];
      const broken: ChatMessage[] = [{ role: "assistant", content: "Hm.", toolCalls }];
      for (const vendor of ["openai", "ollama"]) {
        const { messages } = await bodyFor(vendor, broken);
        assert.doesNotMatch(JSON.stringify(messages), /half|null|\[1\]/);
      }
    }
  });

  it("an agent without tools offers none", async () => {
    for (const vendor of ["openai", "groq", "ollama"]) {
      assert.ok(!("tools" in (await bodyFor(vendor, USED, []))));
    }
  });

  it("fragments of several calls, mixed and cut anywhere, are joined by their index", async () => {
    const calls = await callsIn(
      { index: 0, id: "a", type: "function", function: { name: "one", arguments: "" } },
      { index: 0, function: { arguments: '{"x"' } },
      { index: 1, id: "b", function: { name: "two", arguments: "{" } },
      { index: 0, function: { arguments: ":1}" } },
      { index: 1, function: { arguments: "}" } },
    );
    assert.deepEqual(calls, [
      { id: "a", name: "one", argumentsJson: '{"x":1}' },
      { id: "b", name: "two", argumentsJson: "{}" },
    ]);
  });

  it("calls are distinguished by their ids if a server numbers them alike, or not at all", async () => {
    const one = { id: "a", function: { name: "one", arguments: '{"x":1}' } };
    const two = { id: "b", function: { name: "two", arguments: "" } };
    const expected = [
      { id: "a", name: "one", argumentsJson: '{"x":1}' },
      { id: "b", name: "two", argumentsJson: '{"y":2}' },
    ];
    const rest = { function: { arguments: '{"y":2}' } };
    assert.deepEqual(
      await callsIn({ index: 0, ...one }, { index: 0, ...two }, { index: 0, ...rest }),
      expected,
    );
    assert.deepEqual(await callsIn(one, two, rest), expected);
    const nameless = { function: { name: "three", arguments: null } };
    assert.deepEqual(await callsIn(nameless, nameless), [
      { id: "call_1", name: "three", argumentsJson: "{}" },
      { id: "call_2", name: "three", argumentsJson: "{}" },
    ]);
  });

  it("Ollama's calls are whole, with or without ids, and one id is used once", async () => {
    const call = (id: string, x: number) =>
      JSON.stringify({
        message: {
          content: "",
          tool_calls: [{ id, function: { index: 0, name: "one", arguments: { x } } }],
        },
      });
    assert.deepEqual(await ollamaCallsIn(call("a", 1), call("a", 2)), [
      { id: "a", name: "one", argumentsJson: '{"x":1}' },
      { id: "call_2", name: "one", argumentsJson: '{"x":2}' },
    ]);
    const bare = '{"message":{"tool_calls":[{"function":{"name":"two"}}]}}';
    assert.deepEqual(await ollamaCallsIn(bare), [
      { id: "call_1", name: "two", argumentsJson: "{}" },
    ]);
  });

  it("more calls than a reply may have are ignored, with all their fragments", async () => {
    const many = Array.from({ length: 40 }, (_, index) => [
      { index, id: `id ${index}`, function: { name: "hangup", arguments: "" } },
      { index, function: { arguments: "{}" } },
    ]).flat();
    const calls = await callsIn(...many);
    assert.equal(calls.length, TOOL_CALLS_MAX);
    assert.ok(calls.every(({ argumentsJson }) => argumentsJson === "{}"));
  });

  it("what belongs to a call that is ignored is not taken for an earlier one's of its number", async () => {
    const full = Array.from({ length: TOOL_CALLS_MAX }, (_, index) => {
      return { index, id: `id ${index}`, function: { name: "hold", arguments: "{}" } };
    });
    const ignored = { index: 0, id: "more", function: { name: "hangup", arguments: "" } };
    const calls = await callsIn(...full, ignored, { index: 0, function: { arguments: "more" } });
    assert.deepEqual(
      calls.map(({ argumentsJson }) => argumentsJson),
      Array(TOOL_CALLS_MAX).fill("{}"),
    );
  });

  it("a piece that belongs to no call is none, and what has an id alone is the beginning of one", async () => {
    const rest = { function: { arguments: "{}" } };
    assert.deepEqual(await callsIn(rest), []);
    assert.deepEqual(await callsIn({ id: "a" }, { function: { name: "hold" } }, rest), [
      { id: "a", name: "hold", argumentsJson: "{}" },
    ]);
  });

  it("an id is accepted up to 4,096 characters, some of which may be a signature", async () => {
    const begun = (length: number) => {
      return { index: 0, id: "x".repeat(length), function: { name: "hold" } };
    };
    const [call] = await callsIn(begun(4_096));
    assert.equal(call?.id.length, 4_096);
    await assert.rejects(callsIn(begun(4_097)), {
      fault: "badAnswer",
      message: "openai: unreadable answer",
    });
  });

  it("arguments up to the limit are taken, more are a bad answer", async () => {
    const start = { index: 0, id: "a", function: { name: "one", arguments: '"' } };
    const fill = (bytes: number) => ({ index: 0, function: { arguments: "ü".repeat(bytes / 2) } });
    const end = { index: 0, function: { arguments: '"' } };
    const [whole] = await callsIn(start, fill(TOOL_ARGUMENTS_MAX_BYTES - 2), end);
    assert.equal(Buffer.byteLength(whole?.argumentsJson ?? ""), TOOL_ARGUMENTS_MAX_BYTES);
    await assert.rejects(callsIn(start, fill(TOOL_ARGUMENTS_MAX_BYTES), end), {
      fault: "badAnswer",
    });
  });

  it("a name of the vendors' maximum length is accepted", async () => {
    const name = "x".repeat(64);
    const [call] = await callsIn({ index: 0, id: "a", function: { name, arguments: "{}" } });
    assert.equal(call?.name, name);
  });

  it("a call without a name, or with one of a page, is a bad answer", async () => {
    await assert.rejects(callsIn({ index: 0, id: "a", function: { arguments: "{}" } }), {
      fault: "badAnswer",
    });
    await assert.rejects(callsIn({ index: 0, id: "a", function: { name: "x".repeat(65) } }), {
      fault: "badAnswer",
    });
  });

  it("what a vendor does not count is estimated with the tools and their arguments", async () => {
    const delta = {
      tool_calls: [{ index: 0, id: "a", function: { name: "ab", arguments: "{}" } }],
    };
    const chunk = JSON.stringify({ choices: [{ delta, finish_reason: "tool_calls" }] });
    server.answer = (response) => response.end(`data: ${chunk}\n\ndata: [DONE]\n\n`);
    const { completionTokens, promptTokens, finishReason } = await complete("groq");
    assert.equal(completionTokens, 1);
    const texts = ["Where is order 12?", CALL.name, CALL.argumentsJson, '{"ok":true}'].join("");
    assert.equal(promptTokens, Math.ceil((JSON.stringify([FIND]).length + texts.length) / 4));
    assert.equal(finishReason, "other");
  });
});
