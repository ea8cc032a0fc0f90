import type { JsonObject } from "../../storage/records.js";

/** A tool's schema goes to the vendor with every question, and its tokens are paid for. */
export const SCHEMA_MAX_BYTES = 8 * 1024;
/** Schemas within schemas. Models get lost much earlier. */
const SCHEMA_DEPTH_MAX = 8;
/** Together. What may be one of several things is checked against each of them. */
const ALTERNATIVES_MAX = 8;

const SCHEMA_TYPES: ReadonlySet<unknown> = new Set([
  "object",
  "array",
  "string",
  "number",
  "integer",
  "boolean",
  "null",
]);
/** Formats whose pattern takes no longer for a text that was made to be slow. */
const FORMATS: ReadonlySet<unknown> = new Set([
  "date",
  "time",
  "date-time",
  "email",
  "uuid",
  "ipv4",
]);

interface Place {
  readonly depth: number;
  /** Counted over the whole schema. */
  readonly alternatives: { count: number };
}

type Check = (value: unknown, place: Place) => boolean;

const isText: Check = (value) => typeof value === "string";
const isNumber: Check = (value) => typeof value === "number";
const isLength: Check = (value) => Number.isSafeInteger(value) && Number(value) >= 0;
const isScalar: Check = (value) => value === null || typeof value !== "object";
const isAnything: Check = () => true;
const isListOf =
  (check: Check): Check =>
  (value, place) =>
    Array.isArray(value) && value.length > 0 && value.every((each) => check(each, place));

/**
 * References and patterns are left out: with them a schema of a page can take hours to check, and it is checked in the
 * middle of everybody's calls.
 */
export const TOOL_SCHEMA_KEYWORDS: ReadonlyMap<string, Check> = new Map<string, Check>([
  [
    "type",
    (value, place) =>
      SCHEMA_TYPES.has(value) || isListOf((each) => SCHEMA_TYPES.has(each))(value, place),
  ],
  ["title", isText],
  ["description", isText],
  ["default", isAnything],
  ["examples", isListOf(isAnything)],
  ["enum", isListOf(isScalar)],
  ["const", isScalar],
  ["format", (value) => FORMATS.has(value)],
  ["minLength", isLength],
  ["maxLength", isLength],
  ["minimum", isNumber],
  ["maximum", isNumber],
  ["exclusiveMinimum", isNumber],
  ["exclusiveMaximum", isNumber],
  ["multipleOf", (value) => Number.isFinite(value) && Number(value) > 0],
  ["items", (value, place) => isSchema(value, deeper(place))],
  ["minItems", isLength],
  ["maxItems", isLength],
  ["properties", isMapOfSchemas],
  ["required", (value) => Array.isArray(value) && value.every((name) => typeof name === "string")],
  [
    "additionalProperties",
    (value, place) => typeof value === "boolean" || isSchema(value, deeper(place)),
  ],
  ["anyOf", isListOfAlternatives],
]);

/** In words, for who has to write one. */
export const TOOL_SCHEMA_RULES = `a JSON schema of an object, at most ${SCHEMA_MAX_BYTES} bytes and ${SCHEMA_DEPTH_MAX} levels, of the keywords ${[...TOOL_SCHEMA_KEYWORDS.keys()].join(", ")}, with at most ${ALTERNATIVES_MAX} alternatives and the formats ${[...FORMATS].join(", ")}`;

/** Whether the arguments of a tool may be described by it. */
export function isToolSchema(schema: JsonObject): boolean {
  return (
    schema["type"] === "object" &&
    Buffer.byteLength(JSON.stringify(schema)) <= SCHEMA_MAX_BYTES &&
    isSchema(schema, firstPlace())
  );
}

/** What was expected of a schema that `isToolSchema` refuses, and where. */
export function toolSchemaExpectation(schema: JsonObject): string {
  if (schema["type"] !== "object") return `"object" at type`;
  if (Buffer.byteLength(JSON.stringify(schema)) > SCHEMA_MAX_BYTES) {
    return `at most ${SCHEMA_MAX_BYTES} bytes`;
  }
  return expectationIn(schema, firstPlace(), "") ?? `at most ${ALTERNATIVES_MAX} alternatives`;
}

const VALUES: ReadonlyMap<string, string> = new Map([
  ["type", `one of ${[...SCHEMA_TYPES].join(", ")}`],
  ["format", `one of ${[...FORMATS].join(", ")}`],
  ["anyOf", `a list of 1 to ${ALTERNATIVES_MAX} alternatives`],
]);

function expectationIn(schema: unknown, place: Place, path: string): string | undefined {
  if (place.depth > SCHEMA_DEPTH_MAX) return `at most ${SCHEMA_DEPTH_MAX} levels at ${path}`;
  if (!isObject(schema)) return `a JSON schema at ${path}`;
  for (const [keyword, value] of Object.entries(schema)) {
    const at = path === "" ? keyword : `${path}.${keyword}`;
    const check = TOOL_SCHEMA_KEYWORDS.get(keyword);
    if (check === undefined) {
      return `only the keywords ${[...TOOL_SCHEMA_KEYWORDS.keys()].join(", ")}, not ${at}`;
    }
    if (check(value, { depth: place.depth, alternatives: { count: 0 } })) continue;
    const within = schemasWithin(keyword, value);
    for (const [name, child] of within) {
      const inner = expectationIn(child, deeper(place), name === "" ? at : `${at}.${name}`);
      if (inner !== undefined) return inner;
    }
    // Each of them alone is fine.
    if (within.length > 0) return `at most ${ALTERNATIVES_MAX} alternatives in all of ${at}`;
    return `${VALUES.get(keyword) ?? "a value that JSON Schema allows"} at ${at}`;
  }
  return undefined;
}

function schemasWithin(keyword: string, value: unknown): readonly (readonly [string, unknown])[] {
  if (keyword === "items" || keyword === "additionalProperties") return [["", value]];
  const isMapOrList = keyword === "properties" || keyword === "anyOf";
  return isMapOrList && typeof value === "object" && value !== null ? Object.entries(value) : [];
}

function firstPlace(): Place {
  return { depth: 1, alternatives: { count: 0 } };
}

function isSchema(schema: unknown, place: Place): boolean {
  if (place.depth > SCHEMA_DEPTH_MAX || !isObject(schema)) return false;
  return Object.entries(schema).every(([keyword, value]) => {
    const check = TOOL_SCHEMA_KEYWORDS.get(keyword);
    return check?.(value, place) === true;
  });
}

function isMapOfSchemas(value: unknown, place: Place): boolean {
  return isObject(value) && Object.values(value).every((each) => isSchema(each, deeper(place)));
}

function isListOfAlternatives(value: unknown, place: Place): boolean {
  if (!Array.isArray(value) || value.length === 0) return false;
  place.alternatives.count += value.length;
  return (
    place.alternatives.count <= ALTERNATIVES_MAX &&
    value.every((each) => isSchema(each, deeper(place)))
  );
}

function deeper({ depth, alternatives }: Place): Place {
  return { depth: depth + 1, alternatives };
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
