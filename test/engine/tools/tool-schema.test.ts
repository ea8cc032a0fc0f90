import assert from "node:assert/strict";
import { test } from "node:test";
import { toolArguments } from "../../../engine/conversation/toolbox.js";
import { isToolSchema, toolSchemaExpectation } from "../../../engine/tools/tool-schema.js";
import type { JsonObject } from "../../../storage/records.js";

function ofField(field: unknown): JsonObject {
  return { type: "object", properties: { field } };
}

function nested(levels: number): JsonObject {
  return levels === 1
    ? { type: "object" }
    : { type: "object", additionalProperties: nested(levels - 1) };
}

function undecided(count: number): JsonObject {
  return {
    type: "object",
    properties: {
      a: { anyOf: Array.from({ length: count - 2 }, () => ({ type: "null" })) },
      b: { anyOf: [{}, {}] },
    },
  };
}

test("schemas as people write them for models are taken", () => {
  const schemas = [
    { type: "object" },
    ofField({ type: ["string", "null"], description: "x", enum: ["a", null] }),
    ofField({ type: "array", items: { type: "integer", minimum: 0 }, minItems: 1, maxItems: 3 }),
    ofField({ anyOf: [{ type: "string", format: "date" }, { const: 5 }], default: { a: [] } }),
    { ...ofField({}), required: ["field"], additionalProperties: false, title: "t", examples: [1] },
    { type: "object", properties: {}, additionalProperties: { type: "number", multipleOf: 0.1 } },
    ofField({ type: "object", properties: { type: { type: "string" }, $ref: { type: "null" } } }),
  ];
  for (const schema of schemas) assert.ok(isToolSchema(schema), JSON.stringify(schema));
});

test("what is no schema of an object, or could be slow to check, is refused", () => {
  const schemas = [
    {},
    { type: "array" },
    { type: ["object"] },
    ofField("string"),
    ofField([]),
    ofField(null),
    ofField(true),
    { type: "object", properties: [] },
    { type: "object", required: "field" },
    { type: "object", required: [1] },
    ofField({ type: "text" }),
    ofField({ type: [] }),
    ofField({ pattern: "(a+)+$" }),
    ofField({ format: "uri" }),
    ofField({ $ref: "#" }),
    { type: "object", $defs: {} },
    ofField({ allOf: [{}] }),
    ofField({ uniqueItems: true }),
    ofField({ enum: [] }),
    ofField({ enum: [{}] }),
    ofField({ const: [] }),
    ofField({ minLength: -1 }),
    ofField({ maxItems: 1.5 }),
    ofField({ multipleOf: 0 }),
    ofField({ minimum: "1" }),
    ofField({ items: [{}] }),
    ofField({ anyOf: {} }),
    { type: "object", additionalProperties: { pattern: "x" } },
    JSON.parse('{"type":"object","properties":{"__proto__":{"pattern":"x"}}}'),
    ofField({ constructor: {} }),
  ];
  for (const schema of schemas) assert.ok(!isToolSchema(schema), JSON.stringify(schema));
});

test("a schema is as large, as deep and as undecided as it may be, and no more", () => {
  const ofBytes = (bytes: number) => {
    const empty = Buffer.byteLength(JSON.stringify({ type: "object", description: "" }));
    return { type: "object", description: "x".repeat(bytes - empty) };
  };
  assert.ok(isToolSchema(ofBytes(8 * 1024)));
  assert.ok(!isToolSchema(ofBytes(8 * 1024 + 1)));

  assert.ok(isToolSchema(nested(8)));
  assert.ok(!isToolSchema(nested(9)));

  assert.ok(isToolSchema(undecided(8)));
  assert.ok(!isToolSchema(undecided(9)));
});

test("no schema that is taken needs long for any arguments", () => {
  const alternatives = Array.from({ length: 7 }, (_, n) => ({
    items: { items: { items: { enum: [n] } } },
  }));
  const schema = ofField({ anyOf: [...alternatives, {}], items: { type: ["array", "null"] } });
  assert.ok(isToolSchema(schema));
  const argumentsJson = `{"field":[${Array.from({ length: 5_000 }, () => "[]").join(",")}]}`;
  const deep = `{"field":[[[${Array.from({ length: 8_000 }, () => "0").join(",")}]]]}`;
  for (const text of [argumentsJson, deep]) {
    const before = process.cpuUsage();
    assert.ok(toolArguments(text, schema).ok);
    const { user } = process.cpuUsage(before);
    // Microseconds; about 20 ms where this was written.
    assert.ok(user < 1_000_000);
  }
});

test("a refusal says what was expected, and where", () => {
  const expectations: readonly (readonly [JsonObject, string])[] = [
    [{ properties: {} }, '"object" at type'],
    [
      { type: "object", properties: { a: { type: "text" } } },
      "one of object, array, string, number, integer, boolean, null at properties.a.type",
    ],
    [
      { type: "object", properties: { a: { items: { format: "phone" } } } },
      "one of date, time, date-time, email, uuid, ipv4 at properties.a.items.format",
    ],
    [{ type: "object", properties: { a: "string" } }, "a JSON schema at properties.a"],
    [{ type: "object", required: "a" }, "a value that JSON Schema allows at required"],
    [{ type: "object", description: "x".repeat(9_000) }, "at most 8192 bytes"],
    [undecided(9), "at most 8 alternatives in all of properties"],
  ];
  for (const [schema, expected] of expectations) {
    assert.equal(toolSchemaExpectation(schema), expected);
  }
  const pattern = { type: "object", properties: { a: { pattern: "x" } } };
  assert.match(
    toolSchemaExpectation(pattern),
    /^only the keywords type, .*, not properties\.a\.pattern$/,
  );
  assert.match(toolSchemaExpectation(nested(9)), /^at most 8 levels at additionalProperties\./);
});
