import type { JsonSchema } from "./json-schema.js";

export function escapeHtml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}

/** Text with `code` in it. */
export function prose(text: string): string {
  return escapeHtml(text).replace(/`([^`]*)`/g, "<code>$1</code>");
}

export function codeBlock(text: string): string {
  return `<pre><code>${escapeHtml(text)}</code></pre>`;
}

export function anchor(kind: string, name: string): string {
  return `${kind}-${name.toLowerCase().replace(/[^a-z0-9]+/g, "-")}`;
}

export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const head = headings.map((heading) => `<th>${heading}</th>`).join("");
  const body = rows.map((row) => `<tr>${row.map((cell) => `<td>${cell}</td>`).join("")}</tr>`);
  return `<table><tr>${head}</tr>${body.join("")}</table>`;
}

/** A schema in one line: its type, or a link to the component that it is. */
export function typeOf(schema: JsonSchema | boolean | undefined): string {
  if (schema === undefined || typeof schema === "boolean") return "anything";
  if (schema.$ref !== undefined) return link(schema.$ref);
  const variants = schema.anyOf ?? schema.oneOf;
  if (variants !== undefined) return variants.map(typeOf).join(" or ");
  if (schema.const !== undefined) return code(JSON.stringify(schema.const));
  if (schema.enum !== undefined)
    return schema.enum.map((each) => code(JSON.stringify(each))).join(" or ");
  if (schema.type === "array") {
    return Array.isArray(schema.items) ? "list" : `list of ${typeOf(schema.items)}`;
  }
  const type = Array.isArray(schema.type) ? schema.type.join(" or ") : (schema.type ?? "anything");
  return schema.format === undefined ? type : `${type} (${escapeHtml(schema.format)})`;
}

/** Which fields are worth a word: of a request those that it needs, of an answer those that may be missing. */
export type Marked = "required" | "optional";

/** Every field of an object, those of nested objects and lists too, each under its whole path. */
export function fieldsTable(schema: JsonSchema, marked: Marked): string {
  return table(["Field", "Type", "Meaning"], fieldRows(schema, marked, ""));
}

/** A name as the first cell of a row. */
export function nameCell(name: string, mark = ""): string {
  return mark === "" ? code(name) : `${code(name)} <span class="mark">${mark}</span>`;
}

function fieldRows(
  schema: JsonSchema,
  marked: Marked,
  prefix: string,
): readonly (readonly string[])[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    if (typeof field === "boolean") return [];
    const path = `${prefix}${name}`;
    const isRequired = schema.required?.includes(name) === true;
    const mark = isRequired === (marked === "required") ? marked : "";
    const row = [nameCell(path, mark), typeOf(field), prose(field.description ?? "")];
    return [row, ...nestedRows(field, marked, path)];
  });
}

function nestedRows(
  field: JsonSchema,
  marked: Marked,
  path: string,
): readonly (readonly string[])[] {
  if (field.properties !== undefined) return fieldRows(field, marked, `${path}.`);
  const { items } = field;
  if (typeof items !== "object" || Array.isArray(items)) return [];
  return items.properties === undefined ? [] : fieldRows(items, marked, `${path}[].`);
}

function link(reference: string): string {
  const name = reference.split("/").at(-1) ?? "";
  return `<a href="#${anchor("schema", name)}">${escapeHtml(name)}</a>`;
}

function code(text: string): string {
  return `<code>${escapeHtml(text)}</code>`;
}
