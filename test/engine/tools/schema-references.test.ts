import assert from "node:assert/strict";
import { test } from "node:test";
import { withoutReferences } from "../../../engine/tools/schema-references.js";

const objectOf = (properties: object, defs: object) => ({
  type: "object",
  properties,
  $defs: defs,
});

test("references to the schema's own definitions are replaced by what they name", () => {
  const schema = objectOf(
    {
      from: { $ref: "#/$defs/Place", description: "where from" },
      all: { items: { $ref: "#/$defs/Place" } },
    },
    {
      Place: { type: "object", properties: { city: { $ref: "#/$defs/City" } } },
      City: { type: "string" },
    },
  );
  const place = { type: "object", properties: { city: { type: "string" } } };
  assert.deepEqual(withoutReferences(schema), {
    ok: true,
    schema: {
      type: "object",
      properties: { from: { ...place, description: "where from" }, all: { items: place } },
    },
  });
});

test("a reference that cannot be replaced is refused by its name", () => {
  const errorOf = (properties: object, defs: object) => {
    const flat = withoutReferences(objectOf(properties, defs));
    return flat.ok ? undefined : flat.error;
  };
  const node = { Node: { type: "object", properties: { next: { $ref: "#/$defs/Node" } } } };
  assert.equal(errorOf({ a: { $ref: "#/$defs/Node" } }, node), "$ref #/$defs/Node leads to itself");
  for (const reference of ["#/$defs/None", "https://a.example/s.json", "#/$defs/__proto__"]) {
    const error = errorOf({ a: { $ref: reference } }, {});
    assert.equal(error, `$ref ${reference} leads nowhere in the schema`);
  }
});

test("definitions that double with each level end at a named limit", () => {
  const defs = Object.fromEntries(
    Array.from({ length: 30 }, (_, n) => {
      const next = { $ref: `#/$defs/L${n + 1}` };
      return [`L${n}`, n === 29 ? { type: "string" } : { properties: { a: next, b: next } }];
    }),
  );
  const flat = withoutReferences(objectOf({ a: { $ref: "#/$defs/L0" } }, defs));
  assert.match(flat.ok ? "" : flat.error, /^more than 100 references/);
});

test("what references name is followed to a size, however few references there are", () => {
  const wide = Object.fromEntries(
    Array.from({ length: 900 }, (_, n) => [`field${n}`, { type: "string" }]),
  );
  const each = { $ref: "#/$defs/Wide" };
  const defs = { Wide: { type: "object", properties: wide } };
  const properties = Object.fromEntries(Array.from({ length: 90 }, (_, n) => [`p${n}`, each]));
  assert.deepEqual(withoutReferences(objectOf(properties, defs)), {
    ok: false,
    error: "with what its references name it has more than 32768 bytes",
  });
});
