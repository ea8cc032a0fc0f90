import * as fc from "fast-check";
import type { JsonSchema } from "../../../api/contract/openapi/json-schema.js";
import { anyCharacter } from "../../any-character.js";

const STRING_LENGTH_MAX = 60;
const NUMBER_MAX = 1_000_000;

type Components = Readonly<Record<string, JsonSchema>>;

/** Values that a schema allows, and beside them every kind of value that it does not. */
export function nearlyFitting(schema: JsonSchema, components: Components): fc.Arbitrary<unknown> {
  return fc.oneof(
    { weight: 6, arbitrary: fitting(schema, components) },
    { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
    { weight: 1, arbitrary: fc.constantFrom(null, "", 0, -1, [], {}, "\u0000", "\ud800", 1e308) },
  );
}

function fitting(schema: JsonSchema, components: Components): fc.Arbitrary<unknown> {
  if (schema.$ref !== undefined) return fitting(resolved(schema.$ref, components), components);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  const makeFitting = FITTING_BY_TYPE[String(schema.type)] ?? textOf;
  return makeFitting(schema, components);
}

const FITTING_BY_TYPE: Readonly<
  Record<string, (schema: JsonSchema, components: Components) => fc.Arbitrary<unknown>>
> = {
  object: objectOf,
  array: (schema, components) =>
    fc.array(nearlyFitting(itemsOf(schema), components), { maxLength: 4 }),
  integer: ({ minimum = -NUMBER_MAX, maximum = NUMBER_MAX }) =>
    fc.integer({ min: minimum, max: maximum }),
  number: ({ minimum = -1, maximum = 1 }) => fc.double({ min: minimum, max: maximum, noNaN: true }),
  boolean: () => fc.boolean(),
};

function textOf({ format, minLength, maxLength = STRING_LENGTH_MAX }: JsonSchema) {
  if (format === "email") return fc.emailAddress();
  return fc.string({
    unit: anyCharacter,
    minLength: minLength ?? 0,
    maxLength: Math.min(maxLength, STRING_LENGTH_MAX),
  });
}

function objectOf(schema: JsonSchema, components: Components): fc.Arbitrary<unknown> {
  const { properties } = schema;
  if (properties === undefined) return fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }));
  const fields = Object.entries(properties).map(([name, field]) => [
    name,
    nearlyFitting(typeof field === "boolean" ? {} : field, components),
  ]);
  return fc.record(Object.fromEntries(fields), { requiredKeys: [] });
}

function itemsOf({ items }: JsonSchema): JsonSchema {
  return typeof items === "object" && !Array.isArray(items) ? items : {};
}

function resolved(reference: string, components: Components): JsonSchema {
  return components[reference.split("/").at(-1) ?? ""] ?? {};
}
