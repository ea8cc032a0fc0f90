import assert from "node:assert/strict";
import { test } from "node:test";
import * as v from "valibot";
import { AgentBody } from "../../../../api/contract/agent.js";
import {
  choiceField,
  flagField,
  freeFormField,
  idField,
  nameField,
  numberField,
  requestObject,
  textField,
  wholeNumberField,
  wholeNumberParameter,
  worded,
} from "../../../../api/contract/fields.js";
import { validated } from "../../../../api/http/request/validation.js";
import { type FieldFault, RequestError } from "../../../../engine/request-error.js";

const Lamp = requestObject({
  name: nameField("the lamp's name"),
  colour: v.optional(choiceField("the colour", ["red", "green"])),
  sockets: v.optional(
    worded(
      v.pipe(
        v.array(requestObject({ watts: wholeNumberField("the power", 1, 100) })),
        v.description("the sockets, a list"),
      ),
    ),
  ),
});

function faultsOf(value: unknown): readonly FieldFault[] | undefined {
  try {
    validated(Lamp, value, "body");
  } catch (error) {
    assert.ok(error instanceof RequestError);
    assert.equal(error.code, "invalid_request");
    return error.details;
  }
  return undefined;
}

test("a valid value is returned without unknown fields", () => {
  const lamp = { name: " Desk ", sockets: [{ watts: 5, volts: 3 }], extra: 1 };
  assert.deepEqual(validated(Lamp, lamp, "body"), { name: "Desk", sockets: [{ watts: 5 }] });
});

test("every wrong field is named with the expected value", () => {
  assert.deepEqual(faultsOf({ colour: "blue", sockets: [{ watts: 5 }, { watts: 0.5 }] }), [
    { path: "name", message: "expected the lamp's name, text of 1 to 200 characters" },
    { path: "colour", message: 'expected the colour, one of "red", "green"' },
    { path: "sockets.1.watts", message: "expected the power, a whole number from 1 to 100" },
  ]);
});

test("a list or object of the wrong type is named itself", () => {
  assert.deepEqual(faultsOf({ name: "a", sockets: {} }), [
    { path: "sockets", message: "expected the sockets, a list" },
  ]);
  assert.deepEqual(faultsOf({ name: "a", sockets: [3] }), [
    { path: "sockets.0", message: "expected a JSON object" },
  ]);
});

test("a value that is not an object is named as the whole", () => {
  for (const value of [null, 3, "text", true]) {
    assert.deepEqual(faultsOf(value), [{ path: "body", message: "expected a JSON object" }]);
  }
});

test("a list does not count as an object, at any depth", () => {
  assert.deepEqual(faultsOf([]), [{ path: "body", message: "expected a JSON object" }]);
  assert.deepEqual(faultsOf({ name: "a", sockets: [{ watts: 1 }, []] }), [
    { path: "sockets.1", message: "expected a JSON object" },
  ]);
  const Free = v.object({
    any: v.pipe(v.record(v.string(), v.unknown()), v.description("an object")),
  });
  assert.throws(() => validated(Free, { any: [1] }, "body"), {
    message: "any: expected an object",
  });
});

test("the number of reported faults is limited", () => {
  assert.equal(
    faultsOf({ name: "a", sockets: Array.from({ length: 5_000 }, () => ({})) })?.length,
    20,
  );
});

test("no received value is repeated in an error", () => {
  const text = JSON.stringify(faultsOf({ name: "secret".repeat(100), colour: "hidden" }));
  assert.doesNotMatch(text, /secret|hidden/);
});

test("a list that is too long is refused as a whole, without checking its items", () => {
  const bounded = v.pipe(v.array(v.string()), v.maxLength(2), v.description("a list of two"));
  const schema = v.object({ names: v.optional(bounded) });
  assert.deepEqual(validated(schema, { names: ["a", "b"] }, "body"), { names: ["a", "b"] });
  assert.throws(
    () => validated(schema, { names: Array.from({ length: 1_000 }, () => 7) }, "body"),
    (error) => error instanceof RequestError && error.message === "names: expected a list of two",
  );
});

test("every kind of field says what is expected, whether it is wrong or missing", () => {
  const kinds = [
    [nameField("the name"), " ", "the name, text of 1 to 200 characters"],
    [textField("the text", 3), "four", "the text, text of at most 3 characters"],
    [textField("the text", 3, 1), "", "the text, text of 1 to 3 characters"],
    [textField("the text", 3), "\0", "the text, text of at most 3 characters"],
    [idField("the id"), 7, "the id, text of 1 to 128 characters"],
    [numberField("the speed", 0.5, 2), 3, "the speed, a number from 0.5 to 2"],
    [numberField("the speed", 0.5, 2), "1", "the speed, a number from 0.5 to 2"],
    [wholeNumberField("the count", 1, 9), 1.5, "the count, a whole number from 1 to 9"],
    [choiceField("the side", ["a", "b"]), "c", 'the side, one of "a", "b"'],
    [flagField("whether"), "yes", "whether, true or false"],
    [freeFormField("settings"), 1, "settings, an object of at most 100 fields"],
    [freeFormField("settings"), [], "settings, an object of at most 100 fields"],
  ] as const;
  for (const [field, wrong, words] of kinds) {
    const schema = requestObject({ field });
    for (const body of [{ field: wrong }, {}, { field: null }]) {
      assert.throws(() => validated(schema, body, "body"), { message: `field: expected ${words}` });
    }
  }
  const query = requestObject({
    n: wholeNumberParameter("how many", { min: 0, max: 9, preset: 1 }),
  });
  for (const n of ["x", "1.5", "10", ""]) {
    assert.throws(() => validated(query, { n }, "query"), {
      message: "n: expected how many, a whole number from 0 to 9",
    });
  }
});

test("a value of several kinds says whether its kind is wrong, or its fields are", () => {
  const ids = { llmProviderId: "a", llmModelId: "a", ttsProviderId: "a", ttsModelId: "a" };
  const agent = (tool: unknown) => ({ name: "a", ...ids, sttProviderId: "a", tools: [tool] });
  const types = '"hangup", "transfer", "sendDigits", "http", "client"';
  const type = `tools.0.type: expected what the tool does, one of ${types}`;
  for (const [tool, message] of [
    [7, "tools.0: expected a tool with a name that no other one has, an object"],
    [{}, type],
    [{ type: "secret" }, type],
    [
      { type: "transfer" },
      "tools.0.to: expected where to, a number such as +15550100 or an address such as sip:desk@a.org",
    ],
  ] as const) {
    assert.throws(() => validated(AgentBody, agent(tool), "body"), { message });
  }
});

test("a schema without its own messages repeats no value either", () => {
  const bare = v.object({ password: v.pipe(v.string(), v.minLength(8)) });
  assert.throws(() => validated(bare, { password: "secret" }, "body"), {
    message: "password: expected another value",
  });
});
