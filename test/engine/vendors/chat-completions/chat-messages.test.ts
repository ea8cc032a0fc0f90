import assert from "node:assert/strict";
import { test } from "node:test";
import {
  ollamaMessages,
  openAiMessages,
  promptCharsOf,
  toolsOffered,
} from "../../../../engine/vendors/chat-completions/chat-messages.js";
import type { ChatMessage, ToolCall } from "../../../../engine/vendors/contracts.js";

const TERMS = { origin: "https://vendor.test/v1 m" };
const CALL: ToolCall = { id: "one", name: "find", argumentsJson: '{"x":1}' };
const ASKED: ChatMessage = { role: "user", content: "Find it." };
const RESULT: ChatMessage = { role: "tool", toolCallId: "one", content: "found" };

function using(...toolCalls: readonly ToolCall[]): ChatMessage {
  return { role: "assistant", content: "", toolCalls };
}

test("what is said goes out as it is", () => {
  const said: readonly ChatMessage[] = [
    { role: "system", content: "Be kind." },
    ASKED,
    { role: "assistant", content: "Yes." },
  ];
  assert.deepEqual(openAiMessages(said, TERMS), said);
  assert.deepEqual(ollamaMessages(said, TERMS), said);
});

test("OpenAI: arguments are text, and the text with a call is null if there is none", () => {
  const wire = (content: string | null) => ({
    role: "assistant",
    content,
    tool_calls: [{ id: "one", type: "function", function: { name: "find", arguments: '{"x":1}' } }],
  });
  const spoken = { role: "assistant", content: "One moment.", toolCalls: [CALL] } as const;
  assert.deepEqual(openAiMessages([using(CALL), spoken, RESULT], TERMS), [
    wire(null),
    wire("One moment."),
    { role: "tool", tool_call_id: "one", content: "found" },
  ]);
});

test("Ollama: arguments are an object, and a result names the nearest call of its id", () => {
  const result = { role: "tool", tool_call_id: "one", content: "found" };
  const later = { ...CALL, name: "seek" };
  assert.deepEqual(ollamaMessages([using(CALL), ASKED, RESULT], TERMS), [
    {
      role: "assistant",
      content: "",
      tool_calls: [{ id: "one", function: { name: "find", arguments: { x: 1 } } }],
    },
    ASKED,
    { ...result, tool_name: "find" },
  ]);
  const named = (...messages: readonly ChatMessage[]) => ollamaMessages(messages, TERMS).at(-1);
  const other = { ...CALL, id: "two", name: "other" };
  assert.deepEqual(named(using(CALL), using(later), RESULT), { ...result, tool_name: "seek" });
  assert.deepEqual(named(using(CALL), using(other), RESULT), { ...result, tool_name: "find" });
  assert.deepEqual(named(using(other, CALL), RESULT), { ...result, tool_name: "find" });
  assert.deepEqual(named(ASKED, RESULT), { ...result, tool_name: undefined });
});

test("arguments that are no JSON object go out as an empty one", () => {
  for (const argumentsJson of ["{half", "[1]", "null", "5", ""]) {
    const [message] = ollamaMessages([using({ ...CALL, argumentsJson })], TERMS);
    assert.deepEqual(message, {
      role: "assistant",
      content: "",
      tool_calls: [{ id: "one", function: { name: "find", arguments: {} } }],
    });
  }
});

const TOOL = { name: "find", description: "Finds", parameters: { type: "object" } };

test("tools are offered as functions, and none where there are none", () => {
  assert.deepEqual(toolsOffered([TOOL]), { tools: [{ type: "function", function: TOOL }] });
  assert.deepEqual(toolsOffered([]), {});
  assert.deepEqual(toolsOffered(undefined), {});
});

test("a prompt is as long as its messages, the calls in them and the tools that are offered", () => {
  const request = { modelId: "m", temperature: 0, maxTokens: 9 };
  const charsOf = (messages: readonly ChatMessage[], tools?: (typeof TOOL)[]) =>
    promptCharsOf({ ...request, messages, ...(tools && { tools }) });
  assert.equal(charsOf([]), 0);
  assert.equal(charsOf([ASKED, RESULT]), 13);
  assert.equal(charsOf([ASKED], []), 8);
  assert.equal(charsOf([{ role: "assistant", content: "abc", toolCalls: [CALL, CALL] }]), 25);
  assert.equal(charsOf([ASKED], [TOOL]), 8 + JSON.stringify([TOOL]).length);
});
