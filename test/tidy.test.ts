import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { engineStairs } from "./tidy/engine-stairs.js";
import {
  builtinPrefix,
  importDirection,
  noImportCircle,
  ownedPackages,
  sandboxStaysOutside,
  transitionIsPure,
} from "./tidy/import-rules.js";
import {
  describeFault,
  type FileRule,
  type SourceFile,
  type TreeRule,
} from "./tidy/source-file.js";
import {
  bannedTexts,
  fileNames,
  listenersTakenOff,
  PLACES_OF_TIME,
  timeAndChance,
  wakefulTests,
  wholeTests,
} from "./tidy/text-rules.js";
import { topLevel } from "./tidy/tree-rules.js";

const FILE_RULES: Readonly<Record<string, FileRule>> = {
  "imports point from main over api and engine to storage": importDirection,
  "imports inside the engine go down its stairs": engineStairs,
  "a package is imported only where it belongs": ownedPackages,
  "modules of Node are imported with their prefix": builtinPrefix,
  "the product does not know the sandbox": sandboxStaysOutside,
  "files are named for what they hold": fileNames,
  "time, chance and environment are arguments": timeAndChance,
  "nothing stands in the source that should not": bannedTexts,
  "who listens to a signal takes its listener off": listenersTakenOff,
  "no test is left out": wholeTests,
  "no test sleeps": wakefulTests,
};

const TREE_RULES: Readonly<Record<string, TreeRule>> = {
  "no files of the product import each other in a circle": noImportCircle,
  "the conversation's transition is pure with all that it reaches": transitionIsPure,
};

/** Builds lie at different depths, so the root is where package.json is. */
function rootFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, "package.json"))) {
    const parent = dirname(folder);
    assert.notEqual(parent, folder, "no package.json above this test");
    folder = parent;
  }
  return folder;
}

const ROOT = rootFolder();
const SOURCE_PLACES = [
  "main.ts",
  "parley.ts",
  "config.ts",
  "api",
  "deploy/livestream/front/site",
  "engine",
  "storage",
  "bench",
  "test",
];

function readTree(): readonly SourceFile[] {
  return SOURCE_PLACES.filter((place) => existsSync(join(ROOT, place)))
    .flatMap((place) =>
      place.endsWith(".ts")
        ? [place]
        : readdirSync(join(ROOT, place), { recursive: true, encoding: "utf8" }).map(
            (path) => `${place}/${path.replaceAll("\\", "/")}`,
          ),
    )
    .filter((path) => /\.tsx?$/.test(path))
    .map((path) => ({ path, text: readFileSync(join(ROOT, path), "utf8") }));
}

const TREE = readTree();

test("the tree is read", () => {
  assert.ok(TREE.length > 50, `${TREE.length} files in ${ROOT}`);
});

for (const [title, rule] of Object.entries(FILE_RULES)) {
  test(title, () => assert.deepEqual(TREE.flatMap(rule).map(describeFault), []));
}

for (const [title, rule] of Object.entries(TREE_RULES)) {
  test(title, () => assert.deepEqual(rule(TREE).map(describeFault), []));
}

test("the root holds the folders of the design and no others", () => {
  const names = readdirSync(ROOT, { withFileTypes: true }).map((entry) =>
    entry.isDirectory() ? `${entry.name}/` : entry.name,
  );
  assert.deepEqual(topLevel(names).map(describeFault), []);
});

test("the linter allows clocks in the same places as this test", () => {
  const settings = readFileSync(join(ROOT, ".oxlintrc.json"), "utf8");
  const listed = PLACES_OF_TIME.map((place) => (place.endsWith("/") ? `${place}**` : place));
  const expected = JSON.stringify(listed).replace(/\s/g, "");
  assert.ok(settings.replace(/\s/g, "").includes(`"files":${expected}`));
});
