import assert from "node:assert/strict";
import { test } from "node:test";
import * as v from "valibot";
import { choiceField, nameField, wholeNumberField } from "../../../api/contract/fields.js";
import { validated } from "../../../api/http/validation.js";
import { Failure, type FieldFault } from "../../../engine/failure.js";

const Lamp = v.object({
  name: nameField("the lamp's name"),
  colour: v.optional(choiceField("the colour", ["red", "green"])),
  sockets: v.optional(
    v.pipe(
      v.array(v.object({ watts: wholeNumberField("the power", 1, 100) })),
      v.description("the sockets, a list"),
    ),
  ),
});

function faultsOf(value: unknown): readonly FieldFault[] | undefined {
  try {
    validated(Lamp, value, "body");
  } catch (error) {
    assert.ok(error instanceof Failure);
    assert.equal(error.kind, "invalid");
    return error.details;
  }
  return undefined;
}

test("a value that fits comes back without what nobody asked for", () => {
  const lamp = { name: " Desk ", sockets: [{ watts: 5, volts: 3 }], extra: 1 };
  assert.deepEqual(validated(Lamp, lamp, "body"), { name: "Desk", sockets: [{ watts: 5 }] });
});

test("every wrong field is named with what was expected there", () => {
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

test("what is no object at all is named as the whole", () => {
  for (const value of [null, 3, "text", true]) {
    assert.deepEqual(faultsOf(value), [{ path: "body", message: "expected a JSON object" }]);
  }
});

test("a list is no object, at any depth", () => {
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

test("a hostile number of faults is cut short", () => {
  assert.equal(
    faultsOf({ name: "a", sockets: Array.from({ length: 5_000 }, () => ({})) })?.length,
    20,
  );
});

test("nothing of what was received is repeated", () => {
  const text = JSON.stringify(faultsOf({ name: "secret".repeat(100), colour: "hidden" }));
  assert.doesNotMatch(text, /secret|hidden/);
});

test("a list that is too long is refused as a whole, without a look at its items", () => {
  const bounded = v.pipe(v.array(v.string()), v.maxLength(2), v.description("a list of two"));
  const schema = v.object({ names: v.optional(bounded) });
  assert.deepEqual(validated(schema, { names: ["a", "b"] }, "body"), { names: ["a", "b"] });
  assert.throws(
    () => validated(schema, { names: Array.from({ length: 1_000 }, () => 7) }, "body"),
    (error) => error instanceof Failure && error.message === "names: expected a list of two",
  );
});
