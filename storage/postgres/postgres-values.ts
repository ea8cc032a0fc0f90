import { type CustomTypesConfig, types } from "pg";

/** NUL and its replacement, raw and as JSON writes them. */
const NUL = "\u0000";
const SUBSTITUTE = "\u001a";
const TO_ESCAPE = new RegExp(String.raw`[${NUL}${SUBSTITUTE}]|\\u00(?:00|1a)`, "g");
const ESCAPED = new RegExp(String.raw`(?:${SUBSTITUTE}|\\u001a)[01]`, "g");

const ESCAPES: ReadonlyMap<string, string> = new Map([
  [NUL, `${SUBSTITUTE}0`],
  [SUBSTITUTE, `${SUBSTITUTE}1`],
  ["\\u0000", "\\u001a0"],
  ["\\u001a", "\\u001a1"],
]);
const ORIGINALS: ReadonlyMap<string, string> = new Map(
  [...ESCAPES].map(([original, escape]) => [escape, original]),
);

/** PostgreSQL's text and JSON support every character but NUL, which SQLite supports: it is replaced by two others. */
export function escapeText(text: string): string {
  return text.replace(TO_ESCAPE, (found) => ESCAPES.get(found) ?? found);
}

/** Reverses `escapeText`. */
export function unescapeText(text: string): string {
  return text.replace(ESCAPED, (found) => ORIGINALS.get(found) ?? found);
}

/** A statement's values in the server's format. */
export function parametersOf(values: readonly unknown[]): unknown[] {
  return values.map((value) => (typeof value === "string" ? escapeText(value) : value));
}

const { TEXT, INT8, NUMERIC } = types.builtins;
const READERS: ReadonlyMap<number, (text: string) => unknown> = new Map<
  number,
  (text: string) => unknown
>([
  [TEXT, unescapeText],
  // Counts and positions, far below the largest safe integer.
  [INT8, Number],
  [NUMERIC, Number],
]);

/** Converts columns to the values that SQLite would return. */
export const valueTypes: CustomTypesConfig = {
  getTypeParser: (oid: number, format?: "text" | "binary") =>
    READERS.get(oid) ?? types.getTypeParser(oid, format),
};
