import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";
import * as v from "valibot";
import { noFaults } from "../../../../engine/sandbox/faults.js";
import { startSandbox } from "../../../../engine/sandbox/sandbox.js";
import { post, userSays } from "../chat-client.js";

const sandbox = await startSandbox();
const { faults, urls } = sandbox;
after(() => sandbox.close());
beforeEach(() => Object.assign(faults, noFaults()));

const TOOLS = ["find_order", "hangup"].map((name) => ({ type: "function", function: { name } }));
const SAID = userSays('use find_order with {"order":"number 12"}');

const Called = v.object({
  name: v.optional(v.string()),
  arguments: v.union([v.string(), v.record(v.string(), v.unknown())]),
});
const Calls = v.optional(v.array(v.looseObject({ id: v.optional(v.string()), function: Called })));
const Event = v.looseObject({
  choices: v.optional(
    v.array(
      v.looseObject({
        delta: v.optional(v.looseObject({ tool_calls: Calls })),
        message: v.optional(v.looseObject({ content: v.nullable(v.string()), tool_calls: Calls })),
        finish_reason: v.nullable(v.string()),
      }),
    ),
  ),
  message: v.optional(v.looseObject({ tool_calls: Calls })),
  done_reason: v.optional(v.string()),
});

async function ask(vendor: "openai" | "groq" | "ollama", more: object = {}) {
  const path = vendor === "ollama" ? "/api/chat" : "/chat/completions";
  const body = { model: "m", stream: true, messages: SAID, tools: TOOLS, ...more };
  const answer = await post(`${urls[vendor]}${path}`, body, { authorization: "Bearer k" });
  const texts = answer.body
    .split("\n")
    .map((line) => line.replace("data: ", ""))
    .filter((line) => line.startsWith("{"));
  const events = texts.map((text) => v.parse(v.pipe(v.string(), v.parseJson(), Event), text));
  const fragments = events.flatMap(
    ({ choices, message }) => choices?.[0]?.delta?.tool_calls ?? message?.tool_calls ?? [],
  );
  return { ...answer, events, fragments };
}

test("OpenAI sends a call in pieces: its name first, then its arguments", async () => {
  const { fragments, events } = await ask("openai");
  assert.ok(fragments.length > 3);
  assert.equal(fragments[0]?.function.name, "find_order");
  assert.equal(fragments[0]?.function.arguments, "");
  assert.ok(fragments.slice(1).every(({ id, function: { name } }) => id === undefined && !name));
  const texts = fragments.map((fragment) => v.parse(v.string(), fragment.function.arguments));
  assert.deepEqual(JSON.parse(texts.join("")), { order: "number 12" });
  assert.equal(events.at(-1)?.choices?.[0]?.finish_reason, "tool_calls");
});

test("Groq sends a call whole, as text", async () => {
  const { fragments, events } = await ask("groq");
  assert.deepEqual(
    fragments.map((fragment) => fragment.function),
    [{ name: "find_order", arguments: '{"order":"number 12"}' }],
  );
  assert.equal(events.at(-1)?.choices?.[0]?.finish_reason, "tool_calls");
});

test("Ollama sends a call whole, as an object, and ends as always", async () => {
  const { fragments, events } = await ask("ollama");
  assert.deepEqual(fragments[0]?.function.arguments, { order: "number 12" });
  assert.equal(events.at(-1)?.done_reason, "stop");
});

test("an answer in one piece has the calls too", async () => {
  for (const vendor of ["openai", "groq"] as const) {
    const { events } = await ask(vendor, { stream: false });
    const [choice] = events[0]?.choices ?? [];
    assert.equal(choice?.message?.content, null);
    assert.equal(choice?.message?.tool_calls?.length, 1);
    assert.equal(choice?.finish_reason, "tool_calls");
  }
  assert.equal((await ask("ollama", { stream: false })).fragments.length, 1);
});

test("a reply that is cut by its limit has no half call", async () => {
  const { fragments, events } = await ask("openai", { max_completion_tokens: 2 });
  assert.deepEqual(fragments, []);
  assert.equal(events.at(-1)?.choices?.[0]?.finish_reason, "length");
});

test("OpenAI and Groq refuse a call without its result, and an empty list of tools", async () => {
  const called = { name: "find_order", arguments: "{}" };
  const call = { id: "a", type: "function", function: called };
  const messages = [...SAID, { role: "assistant", content: null, tool_calls: [call] }];
  const result = { role: "tool", tool_call_id: "a", content: "found" };
  for (const vendor of ["openai", "groq"] as const) {
    assert.equal((await ask(vendor, { messages })).status, 400);
    assert.equal((await ask(vendor, { messages: [...messages, result] })).status, 200);
    assert.equal((await ask(vendor, { tools: [] })).status, 400);
  }
});

test("a model that loops calls the first tool, whatever its result", async () => {
  faults.openai = { fault: "toolLoop" };
  const { fragments } = await ask("openai", { messages: userSays("hello") });
  assert.equal(fragments[0]?.function.name, "find_order");
  assert.deepEqual((await ask("openai", { tools: null })).fragments, []);
});

test("arguments can be broken on demand", async () => {
  faults.groq = { fault: "brokenArguments" };
  const { fragments } = await ask("groq");
  assert.equal(fragments[0]?.function.arguments, '{"broken');
});
