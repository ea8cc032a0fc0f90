import * as v from "valibot";
import { Failure, type FieldFault } from "../../engine/failure.js";

/** Faults told at once; past a handful nobody reads on, and a hostile body could have thousands. */
const FAULTS_MAX = 20;

type Keys = readonly (string | number)[];

/**
 * The value in the form that the schema promises. Failure `invalid` names every wrong field and what was expected
 * there, never what was received: that may be a password. `whole` names the value itself: "body", "query".
 */
export function validated<Schema extends v.GenericSchema>(
  schema: Schema,
  value: unknown,
  whole: string,
): v.InferOutput<Schema> {
  const misplaced = unfitList(schema, value, []);
  if (misplaced !== undefined) throw invalid([faultAt(schema, misplaced, whole)]);
  const result = v.safeParse(schema, value, { abortPipeEarly: true });
  if (result.success) return result.output;
  const faulty = result.issues
    .slice(0, FAULTS_MAX)
    .map((issue) =>
      (issue.path ?? []).map(({ key }) => (typeof key === "number" ? key : String(key))),
    );
  throw invalid(faulty.map((keys) => faultAt(schema, keys, whole)));
}

function invalid(details: readonly FieldFault[]): Failure {
  const message = details.map((fault) => `${fault.path}: ${fault.message}`).join("; ");
  return new Failure("invalid", message, { details });
}

function faultAt(schema: v.GenericSchema, keys: Keys, whole: string): FieldFault {
  return {
    path: keys.length === 0 ? whole : keys.join("."),
    message: `expected ${expectation(schema, keys)}`,
  };
}

/** The description of the field at the end of `keys`, or of the nearest object or list around it that has one. */
function expectation(schema: v.GenericSchema, keys: Keys): string {
  const inner = unwrapped(schema);
  const [key, ...rest] = keys;
  const field = key === undefined ? undefined : fieldOf(inner, key);
  if (field !== undefined) return expectation(field, rest);
  return v.getDescription(inner) ?? "a JSON object";
}

/**
 * A list that stands where JSON has to have an object, which Valibot takes for one since in JavaScript it is; or one that
 * is too long, of which Valibot would look at every item first.
 */
function unfitList(schema: v.GenericSchema, value: unknown, keys: Keys): Keys | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const inner = unwrapped(schema);
  if (!Array.isArray(value)) return unfitListIn(inner, value, keys);
  if (inner.type === "object" || inner.type === "record") return keys;
  if (!("item" in inner)) return undefined;
  if (value.length > lengthMax(inner)) return keys;
  const item = inner.item as v.GenericSchema;
  for (const [index, each] of value.entries()) {
    const found = unfitList(item, each, [...keys, index]);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Looks only at fields that the schema has: a body may have thousands of others. */
function unfitListIn(schema: v.GenericSchema, value: object, keys: Keys): Keys | undefined {
  if (!("entries" in schema)) return undefined;
  for (const [key, field] of Object.entries(schema.entries as v.ObjectEntries)) {
    if (!Object.hasOwn(value, key)) continue;
    const found = unfitList(field, Reflect.get(value, key), [...keys, key]);
    if (found !== undefined) return found;
  }
  return undefined;
}

function lengthMax(schema: v.GenericSchema): number {
  if (!("pipe" in schema)) return Number.POSITIVE_INFINITY;
  const items = schema.pipe as readonly v.GenericPipeItem[];
  const bound = items.find(({ type }) => type === "max_length");
  return bound !== undefined && "requirement" in bound && typeof bound.requirement === "number"
    ? bound.requirement
    : Number.POSITIVE_INFINITY;
}

function unwrapped(schema: v.GenericSchema): v.GenericSchema {
  return "wrapped" in schema ? unwrapped(schema.wrapped as v.GenericSchema) : schema;
}

function fieldOf(schema: v.GenericSchema, key: string | number): v.GenericSchema | undefined {
  if ("item" in schema) return schema.item as v.GenericSchema;
  // Of things of several kinds: fields that share a name mean much the same.
  if (schema.type === "variant" && "options" in schema) {
    const kinds = schema.options as readonly v.GenericSchema[];
    return kinds.map((kind) => fieldOf(kind, key)).find((field) => field !== undefined);
  }
  if (!("entries" in schema)) return undefined;
  const entries = schema.entries as Readonly<Record<string, v.GenericSchema>>;
  return Object.hasOwn(entries, key) ? entries[key] : undefined;
}
