import assert from "node:assert/strict";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { CompiledTree } from "../../../bench/mutation/compiled-tree.js";
import { tryMutant } from "../../../bench/mutation/mutant-trial.js";
import { changesOf } from "../../../bench/mutation/mutator.js";
import { PlainRuns } from "../../../bench/mutation/plain-runs.js";
import type { Mutant } from "../../../bench/mutation/sampled-mutants.js";
import { SwitchedBuild } from "../../../bench/mutation/switched-build.js";
import { type Breadth, TestChoice } from "../../../bench/mutation/test-choice.js";
import { TestStand } from "../../../bench/mutation/test-stand.js";

const MODULE = `export const two = () => 1 + 1;
export const six = () => 2 * 3;
export const never = () => 4 - 4;
export const LIMIT = 5 + 5;
export function until(end) { let at = 0; while (at < end) at += 1; return at; }
`;
const PATH = "engine/numbers.js";
const TWO = "test/engine/numbers.test.js";
const SIX = "test/engine/later/six.test.js";
const UNTIL = "test/engine/later/until.test.js";
const ZERO = "test/postgres-system/zero.test.js";
const FILES = {
  "package.json": '{"type":"module"}',
  [PATH]: MODULE,
  [TWO]: testOf("../../engine/numbers.js", "two() + LIMIT", 12),
  [SIX]: testOf("../../../engine/numbers.js", "six()", 6),
  [UNTIL]: testOf("../../../engine/numbers.js", "until(3)", 3),
  [ZERO]: testOf("../../engine/numbers.js", "never()", 0),
};
/** What a build has of its own for its tests. */
const BUILD = fileURLToPath(new URL("../../../", import.meta.url));
const OF_THE_BUILD = [
  "bench/mutation/asked-tests.js",
  "bench/mutation/mutant-switch.js",
  "test/late-optimization.js",
  "test/sequential-tests.js",
  "test/file-claims.js",
  "test/shared-process.js",
  "test/file-costs.js",
];

function testOf(module: string, expression: string, value: number): string {
  return `import { test } from "node:test";
import { two, six, never, LIMIT, until } from "${module}";
test("counts", () => { if (${expression} !== ${value}) throw new Error("wrong"); });
`;
}

const place = { path: PATH, sourcePath: "engine/numbers.ts", line: 1, code: "" };
const mutants: readonly Mutant[] = changesOf(MODULE)
  .filter(({ operator }) => ["arithmetic", "condition"].includes(operator))
  .map((change) => ({ ...place, change, original: "", twinIndex: 0 }));
const numberOf = (text: string, replacement: string) =>
  mutants.findIndex(
    ({ change }) => change.start >= MODULE.indexOf(text) && change.replacement === replacement,
  );

describe("mutants of a small build", () => {
  const folder = mkdtempSync(join(tmpdir(), "parley-build-"));
  const source = join(folder, "source");
  let build: SwitchedBuild;
  let stand: TestStand;
  let tree: CompiledTree;
  const runs = new PlainRuns();
  before(() => {
    for (const [path, text] of Object.entries(FILES)) {
      mkdirSync(join(source, dirname(path)), { recursive: true });
      writeFileSync(join(source, path), text);
    }
    for (const path of OF_THE_BUILD) cpSync(join(BUILD, path), join(source, path));
    symlinkSync(join(BUILD, "../node_modules"), join(folder, "node_modules"));
    tree = new CompiledTree(source, ["engine", "test"]);
    build = new SwitchedBuild(tree, source, join(folder, "mutants"), mutants);
    stand = new TestStand(build);
  });
  after(() => {
    stand.end();
    rmSync(folder, { recursive: true });
  });

  async function fateOf(number: number, breadth: Breadth = "parts", hasPostgres = false) {
    const mutant = mutants[number];
    assert.ok(mutant);
    const choice = new TestChoice(tree, runs, hasPostgres);
    const isTimeOver = () => false;
    const trial = await tryMutant(mutant, number, { choice, runs, stand, breadth, isTimeOver });
    assert.deepEqual(runs.leftOut, []);
    return [trial?.fate, trial?.by];
  }

  test("a mutant dies by the test that executes its place", async () => {
    assert.deepEqual(await fateOf(numberOf("1 + 1", "-")), ["killed", TWO]);
    assert.deepEqual(await fateOf(numberOf("2 * 3", "/")), ["killed", SIX]);
    assert.deepEqual(await fateOf(numberOf("4 - 4", "+")), ["unreached", undefined]);
  });

  test("what a module does while it is loaded is tried in a process that begins with it", async () => {
    assert.deepEqual(await fateOf(numberOf("5 + 5", "-")), ["killed", TWO]);
  });

  test("a test that never ends is ended, and the next mutant is tried", async () => {
    assert.deepEqual(await fateOf(numberOf("at += 1", "-=")), ["timedOut", UNTIL]);
    assert.deepEqual(await fateOf(numberOf("at < end", "false")), ["killed", UNTIL]);
  });

  test("tests with PostgreSQL are asked where it is installed, among those that start much", async () => {
    const number = numberOf("4 - 4", "+");
    assert.deepEqual(await fateOf(number, "parts", true), ["unreached", undefined]);
    assert.deepEqual(await fateOf(number, "everything", false), ["unreached", undefined]);
    assert.deepEqual(await fateOf(number, "everything", true), ["killed", ZERO]);
  });

  test("a try whose time is over tells nothing", async () => {
    const [mutant] = mutants;
    assert.ok(mutant);
    const choice = new TestChoice(tree, runs, false);
    const limits = { choice, runs, stand, breadth: "parts", isTimeOver: () => true } as const;
    assert.equal(await tryMutant(mutant, 0, limits), undefined);
  });
});
