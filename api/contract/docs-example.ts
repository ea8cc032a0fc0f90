import type { JsonSchema } from "./json-schema.js";

export type Components = Readonly<Record<string, JsonSchema>>;

/** Stands for any text. */
const TEXT = "…";
const BY_FORMAT: Readonly<Record<string, string>> = {
  "date-time": "2026-01-31T12:00:00.000Z",
  date: "2026-01-31",
  email: "ada@example.com",
};

/** The schema itself, where it is a reference to a component. */
export function resolved(schema: JsonSchema, components: Components): JsonSchema {
  if (schema.$ref === undefined) return schema;
  return components[schema.$ref.split("/").at(-1) ?? ""] ?? {};
}

/** A value that the schema allows, for people to see its shape. */
export function exampleOf(schema: JsonSchema | boolean, components: Components): unknown {
  if (typeof schema === "boolean") return TEXT;
  const inner = resolved(schema, components);
  const [choice] = inner.anyOf ?? inner.oneOf ?? [];
  if (choice !== undefined) return exampleOf(choice, components);
  if (inner.const !== undefined) return inner.const;
  if (inner.enum !== undefined) return inner.enum[0];
  if (inner.default !== undefined) return inner.default;
  return EXAMPLE_BY_TYPE[String(inner.type)]?.(inner, components) ?? TEXT;
}

const EXAMPLE_BY_TYPE: Readonly<
  Record<string, (schema: JsonSchema, components: Components) => unknown>
> = {
  object: ({ properties = {} }, components) =>
    Object.fromEntries(
      Object.entries(properties).map(([name, field]) => [name, exampleOf(field, components)]),
    ),
  array: ({ items }, components) =>
    items === undefined || Array.isArray(items) ? [] : [exampleOf(items, components)],
  string: ({ format }) => BY_FORMAT[format ?? ""] ?? TEXT,
  integer: ({ minimum }) => minimum ?? 1,
  number: ({ minimum }) => minimum ?? 1,
  boolean: () => true,
};
