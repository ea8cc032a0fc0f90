import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { newTool, toolsOf } from "../../../api/console/model/agent-tools.js";
import {
  PARAMETER_TYPES,
  parametersOf,
  schemaOf,
} from "../../../api/console/model/tool-parameters.js";

test("parameters are a schema and the schema is those parameters again", () => {
  const parameter = fc.record(
    {
      name: fc.stringMatching(/^[a-z]\w{0,9}$/),
      type: fc.constantFrom(...PARAMETER_TYPES),
      description: fc.string(),
      isRequired: fc.boolean(),
    },
    { noNullPrototype: true },
  );
  const parameters = fc.uniqueArray(parameter, { selector: ({ name }) => name });
  fc.assert(
    fc.property(parameters, (given) => assert.deepEqual(parametersOf(schemaOf(given)), given)),
  );
});

test("a parameter without a name is in no schema, and one that is named twice is there once", () => {
  const one = { name: "a", type: "string", description: "", isRequired: true } as const;
  assert.deepEqual(schemaOf([{ ...one, name: "" }]), { type: "object", properties: {} });
  assert.deepEqual(schemaOf([one, { ...one, type: "number" }]), {
    type: "object",
    properties: { a: { type: "number" } },
    required: ["a"],
  });
});

test("a schema that says more than a list is not shown as one", () => {
  const text = { type: "string" };
  for (const schema of [
    { type: "array" },
    { type: "object", properties: { a: text }, additionalProperties: false },
    { type: "object", properties: { a: { ...text, enum: ["x"] } } },
    { type: "object", properties: { a: { type: "object", properties: {} } } },
    { type: "object", properties: { a: true } },
    { type: "object", properties: [text] },
    { type: "object", properties: {}, required: ["a"] },
    { type: "object", properties: { a: { type: ["string", "null"] } } },
  ]) {
    assert.equal(parametersOf(schema), undefined, JSON.stringify(schema));
  }
  assert.deepEqual(parametersOf({}), []);
});

test("tools are read from JSON as far as they are tools", () => {
  for (const text of ["", "{}", "[1]", "[null]", '[{"type":"fly"}]', '{"type":"hangup"}']) {
    assert.equal(toolsOf(text), undefined, text);
  }
  assert.deepEqual(toolsOf('[{"type":"http","name":7,"headers":{"a":1}},{"type":"transfer"}]'), [
    { ...newTool("http"), headers: { a: "1" } },
    { type: "transfer", to: "" },
  ]);
  const types = ["http", "client", "hangup", "sendDigits", "transfer"] as const;
  const all = types.map(newTool);
  assert.deepEqual(toolsOf(JSON.stringify(all)), all);
});
