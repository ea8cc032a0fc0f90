import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { test } from "node:test";
import { BLOCKS_NOT_RUN, isNotRun } from "./blocks-not-run.js";
import { LANGUAGES, type Language, ROOT, readPages } from "./pages.js";
import { expectPrinted } from "./printed-lines.js";

const README_WORDS_MAX = 1_200;
const LINE_CHARACTERS_MAX = 120;
/** What others write, and what is printed, is as long as it is. */
const LONG_LINES: readonly Language[] = ["ini", "nginx", "output"];

const PAGES = readPages();
const BLOCKS = PAGES.flatMap(({ blocks }) => blocks);

test("the pages are read", () => {
  assert.ok(PAGES.length > 15 && BLOCKS.length > 40, `${PAGES.length}, ${BLOCKS.length}`);
});

test("every fence says its language, and shell commands are called sh", () => {
  const strange = BLOCKS.filter(({ language }) => !LANGUAGES.some((known) => known === language));
  assert.deepEqual(
    strange.map(({ place }) => place),
    [],
  );
  for (const { path, text, blocks } of PAGES) {
    assert.equal(text.match(/^\s*(?:```|~~~)/gm)?.length ?? 0, 2 * blocks.length, path);
  }
});

test("every page with commands has a test that runs them", () => {
  for (const { path, blocks } of PAGES) {
    if (blocks.every((block) => block.language !== "sh" || isNotRun(block))) continue;
    const name = basename(path, ".md").toLowerCase();
    const file = join(ROOT, "test/docs-system", `${name}.test.ts`);
    assert.ok(existsSync(file), `${file} is missing`);
    assert.ok(readFileSync(file, "utf8").includes(`testCommandsOf("${path}")`), file);
  }
});

test("what is said not to be run is on some page, word by word", () => {
  const shell = BLOCKS.filter(({ language }) => language === "sh");
  const commands = new Set(shell.map(({ text }) => text));
  const gone = BLOCKS_NOT_RUN.filter(({ text }) => !commands.has(text));
  assert.deepEqual(gone, []);
});

test("README.md is read in some minutes", () => {
  const words = PAGES.find(({ path }) => path === "README.md")?.text.split(/\s+/) ?? [];
  assert.ok(words.length > 100 && words.length <= README_WORDS_MAX, `${words.length} words`);
});

test("lines are short enough to read", () => {
  for (const { path, text, blocks } of PAGES) {
    const long = blocks.filter(({ language }) => LONG_LINES.some((each) => each === language));
    const read = long.reduce((rest, block) => rest.replace(block.text, ""), text);
    const lines = read.split("\n").filter((line) => !line.startsWith("|"));
    assert.deepEqual(
      lines.filter((line) => line.length > LINE_CHARACTERS_MAX),
      [],
      path,
    );
  }
});

test("the index of the documentation links every page", () => {
  const index = PAGES.find(({ path }) => path === "docs/README.md")?.text ?? "";
  const pages = PAGES.map(({ path }) => path.replace("docs/", "")).filter(
    (path) => path !== "README.md",
  );
  assert.deepEqual(
    pages.filter((path) => !index.includes(`](${path})`)),
    [],
  );
});

test("printed lines are looked for in their order, whole but for what is left open", () => {
  expectPrinted("one\ntwo three\nfour", "one\ntwo …\nfour");
  expectPrinted("a (1)\nb", "…(1)");
  for (const [printed, expected] of [
    ["one\ntwo", "two\none"],
    ["eleven", "even"],
    ["one two", "one"],
  ] as const) {
    assert.throws(() => expectPrinted(printed, expected), /printed no further line/);
  }
});
