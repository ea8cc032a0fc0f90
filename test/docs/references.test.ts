import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ROOT } from "./pages.js";
import { anchorsOf, brokenReferences, type Repository, type TextFile } from "./references.js";

const PLACES = [".ci", "api", "bench", "deploy", "docs", "engine", "storage", "test"];
const TEXT = /\.(?:tsx?|m?js|json|md|sh|ya?ml|conf|service|css|html|example)$|\/[^.]+$/;
/** The planted faults below are no references. */
const PLANTED = "test/docs/references.test.ts";

const REPOSITORY: Repository = {
  has: (path) => existsSync(join(ROOT, path)),
  textOf: (path) => readFileSync(join(ROOT, path), "utf8"),
};

function readTexts(): readonly TextFile[] {
  const top = readdirSync(ROOT, { withFileTypes: true }).filter((entry) => entry.isFile());
  const below = PLACES.filter((place) => existsSync(join(ROOT, place))).flatMap((place) =>
    readdirSync(join(ROOT, place), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length)),
  );
  return [...top.map(({ name }) => name), ...below]
    .map((path) => path.replaceAll("\\", "/").replace(/^\//, ""))
    .filter((path) => TEXT.test(path) && !path.includes("node_modules/") && path !== PLANTED)
    .map((path) => ({ path, text: readFileSync(join(ROOT, path), "utf8") }));
}

test("every page and heading that a file refers to exists", () => {
  const texts = readTexts();
  assert.ok(texts.length > 500, `${texts.length} files`);
  assert.deepEqual(
    texts.flatMap((file) => brokenReferences(file, REPOSITORY)),
    [],
  );
});

test("a reference to a missing page, file or heading is found", () => {
  const planted: Readonly<Record<string, string>> = {
    "docs/a/b.md": "# One `two`\n\n```sh\n# no heading\n```\n\n## One two\n",
    "engine/a.ts": "",
  };
  const repository: Repository = {
    has: (path) => path in planted,
    textOf: (path) => planted[path],
  };
  const broken = (path: string, text: string) => brokenReferences({ path, text }, repository);
  assert.deepEqual(broken("engine/a.ts", "// see docs/a/b.md#one-two-1, docs/a/b.md."), []);
  assert.deepEqual(broken("engine/a.ts", "// https://example.com/docs/none.md"), []);
  assert.deepEqual(broken("engine/a.ts", "// see docs/b.md"), ["engine/a.ts: docs/b.md"]);
  assert.deepEqual(broken("engine/a.ts", '"docs/a/b.md#no-heading"'), [
    "engine/a.ts: docs/a/b.md#no-heading",
  ]);
  assert.deepEqual(broken("docs/a/b.md", "[code](../../engine/a.ts) [above](#one-two)"), []);
  assert.deepEqual(broken("docs/a/b.md", "[code](../engine/a.ts) [above](#one)"), [
    "docs/a/b.md: docs/engine/a.ts",
    "docs/a/b.md: docs/a/b.md#one",
  ]);
});

test("headings get GitHub's anchors", () => {
  assert.deepEqual(
    [...anchorsOf("# The caller's `turn`: ends\n## Twice\n## Twice\n## A [link](x.md)")],
    ["the-callers-turn-ends", "twice", "twice-1", "a-link"],
  );
});
