import assert from "node:assert/strict";
import { test } from "node:test";
import { PLAIN_SETTINGS, RecordedCall } from "../../doubles/recorded-call.js";

const SLOW = { kind: "http", name: "slow", background: "reply" } as const;
const FAST = { kind: "http", name: "fast" } as const;

/** A call whose caller has asked for something. */
function askedCall(): RecordedCall {
  const call = new RecordedCall({ ...PLAIN_SETTINGS, tools: [SLOW, FAST] });
  call.send({ type: "opened", resumed: true });
  call.send({ type: "written", text: "book a table" });
  return call;
}

/** The LLM ends its reply with calls of tools, given as `id name`. */
function calls(call: RecordedCall, ...named: readonly string[]): void {
  const toolCalls = named.map((each) => {
    const [id = "", name = ""] = each.split(" ");
    return { id, name, argumentsJson: "{}" };
  });
  call.send({ type: "replyDone", turnId: call.turn?.id ?? 0, tokens: 1, toolCalls });
}

/** What the newest request to the LLM has behind the question: ids of calls, and their results. */
function newestMessages(call: RecordedCall) {
  const asked = call.effects.findLast((effect) => effect.type === "requestReply");
  const questions = asked?.history.map(({ content }) => content) ?? [];
  const told = asked?.toolMessages.map((message) => {
    if (message.role === "tool") return `${message.toolCallId}: ${message.content.slice(0, 20)}`;
    const ids = message.role === "assistant" ? message.toolCalls?.map(({ id }) => id) : undefined;
    return ids?.join(" ") ?? message.content;
  });
  return [...questions, ...(told ?? [])];
}

const STARTED = '{"ok":true,"status":';

test("a tool keeps its result where the LLM gives its call the id of one in the background", () => {
  const call = askedCall();
  calls(call, "call_1 slow");
  calls(call, "call_1 fast");
  const run = call.effects.filter((effect) => effect.type === "runTool");
  assert.deepEqual(
    run.map((effect) => [effect.call.id, effect.call.name]),
    [
      ["call_1", "slow"],
      ["call_1_1_2", "fast"],
    ],
  );
  call.send({ type: "toolDone", turnId: 1, callId: "call_1_1_2", content: "quick" });
  assert.deepEqual(newestMessages(call), [
    "book a table",
    "call_1",
    `call_1: ${STARTED}`,
    "call_1_1_2",
    "call_1_1_2: quick",
  ]);
  assert.equal(call.actor.state.background.calls.length, 1);
});

test("a result that comes during the turn of its own call is read behind this call", () => {
  const call = askedCall();
  calls(call, "a slow", "b fast");
  call.send({ type: "toolDone", turnId: 1, callId: "a", content: "slow one" });
  call.send({ type: "toolDone", turnId: 1, callId: "b", content: "quick" });
  assert.deepEqual(newestMessages(call), [
    "book a table",
    "a b",
    `a: ${STARTED}`,
    "b: quick",
    "a_result",
    "a_result: slow one",
  ]);
});
