import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { CompiledTree } from "../../../bench/mutation/compiled-tree.js";
import { executedOffsets, isExecuted } from "../../../bench/mutation/executed-ranges.js";
import { tryMutant } from "../../../bench/mutation/mutant-trial.js";
import { changesOf } from "../../../bench/mutation/mutator.js";
import { PlainRuns } from "../../../bench/mutation/plain-runs.js";
import type { Mutant } from "../../../bench/mutation/sampled-mutants.js";
import { type Breadth, TestChoice } from "../../../bench/mutation/test-choice.js";
import { runTests } from "../../../bench/mutation/test-process.js";

const MODULE = `export const two = () => 1 + 1;
export const six = () => 2 * 3;
export const never = () => 4 - 4;
`;
const TWO = "test/engine/numbers.test.js";
const SIX = "test/engine/later/six.test.js";
const ZERO = "test/postgres-system/zero.test.js";
const ENTRY = new URL("../../../bench/mutation/tests-in-turn.js", import.meta.url).href;
const FILES = {
  "package.json": '{"type":"module"}',
  "bench/mutation/tests-in-turn.js": `import "${ENTRY}";`,
  "engine/numbers.js": MODULE,
  [TWO]: testOf("../../engine/numbers.js", "two", 2),
  [SIX]: testOf("../../../engine/numbers.js", "six", 6),
  [ZERO]: testOf("../../engine/numbers.js", "never", 0),
  "test/engine/later/other.test.js": testOf("../../../engine/numbers.js", "two", 2),
};

function testOf(module: string, name: string, value: number): string {
  return `import { test } from "node:test";
import { ${name} } from "${module}";
test("${name}", () => { if (${name}() !== ${value}) throw new Error("wrong"); });
`;
}

function smallBuild(context: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "parley-build-"));
  context.after(() => rmSync(folder, { recursive: true }));
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(join(folder, dirname(path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

function mutantsOf(): readonly Mutant[] {
  const place = { path: "engine/numbers.js", sourcePath: "engine/numbers.ts", line: 1, code: "" };
  const changes = changesOf(MODULE).filter(({ operator }) => operator === "arithmetic");
  return changes.map((change) => ({ ...place, change, original: "", twinIndex: 0 }));
}

test("a mutant is tried with the tests that execute its place, and what they execute is known the next time", async (context) => {
  const buildFolder = smallBuild(context);
  const mutants = mutantsOf();
  const runsOf = () =>
    new PlainRuns(
      new CompiledTree(buildFolder, ["engine", "test"]),
      mutants,
      join(buildFolder, "kept"),
    );
  const runs = runsOf();
  const choice = new TestChoice(new CompiledTree(buildFolder, ["engine", "test"]), runs, false);
  const limits = { breadth: "parts", buildFolder, isTimeOver: () => false } as const;
  const fates: string[] = [];
  for (const mutant of mutants) {
    const trial = await tryMutant(mutant, { choice, ...limits });
    fates.push(`${mutant.change.replacement} ${trial?.fate} ${trial?.by}`);
  }
  assert.deepEqual(fates, [`- killed ${TWO}`, `/ killed ${SIX}`, "+ unreached undefined"]);
  assert.deepEqual(runs.leftOut, []);
  const later = runsOf();
  assert.deepEqual(later.known(SIX)?.reached, runs.known(SIX)?.reached);
  assert.equal(later.known(SIX)?.reached.size, 1);
  writeFileSync(join(buildFolder, "engine/numbers.js"), `${MODULE}// another\n`);
  assert.equal(runsOf().known(SIX), undefined);
});

test("tests with PostgreSQL are asked where it is installed, among those that start much", async (context) => {
  const buildFolder = smallBuild(context);
  const mutants = mutantsOf();
  const mutant = mutants.at(-1);
  assert.ok(mutant);
  const tree = new CompiledTree(buildFolder, ["engine", "test"]);
  const runs = new PlainRuns(tree, mutants, join(buildFolder, "kept"));
  const fateOf = async (breadth: Breadth, hasPostgres: boolean) => {
    const choice = new TestChoice(tree, runs, hasPostgres);
    const limits = { breadth, buildFolder, isTimeOver: () => false };
    const trial = await tryMutant(mutant, { choice, ...limits });
    return [trial?.fate, trial?.by];
  };
  assert.deepEqual(await fateOf("parts", true), ["unreached", undefined]);
  assert.deepEqual(await fateOf("wholeServer", false), ["unreached", undefined]);
  assert.deepEqual(await fateOf("wholeServer", true), ["killed", ZERO]);
});

test("files run one after the other, and the first that fails or hangs is named", async (context) => {
  const folder = smallBuild(context);
  const coverage = join(folder, "coverage");
  const both = [TWO, SIX].map((path) => ({ path, timeoutMs: 30_000 }));
  assert.deepEqual(await runTests(folder, both, coverage), { kind: "passed", by: undefined });
  const executed = executedOffsets(coverage, folder);
  const isRun = (text: string) => isExecuted(executed, "engine/numbers.js", MODULE.indexOf(text));
  assert.deepEqual([isRun("1 + 1"), isRun("2 * 3"), isRun("4 - 4")], [true, true, false]);
  assert.equal(isExecuted(executed, "engine/other.js", 0), false);
  const change = (text: string, other: string) =>
    writeFileSync(join(folder, "engine/numbers.js"), MODULE.replace(text, other));
  change("2 * 3", "7");
  assert.deepEqual(await runTests(folder, both), { kind: "failed", by: SIX });
  change("2 * 3", "{ for (;;); }");
  const soon = both.map((one, index) => (index === 1 ? { ...one, timeoutMs: 300 } : one));
  assert.deepEqual(await runTests(folder, soon), { kind: "timedOut", by: SIX });
});
