import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { CompiledTree } from "../../../../bench/mutation/compiled-tree.js";
import { EQUIVALENT } from "../../../../bench/mutation/equivalents/equivalent-mutants.js";
import { changesOf } from "../../../../bench/mutation/mutator.js";

const BUILD = fileURLToPath(new URL("../../../../", import.meta.url));
const tree = new CompiledTree(BUILD, ["engine", "storage"]);

/** An entry that has outlived its line could excuse a fault that somebody makes there later. */
test("every mutant that is said to be equivalent can still be made", () => {
  for (const { sourcePath, code, original, replacement } of EQUIVALENT) {
    const path = sourcePath.replace(/\.ts$/, ".js");
    assert.ok(tree.paths.includes(path), `${sourcePath} is not there any more`);
    const source = tree.source(path);
    const isThere = changesOf(source).some((change) => {
      const lineBegan = source.lastIndexOf("\n", change.start - 1) + 1;
      const line = source.slice(lineBegan).split("\n", 1)[0]?.trim();
      const replaced = source.slice(change.start, change.end);
      return line === code && replaced === original && change.replacement === replacement;
    });
    assert.ok(isThere, `${sourcePath}: ${original} → ${replacement} in ${code}`);
  }
});
