import * as v from "valibot";
import { type FieldFault, invalidFields } from "../../../engine/request-error.js";
import { expectation } from "../../contract/fields.js";

/** Maximum number of reported faults: readers stop after a handful, and a hostile body could have thousands. */
const FAULTS_MAX = 20;

type Keys = readonly (string | number)[];

/** Valibot's own messages would repeat the value, which may be a password: they are never used. */
const OTHER_WORDS = "expected another value";

/**
 * The value in the schema's output form. RequestError `invalid_request` names every invalid field and what was
 * expected, in the schema's words (`worded` in fields.ts), never the received value. `whole` names the value
 * itself: "body", "query".
 */
export function validated<Schema extends v.GenericSchema>(
  schema: Schema,
  value: unknown,
  whole: string,
): v.InferOutput<Schema> {
  const unfit = unfitList(schema, value, []);
  if (unfit !== undefined) throw invalidFields([{ ...unfit, path: unfit.path || whole }]);
  const result = v.safeParse(schema, value, { abortPipeEarly: true, message: OTHER_WORDS });
  if (result.success) return result.output;
  throw invalidFields(
    result.issues
      .slice(0, FAULTS_MAX)
      .map((issue) => ({ path: v.getDotPath(issue) ?? whole, message: issue.message })),
  );
}

/**
 * Rejects a list where an object is expected, and a list that is too long. Own code, because Valibot, like
 * JavaScript, accepts a list as an object, and creates a fault for every item before it counts them.
 */
function unfitList(schema: v.GenericSchema, value: unknown, keys: Keys): FieldFault | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const inner = unwrapped(schema);
  if (!Array.isArray(value)) return unfitListIn(inner, value, keys);
  if (inner.type === "object" || inner.type === "record") return faultAt(inner, keys);
  if (!("item" in inner)) return undefined;
  if (value.length > lengthMax(inner)) return faultAt(inner, keys);
  const item = inner.item as v.GenericSchema;
  for (const [index, each] of value.entries()) {
    const found = unfitList(item, each, [...keys, index]);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Checks only fields that the schema has: a body may have thousands of others. */
function unfitListIn(schema: v.GenericSchema, value: object, keys: Keys): FieldFault | undefined {
  if (!("entries" in schema)) return undefined;
  for (const [key, field] of Object.entries(schema.entries as v.ObjectEntries)) {
    if (!Object.hasOwn(value, key)) continue;
    const found = unfitList(field, Reflect.get(value, key), [...keys, key]);
    if (found !== undefined) return found;
  }
  return undefined;
}

function faultAt(schema: v.GenericSchema, keys: Keys): FieldFault {
  return { path: keys.join("."), message: expectation(schema) };
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
