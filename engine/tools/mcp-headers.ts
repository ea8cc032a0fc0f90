/** `x-mcp-header` (revision 2026-07-28): arguments of a tool that its server also wants in HTTP headers. */

import { isJsonObject, type JsonObject } from "../../storage/records.js";

const KEYWORD = "x-mcp-header";
const PREFIX = "Mcp-Param-";
/** Headers of one tool. */
export const MCP_HEADERS_MAX = 16;
const NAME_MAX_CHARACTERS = 64;
/** One header's value as it is sent; most servers take 8 to 16 KiB of headers in all. */
export const MCP_HEADER_VALUE_MAX_BYTES = 1_024;
/** A token of RFC 9110. */
const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const TYPES: ReadonlySet<unknown> = new Set(["string", "integer", "boolean"]);
/** Keywords with data, in which nothing is a schema. */
const DATA_KEYWORDS: ReadonlySet<string> = new Set(["const", "default", "enum", "examples"]);
/** Deeper schemas are refused as too deep anyway. */
const DEPTH_MAX = 20;

/** An argument, by the names of the properties that lead to it, and the header that it is sent in. */
export interface McpHeaderParameter {
  readonly path: readonly string[];
  readonly header: string;
}

export type McpHeaderParameters =
  | { readonly ok: true; readonly parameters: readonly McpHeaderParameter[] }
  | { readonly ok: false; readonly error: string };

/** The arguments that the schema marks. The specification leaves out a tool whose marks break its rules. */
export function mcpHeaderParameters(schema: JsonObject): McpHeaderParameters {
  const parameters: McpHeaderParameter[] = [];
  const error = faultIn(schema, [], true, parameters);
  if (error !== undefined) return { ok: false, error: `${KEYWORD}: ${error}` };
  if (parameters.length > MCP_HEADERS_MAX) {
    return { ok: false, error: `${KEYWORD}: more than ${MCP_HEADERS_MAX} headers` };
  }
  const names = parameters.map(({ header }) => header.toLowerCase());
  if (new Set(names).size < names.length) {
    return { ok: false, error: `${KEYWORD}: two arguments have the same header` };
  }
  return { ok: true, parameters };
}

/** `isReachable`: only `properties` lead to the schema, so that its argument has one place. */
function faultIn(
  schema: unknown,
  path: readonly string[],
  isReachable: boolean,
  found: McpHeaderParameter[],
  depth = 0,
): string | undefined {
  if (depth > DEPTH_MAX) return undefined;
  if (Array.isArray(schema)) return firstFault(schema, path, false, found, depth);
  if (!isJsonObject(schema)) return undefined;
  if (Object.hasOwn(schema, KEYWORD)) {
    if (!isReachable || path.length === 0) return "it is not of an argument with one place";
    const header = schema[KEYWORD];
    if (typeof header !== "string" || header.length > NAME_MAX_CHARACTERS || !NAME.test(header)) {
      return `${path.join(".")} has a name that no header can have`;
    }
    if (!TYPES.has(schema["type"])) {
      return `${path.join(".")} is not a string, an integer or a boolean`;
    }
    found.push({ path, header });
  }
  for (const [keyword, value] of Object.entries(schema)) {
    if (DATA_KEYWORDS.has(keyword) || keyword === KEYWORD) continue;
    const isProperties = keyword === "properties" && isJsonObject(value);
    const fault = isProperties
      ? propertyFault(value, path, isReachable, found, depth)
      : firstFault([value], path, false, found, depth);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function propertyFault(
  properties: JsonObject,
  path: readonly string[],
  isReachable: boolean,
  found: McpHeaderParameter[],
  depth: number,
): string | undefined {
  for (const [name, property] of Object.entries(properties)) {
    const fault = faultIn(property, [...path, name], isReachable, found, depth + 1);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function firstFault(
  schemas: readonly unknown[],
  path: readonly string[],
  isReachable: boolean,
  found: McpHeaderParameter[],
  depth: number,
): string | undefined {
  for (const schema of schemas) {
    const fault = faultIn(schema, path, isReachable, found, depth + 1);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

export type McpHeaders =
  | { readonly ok: true; readonly headers: Readonly<Record<string, string>> }
  | { readonly ok: false; readonly error: string };

/** The headers of a call with these arguments; one that is left out or null has none. */
export function mcpHeaders(
  parameters: readonly McpHeaderParameter[],
  given: JsonObject,
): McpHeaders {
  const headers: Record<string, string> = {};
  for (const { path, header } of parameters) {
    const text = textOf(valueAt(given, path));
    if (text === undefined) continue;
    const value = isPlain(text) ? text : `=?base64?${Buffer.from(text).toString("base64")}?=`;
    if (value.length > MCP_HEADER_VALUE_MAX_BYTES) {
      const error = `${path.join(".")}: too long: it is sent in a header of at most ${MCP_HEADER_VALUE_MAX_BYTES} bytes`;
      return { ok: false, error };
    }
    headers[`${PREFIX}${header}`] = value;
  }
  return { ok: true, headers };
}

function valueAt(given: JsonObject, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, name) => (isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined),
    given,
  );
}

/** Undefined for what is in no header: null, and numbers that a text does not hold exactly. */
function textOf(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return String(value);
  return Number.isSafeInteger(value) ? String(value) : undefined;
}

/** A field value of RFC 9110 in plain ASCII that comes through unchanged; other values are sent in base64. */
function isPlain(text: string): boolean {
  if (!/^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/.test(text)) return false;
  return !(text.startsWith("=?base64?") && text.endsWith("?="));
}
