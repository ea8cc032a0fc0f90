import assert from "node:assert/strict";
import { test } from "node:test";
import { digitsToSend, toolDefinitions } from "../../../engine/tools/agent-toolbox.js";

const LOOK_UP = {
  type: "http",
  name: "look_up",
  description: "Finds an order",
  parameters: { type: "object", properties: { order: { type: "string" } } },
  url: "https://orders.test/find?key=hidden",
  method: "GET",
  headerNames: ["authorization"],
  timeoutMs: 5_000,
  speak: false,
} as const;

const SHOW = {
  type: "client",
  name: "show_order",
  description: "Shows an order",
  parameters: LOOK_UP.parameters,
  timeoutMs: 5_000,
} as const;

test("the model is told every tool by its name, with a schema of an object", () => {
  const definitions = toolDefinitions([
    { type: "hangup" },
    { type: "transfer", to: "+15550100" },
    { type: "sendDigits" },
    LOOK_UP,
    SHOW,
  ]);
  assert.deepEqual(
    definitions.map(({ name }) => name),
    ["hangup", "transfer", "sendDigits", "look_up", "show_order"],
  );
  for (const { description, parameters } of definitions) {
    assert.ok(description.length > 10);
    assert.equal(parameters["type"], "object");
  }
  assert.equal(definitions[3]?.parameters, LOOK_UP.parameters);
});

test("the model is not told where a tool leads", () => {
  const text = JSON.stringify(toolDefinitions([{ type: "transfer", to: "+15550100" }, LOOK_UP]));
  assert.doesNotMatch(text, /5550100|orders\.test|hidden|authorization/);
});

test("the model writes the summary of a warm transfer", () => {
  const to = "sip:desk@bakery.test";
  const [warm, blind] = toolDefinitions([
    { type: "transfer", to, mode: "warm" },
    { type: "transfer", to, mode: "blind" },
  ]);
  assert.deepEqual(warm?.parameters["required"], ["summary"]);
  assert.equal(blind?.parameters["required"], undefined);
});

test("the model is told when the author wants a call transferred", () => {
  const [plain] = toolDefinitions([{ type: "transfer", to: "sip:desk@bakery.test" }]);
  const [described] = toolDefinitions([
    { type: "transfer", to: "sip:desk@bakery.test", description: "For complaints." },
  ]);
  assert.equal(described?.description, `${plain?.description} When to use it: For complaints.`);
});

test("the keys to press are read, and what is no key is explained", () => {
  assert.deepEqual(digitsToSend('{"digits":"1*#9A"}'), { digits: "1*#9A" });
  assert.deepEqual(digitsToSend(`{"digits":"${"1".repeat(40)}"}`), { digits: "1".repeat(40) });
  for (const wrong of [
    "{}",
    "12",
    "{half",
    '{"digits":""}',
    '{"digits":"1 2"}',
    '{"digits":12}',
    '{"digits":"1","to":"x"}',
    `{"digits":"${"1".repeat(41)}"}`,
  ]) {
    const refused = digitsToSend(wrong);
    assert.ok("error" in refused && refused.error !== "", wrong);
  }
});

test("what has no arguments takes none, and of keys the model is told which there are", () => {
  const [hangup, transfer, digits] = toolDefinitions([
    { type: "hangup" },
    { type: "transfer", to: "+15550100", description: "" },
    { type: "sendDigits" },
  ]);
  const nothing = { type: "object", properties: {}, additionalProperties: false };
  assert.deepEqual(hangup?.parameters, nothing);
  assert.deepEqual(transfer?.parameters, nothing);
  assert.doesNotMatch(transfer?.description ?? "", /When to use it/);
  const description = "The keys in their order: 0 to 9, *, # and A to D, without blanks.";
  assert.deepEqual(digits?.parameters, {
    type: "object",
    properties: {
      digits: { type: "string", description, pattern: "^[0-9*#A-D]+$", maxLength: 40 },
    },
    required: ["digits"],
    additionalProperties: false,
  });
});
