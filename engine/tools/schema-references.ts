import { isJsonObject, type JsonObject } from "../../storage/records.js";
import { SCHEMA_MAX_BYTES } from "./tool-schema.js";

const LOCAL = /^#\/(\$defs|definitions)\/([^/]+)$/;
/** Definitions that name each other can double with each level; more than this fits into no tool's schema. */
const REFERENCES_MAX = 100;
const DEPTH_MAX = 40;
/** A schema as it is given, and with what its references name; a smaller one is made of it by leaving out what tools need not. */
export const UNREAD_SCHEMA_MAX_BYTES = 4 * SCHEMA_MAX_BYTES;

export type FlatSchema =
  | { readonly ok: true; readonly schema: JsonObject }
  | { readonly ok: false; readonly error: string };

class SchemaReferenceError extends Error {}

/** The schema with what its `$ref`s name in their places, and without `$defs`; else the reference that cannot be followed. */
export function withoutReferences(schema: JsonObject): FlatSchema {
  const { $defs, definitions, ...root } = schema;
  const known: Readonly<Record<string, unknown>> = { $defs, definitions };
  let count = 0;
  let sizeBytes = 0;
  const grow = (bytes: number) => {
    sizeBytes += bytes;
    if (sizeBytes <= UNREAD_SCHEMA_MAX_BYTES) return;
    throw new SchemaReferenceError(
      `with what its references name it has more than ${UNREAD_SCHEMA_MAX_BYTES} bytes`,
    );
  };
  const flat = (value: unknown, within: readonly string[], depth: number): unknown => {
    // A comma or a bracket; texts count with their characters.
    grow(typeof value === "string" ? value.length + 1 : 1);
    if (depth > DEPTH_MAX) return value;
    if (Array.isArray(value)) return value.map((each) => flat(each, within, depth + 1));
    if (!isJsonObject(value)) return value;
    const { $ref: reference, ...beside } = value;
    if (typeof reference === "string") {
      const name = reference.slice(0, 80);
      count += 1;
      if (within.includes(reference))
        throw new SchemaReferenceError(`$ref ${name} leads to itself`);
      if (count > REFERENCES_MAX) {
        throw new SchemaReferenceError(`more than ${REFERENCES_MAX} references, at $ref ${name}`);
      }
      const target = targetOf(reference, known);
      if (target === undefined)
        throw new SchemaReferenceError(`$ref ${name} leads nowhere in the schema`);
      return flat({ ...target, ...beside }, [...within, reference], depth + 1);
    }
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => {
        grow(key.length);
        return [key, flat(each, within, depth + 1)];
      }),
    );
  };
  try {
    const schemaOf = flat(root, [], 0);
    return { ok: true, schema: isJsonObject(schemaOf) ? schemaOf : root };
  } catch (error) {
    if (!(error instanceof SchemaReferenceError)) throw error;
    return { ok: false, error: error.message };
  }
}

function targetOf(
  reference: string,
  known: Readonly<Record<string, unknown>>,
): JsonObject | undefined {
  const [, place = "", name = ""] = LOCAL.exec(reference) ?? [];
  const definitions = known[place];
  const key = name.replaceAll("~1", "/").replaceAll("~0", "~");
  const target =
    isJsonObject(definitions) && Object.hasOwn(definitions, key) ? definitions[key] : undefined;
  return isJsonObject(target) ? target : undefined;
}
