import assert from "node:assert/strict";
import { test } from "node:test";
import {
  argumentFieldsOf,
  typedArguments,
  typedFrom,
} from "../../../api/console/model/tool-arguments.js";

const SCHEMA = {
  type: "object",
  properties: {
    name: { type: "string", description: "Whose it is." },
    guests: { type: "integer" },
    price: { type: "number" },
    isInside: { type: "boolean" },
    size: { type: "string", enum: ["small", "large"] },
    level: { enum: [1, 2] },
    days: { type: "array", items: { type: "string" } },
    any: {},
    wrong: 7,
  },
  required: ["name", "guests", 3],
};

test("each argument has a field of its kind, and one of JSON where there is no other", () => {
  const fields = argumentFieldsOf(SCHEMA);
  assert.deepEqual(
    fields.map(({ name, kind }) => `${name} ${kind}`),
    [
      "name text",
      "guests number",
      "price number",
      "isInside boolean",
      "size choice",
      "level json",
      "days json",
      "any json",
      "wrong json",
    ],
  );
  const required = fields.filter(({ isRequired }) => isRequired).map(({ name }) => name);
  assert.deepEqual(required, ["name", "guests"]);
  assert.deepEqual(fields[4]?.choices, ["small", "large"]);
  assert.equal(fields[0]?.description, "Whose it is.");
  assert.deepEqual(argumentFieldsOf({}), []);
});

test("what was typed becomes arguments, and those become what was typed", () => {
  const fields = argumentFieldsOf(SCHEMA);
  const typed = { name: "7", guests: "4", price: "1.5", isInside: "false", size: "large" };
  const all = { ...typed, level: "2", days: '["Monday"]', any: '"text"' };
  const given = {
    name: "7",
    guests: 4,
    price: 1.5,
    isInside: false,
    size: "large",
    level: 2,
    days: ["Monday"],
    any: "text",
  };
  assert.deepEqual(typedArguments(fields, all), given);
  assert.deepEqual(typedFrom(fields, given), all);
  assert.deepEqual(typedArguments(fields, { ...typed, guests: "" }), {
    name: "7",
    price: 1.5,
    isInside: false,
    size: "large",
  });
  assert.deepEqual(typedArguments(fields, {}), {});
  for (const wrong of [{ guests: "four" }, { guests: " " }, { days: "[" }]) {
    assert.equal(typedArguments(fields, wrong), undefined, JSON.stringify(wrong));
  }
});
