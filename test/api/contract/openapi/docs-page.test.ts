import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { docsPage } from "../../../../api/http/endpoints/docs-endpoints.js";

const { html, contentSecurityPolicy } = docsPage({
  document: "/document.json",
  script: "/library.js",
  style: "/library.css",
});

test("it loads the library and the document that it is told, and nothing else", () => {
  const loaded = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, source]) => source);
  assert.deepEqual(loaded, ["data:,", "/library.css", "/library.js"]);
  assert.ok(html.includes('"url":"/document.json"'));
  assert.doesNotMatch(html, /https?:\/\//);
  assert.doesNotMatch(html, / on[a-z]+="| style="/);
});

test("its policy allows what this server has and its own lines, and nothing unsafe", () => {
  for (const tag of ["style", "script"]) {
    const text = new RegExp(`<${tag}>([^]*?)</${tag}>`).exec(html)?.[1] ?? "";
    assert.ok(text.length > 0);
    const hash = createHash("sha256").update(text).digest("base64");
    assert.ok(contentSecurityPolicy.includes(`${tag}-src 'self' 'sha256-${hash}'`), tag);
  }
  assert.match(contentSecurityPolicy, /^default-src 'none';/);
  assert.doesNotMatch(contentSecurityPolicy, /unsafe|\*|https?:/);
});

test("nobody outside is asked whether the document is valid", () => {
  assert.ok(html.includes('"validatorUrl":null'));
});
