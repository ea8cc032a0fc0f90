import { type Components, exampleOf, resolved } from "./docs-example.js";
import {
  anchor,
  codeBlock,
  escapeHtml,
  fieldsTable,
  type Marked,
  nameCell,
  prose,
  table,
  typeOf,
} from "./docs-markup.js";
import type { JsonSchema } from "./json-schema.js";
import type { Media, Operation } from "./operation.js";

export interface Endpoint {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

const JSON_TYPE = "application/json";

export function operationAnchor({ operation }: Endpoint): string {
  return anchor("operation", operation.operationId);
}

/** One endpoint, folded: what it needs, takes and answers. */
export function operationSection(endpoint: Endpoint, components: Components): string {
  const { method, path, operation } = endpoint;
  return `<details class="item" id="${operationAnchor(endpoint)}" data-words="${escapeHtml(wordsOf(endpoint, components))}">
<summary><span class="verb ${method}">${method.toUpperCase()}</span><code>${escapeHtml(path)}</code>
<span class="note">${prose(operation.summary)}</span></summary><div class="inside">
<p class="note">${accessNote(operation)}</p>${parametersTable(operation)}${bodyPart(operation, components)}
<h4>Answers</h4>${answersTable(operation)}${successExample(operation, components)}</div></details>`;
}

export function schemaSection(
  name: string,
  marked: Marked,
  schema: JsonSchema,
  components: Components,
): string {
  const words = [name, ...Object.keys(schema.properties ?? {})].join(" ").toLowerCase();
  return `<details class="item" id="${anchor("schema", name)}" data-words="${escapeHtml(words)}">
<summary><code>${escapeHtml(name)}</code></summary><div class="inside">
${variantsOf(schema)
  .map((variant) => fieldsTable(variant, marked))
  .join("<h4>or</h4>")}
${exampleBlock(exampleOf(schema, components))}</div></details>`;
}

function variantsOf(schema: JsonSchema): readonly JsonSchema[] {
  const variants = schema.anyOf ?? schema.oneOf;
  return variants === undefined
    ? [schema]
    : variants.flatMap((each) => (typeof each === "boolean" ? [] : [each]));
}

/** What the filter finds the endpoint by. */
function wordsOf({ method, path, operation }: Endpoint, components: Components): string {
  const body = operation.requestBody?.content[JSON_TYPE]?.schema;
  const fields = body === undefined ? {} : (resolved(body, components).properties ?? {});
  const names = [...(operation.parameters ?? []).map(({ name }) => name), ...Object.keys(fields)];
  const { summary, operationId, tags } = operation;
  return [method, path, summary, operationId, ...tags, ...names].join(" ").toLowerCase();
}

function accessNote({ security }: Operation): string {
  if (security.length === 0) return "Open to everybody.";
  const names = new Set(security.flatMap((scheme) => Object.keys(scheme)));
  const ways = [
    names.has("bearer") ? "a bearer token" : "",
    names.has("apiKeyQuery") ? "an API key" : "",
  ];
  return `Needs ${ways.filter((way) => way !== "").join(" or ")}.`;
}

function parametersTable({ parameters = [] }: Operation): string {
  if (parameters.length === 0) return "";
  const rows = parameters.map((parameter) => [
    nameCell(parameter.name, parameter.required ? "required" : ""),
    parameter.in,
    [prose(parameter.description ?? ""), defaultNote(parameter.schema)].join(""),
  ]);
  return `<h4>Parameters</h4>${table(["Name", "In", "Meaning"], rows)}`;
}

function defaultNote(schema: JsonSchema): string {
  return schema.default === undefined
    ? ""
    : `; default <code>${escapeHtml(JSON.stringify(schema.default))}</code>`;
}

function bodyPart({ requestBody }: Operation, components: Components): string {
  if (requestBody === undefined) return "";
  const schema = requestBody.content[JSON_TYPE]?.schema;
  const heading = `<h4>Body: ${mediaNote(requestBody.content)}</h4>`;
  if (schema === undefined) return heading;
  const fields = fieldsTable(resolved(schema, components), "required");
  return heading + fields + exampleBlock(exampleOf(schema, components));
}

function answersTable({ responses }: Operation): string {
  const rows = Object.entries(responses).map(([status, { description, content }]) => [
    status,
    mediaNote(content),
    prose(description),
  ]);
  return table(["Status", "Body", "Meaning"], rows);
}

function successExample({ responses }: Operation, components: Components): string {
  const [, success] = Object.entries(responses)[0] ?? [];
  if (success === undefined) return "";
  return Object.values(success.content)
    .map((media) => {
      const events = media["x-events"];
      if (events !== undefined) return eventsExample(events, components);
      return media.schema.type === "string"
        ? ""
        : exampleBlock(exampleOf(media.schema, components));
    })
    .join("");
}

function eventsExample(events: Readonly<Record<string, JsonSchema>>, components: Components) {
  const lines = Object.entries(events).map(([name, schema]) => {
    const data = JSON.stringify(exampleOf(schema, components));
    return `event: ${name}\ndata: ${data}\n`;
  });
  return `<h4>The events</h4>${codeBlock(lines.join("\n"))}`;
}

function exampleBlock(value: unknown): string {
  const text = JSON.stringify(value, undefined, 2);
  return `<details><summary>Example</summary>${codeBlock(text)}</details>`;
}

function mediaNote(content: Media): string {
  return Object.entries(content)
    .map(([type, media]) => {
      if (type === JSON_TYPE) return typeOf(media.schema);
      const events = Object.entries(media["x-events"] ?? {});
      const parts = events.map(([name, schema]) => `<code>${name}</code> ${typeOf(schema)}`);
      const whole = parts.length === 0 ? typeOf(media.schema) : parts.join(", ");
      return `${escapeHtml(type)}: ${whole}`;
    })
    .join(", ");
}
