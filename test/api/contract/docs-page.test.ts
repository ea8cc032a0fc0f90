import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { exampleOf } from "../../../api/contract/docs-example.js";
import { escapeHtml, fieldsTable, prose, typeOf } from "../../../api/contract/docs-markup.js";
import { docsPage } from "../../../api/contract/docs-page.js";
import { openApiDocument } from "../../../api/contract/openapi.js";

const document = openApiDocument();
const { html, contentSecurityPolicy } = docsPage(document);

test("the page shows every operation and every schema", () => {
  for (const [path, methods] of Object.entries(document.paths)) {
    assert.ok(html.includes(`<code>${path}</code>`), path);
    for (const { summary } of Object.values(methods)) assert.ok(html.includes(prose(summary)));
  }
  for (const name of Object.keys(document.components.schemas)) {
    assert.ok(html.includes(`<code>${name}</code>`), name);
  }
});

test("it says how to start, and describes the voice WebSocket", () => {
  for (const words of ["How to start", "/ws/voice", "audioStop", "4029", "historyKey"]) {
    assert.ok(html.includes(words), words);
  }
});

test("every link within the page leads somewhere", () => {
  const ids = new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
  const targets = [...html.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id);
  assert.ok(targets.length > 20);
  for (const target of targets) assert.ok(ids.has(target), target);
});

test("it needs nothing from anywhere else", () => {
  assert.doesNotMatch(html, /<(link|img|iframe|script src|script [^>]*src)/);
  assert.doesNotMatch(html, /https?:\/\//);
  assert.doesNotMatch(html, / on[a-z]+="| style="/);
});

test("its policy allows its own style and script, and nothing more", () => {
  for (const tag of ["style", "script"]) {
    const text = new RegExp(`<${tag}>([^]*?)</${tag}>`).exec(html)?.[1] ?? "";
    const hash = createHash("sha256").update(text).digest("base64");
    assert.ok(contentSecurityPolicy.includes(`${tag}-src 'sha256-${hash}'`), tag);
  }
  assert.match(contentSecurityPolicy, /^default-src 'none';/);
  assert.doesNotMatch(contentSecurityPolicy, /unsafe/);
});

test("text is shown as it is, never as markup", () => {
  assert.equal(escapeHtml(`<b a="1">&</b>`), "&lt;b a=&quot;1&quot;&gt;&amp;&lt;/b&gt;");
  assert.equal(prose("a `<i>` b"), "a <code>&lt;i&gt;</code> b");
});

test("types are told in a few words", () => {
  assert.equal(typeOf({ anyOf: [{ type: "string" }, { type: "null" }] }), "string or null");
  assert.equal(typeOf({ type: "array", items: { type: "integer" } }), "list of integer");
  assert.equal(
    typeOf({ enum: ["a", "b"] }),
    "<code>&quot;a&quot;</code> or <code>&quot;b&quot;</code>",
  );
  assert.equal(typeOf({ const: true }), "<code>true</code>");
  assert.equal(typeOf(true), "anything");
  assert.equal(typeOf({ $ref: "#/components/schemas/User" }), '<a href="#schema-user">User</a>');
});

test("fields are told with their whole path, and which of them a request needs", () => {
  const schema = {
    type: "object",
    required: ["list"],
    properties: {
      list: {
        type: "array",
        items: { type: "object", required: ["a"], properties: { a: { type: "string" } } },
      },
      more: { type: "object", properties: { b: { type: "number", description: "about `b`" } } },
    },
  } as const;
  const request = fieldsTable(schema as never, "required");
  for (const cell of ["list[].a", "more.b"]) assert.ok(request.includes(`<code>${cell}</code>`));
  assert.ok(request.includes("about <code>b</code>"));
  assert.equal(request.match(/class="mark">required/g)?.length, 2);
  const answer = fieldsTable(schema as never, "optional");
  assert.equal(answer.match(/class="mark">optional/g)?.length, 2);
});

test("the example of every schema has every field that the schema needs", () => {
  const { schemas } = document.components;
  for (const [name, schema] of Object.entries(schemas)) {
    const example = exampleOf(schema, schemas);
    for (const field of schema.required ?? []) {
      assert.ok(Object.hasOwn(Object(example), field), `${name}.${field}`);
    }
  }
});

test("an example is a value that the schema allows", () => {
  const of = (schema: object) => exampleOf(schema, document.components.schemas);
  assert.equal(of({ enum: ["a", "b"] }), "a");
  assert.equal(of({ const: false }), false);
  assert.equal(of({ anyOf: [{ type: "integer", minimum: 3 }, { type: "null" }] }), 3);
  assert.equal(of({ type: "integer", default: 20 }), 20);
  assert.deepEqual(of({ type: "array", items: { type: "boolean" } }), [true]);
  assert.equal(of({ type: "string", format: "email" }), "ada@example.com");
  assert.deepEqual(Object.keys(Object(of({ $ref: "#/components/schemas/User" }))), [
    "id",
    "email",
    "name",
    "role",
  ]);
});

test("the events of a stream are shown as they are sent", () => {
  assert.ok(html.includes(escapeHtml('event: token\ndata: {"text":"…"}\n')));
});
