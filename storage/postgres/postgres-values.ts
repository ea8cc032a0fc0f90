import { type CustomTypesConfig, types } from "pg";

/** NUL and what stands for it, as they are and as JSON writes them. */
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

/** PostgreSQL's text and JSON hold every character but NUL, which SQLite's hold: it is written as two others. */
export function escapeText(text: string): string {
  return text.replace(TO_ESCAPE, (found) => ESCAPES.get(found) ?? found);
}

/** Reads what `escapeText` has written. */
export function unescapeText(text: string): string {
  return text.replace(ESCAPED, (found) => ORIGINALS.get(found) ?? found);
}

/** A statement's values as the server takes them. */
export function parametersOf(values: readonly unknown[]): unknown[] {
  return values.map((value) => (typeof value === "string" ? escapeText(value) : value));
}

const { TEXT, INT8, NUMERIC } = types.builtins;
const READERS: ReadonlyMap<number, (text: string) => unknown> = new Map<
  number,
  (text: string) => unknown
>([
  [TEXT, unescapeText],
  // Counts and places in an order, far below where JavaScript's numbers end.
  [INT8, Number],
  [NUMERIC, Number],
]);

/** How columns become the values that SQLite would give. */
export const valueTypes: CustomTypesConfig = {
  getTypeParser: (oid: number, format?: "text" | "binary") =>
    READERS.get(oid) ?? types.getTypeParser(oid, format),
};
