import assert from "node:assert/strict";
import { test } from "node:test";
import {
  aboutToolResults,
  replyTo,
  toolConversationFault,
  toolUse,
} from "../../../../engine/sandbox/language-model/simulated-language-model.js";
import { userSays } from "../chat-client.js";

const BOOK = {
  name: "book_table",
  parameters: {
    properties: {
      guests: { type: "integer" },
      name: { type: "string" },
      area: { enum: ["inside", "outside"] },
      window: { type: "boolean" },
    },
    required: ["guests", "name", "area", "window"],
  },
};
const BUILT_IN = [{ name: "hangup" }, { name: "transfer" }, { name: "sendDigits" }];
const ALL = [...BUILT_IN, BOOK, { name: "look_up" }];

function callsFor(said: string, offered: Parameters<typeof toolUse>[1] = ALL) {
  return toolUse(userSays(said), offered)?.calls;
}

test("the built-in tools are used when their words are said", () => {
  const expected = new Map([
    ["Please hang up now.", "hangup"],
    ["Thanks, goodbye!", "hangup"],
    ["transfer me to sales", "transfer"],
    ["could you transfer me", "transfer"],
  ]);
  for (const [said, name] of expected) {
    assert.deepEqual(callsFor(said), [{ name, arguments: {} }], said);
  }
  assert.match(toolUse(userSays("goodbye"), ALL)?.words ?? "", /goodbye/);
});

test("a tool that runs in the background is under way", () => {
  const started = { role: "tool", content: '{"ok":true,"status":"started","note":"later"}' };
  assert.match(aboutToolResults([started]) ?? "", /^It is under way\./);
});

test("keys are pressed in digits and in words", () => {
  const expected = new Map([
    ["press 1 2 3", "123"],
    ["Press 42 please", "42"],
    ["press one, two and nine", "129"],
    ["press star 0 pound", "*0#"],
  ]);
  for (const [said, digits] of expected) {
    assert.deepEqual(callsFor(said), [{ name: "sendDigits", arguments: { digits } }], said);
  }
  assert.equal(callsFor("press on"), undefined);
});

test("any other tool is used by its name, with the arguments that are said", () => {
  const given = { guests: 2, more: { name: "Zoë" } };
  assert.deepEqual(callsFor(`use book_table with ${JSON.stringify(given)} and goodbye`), [
    { name: "book_table", arguments: given },
  ]);
  assert.deepEqual(callsFor("use look_up with {half"), [{ name: "look_up", arguments: {} }]);
});

test("a tool that is only mentioned gets something of the right kind", () => {
  const said = "I want to book table for 4";
  assert.deepEqual(callsFor(said), [
    {
      name: "book_table",
      arguments: { guests: 4, name: said, area: "inside", window: true },
    },
  ]);
});

test("two tools in one sentence are two calls, in its order", () => {
  const names = callsFor("first look_up, then book_table")?.map(({ name }) => name);
  assert.deepEqual(names, ["look_up", "book_table"]);
});

test("what is not offered, or not meant, is answered in words", () => {
  assert.equal(callsFor("goodbye", [BOOK]), undefined);
  assert.equal(callsFor("goodbye", []), undefined);
  assert.equal(callsFor("hello there"), undefined);
  assert.equal(callsFor("look_upward"), undefined);
  assert.match(replyTo(userSays("goodbye")), /You said: goodbye/);
});

test("results of tools are repeated, and cause no further tool call", () => {
  const messages = [
    ...userSays("use look_up"),
    { role: "assistant", content: "" },
    { role: "tool", content: '{"ok":true,"status":200,"body":{"order":"12"}}' },
    { role: "tool", content: '{"ok":false,"error":"timed out"}' },
    { role: "tool", content: '{"ok":false,"status":503,"body":""}' },
    { role: "tool", content: "keys pressed." },
  ];
  assert.equal(toolUse(messages, ALL), undefined);
  assert.equal(
    replyTo(messages),
    'The tool says: {"order":"12"}. The tool failed: timed out. The tool failed: status 503. The tool says: keys pressed.',
  );
});

test("a result of the caller's page is repeated like a service's", () => {
  for (const [result, told] of [
    ["shown", "The tool says: shown."],
    [{ items: 2 }, 'The tool says: {"items":2}.'],
    [undefined, "The tool says: ."],
  ] as const) {
    const content = JSON.stringify({ ok: true, result });
    assert.equal(aboutToolResults([{ role: "tool", content }]), told);
  }
});

test("a conversation with tools requires every result, right after its call", () => {
  const call = { role: "assistant", tool_calls: [{ id: "a" }, { id: "b" }] };
  const result = (id: string) => ({ role: "tool", tool_call_id: id });
  const user = { role: "user" };
  assert.equal(toolConversationFault([user, call, result("b"), result("a"), user]), undefined);
  assert.match(toolConversationFault([user, call, result("a"), user]) ?? "", /without a result: b/);
  assert.match(toolConversationFault([user, call, result("a")]) ?? "", /without a result: b/);
  assert.match(toolConversationFault([user, result("a")]) ?? "", /answers no tool call/);
  assert.match(toolConversationFault([call, result("a"), result("a")]) ?? "", /answers no/);
});
