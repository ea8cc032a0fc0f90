import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { CompiledTree } from "../../../bench/mutation/compiled-tree.js";
import { describeMutant, named } from "../../../bench/mutation/mutation-report.js";
import { type Mutant, sampleMutants } from "../../../bench/mutation/sampled-mutants.js";

const PATH = "engine/numbers.js";
const MODULE = `export const two = (a) => a + 1;
export const six = (a, b) => a * 2 + b * 2;
export const more = (a) => a > 6 && a < 9;
`;
const LATER = `// A line that was not there.\nexport const one = () => 1 - 0;\n${MODULE}`;
const MAP = JSON.stringify({ version: 3, file: "", sources: [""], names: [], mappings: "AAAA" });
const SEED = 3;

/** The first mutants of a module, in the order of their ranks. */
function sample(context: TestContext, source: string, size: number): readonly Mutant[] {
  const folder = mkdtempSync(join(tmpdir(), "parley-sample-"));
  context.after(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, "engine"));
  writeFileSync(join(folder, PATH), source);
  writeFileSync(join(folder, `${PATH}.map`), MAP);
  return sampleMutants(new CompiledTree(folder, ["engine"]), [PATH], size, SEED);
}

const withoutLine = (mutant: Mutant) =>
  describeMutant({ mutant, fate: "survived" }).replace(/:\d+ /, " ");

test("a sample stays the same when other lines of a module change", (context) => {
  const before = sample(context, MODULE, Infinity).map(withoutLine);
  const later = sample(context, LATER, Infinity).map(withoutLine);
  assert.deepEqual(
    later.filter((mutant) => !mutant.includes("one = ")),
    before,
  );
  assert.deepEqual(sample(context, MODULE, 4).map(withoutLine), before.slice(0, 4));
});

test("what a report names is found again on whatever line it is now", (context) => {
  const lived = sample(context, MODULE, 5).filter(({ code }) => !code.includes("six"));
  assert.ok(lived.length > 0);
  const report = lived.map((mutant) => {
    const fate = mutant.code.includes("two") ? "unreached" : "survived";
    return `- ${describeMutant({ mutant, fate })}`;
  });
  const found = named(sample(context, LATER, Infinity), `# A run\n\n${report.join("\n")}\n`);
  assert.deepEqual(found.map(withoutLine).sort(), lived.map(withoutLine).sort());
});
