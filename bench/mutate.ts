import { cpSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { thisMachine } from "./machine.js";
import { CompiledTree } from "./mutation/compiled-tree.js";
import { type Trial, tryMutant } from "./mutation/mutant-trial.js";
import { describeMutant, killRate, mutationReport, survivors } from "./mutation/mutation-report.js";
import { type Mutant, sampleMutants } from "./mutation/sampled-mutants.js";
import { SYSTEM_TESTS, TestChoice, UNIT_TESTS } from "./mutation/test-choice.js";

/**
 * Makes small faults in the compiled modules and says which ones no test notices. Each worker has a copy of the build beside
 * it; `bench/results/mutation.md` is written with `--write`.
 */
const { values } = parseArgs({
  options: {
    files: { type: "string", default: "engine,storage" },
    sample: { type: "string", default: "200" },
    seed: { type: "string", default: "1" },
    minutes: { type: "string", default: "8" },
    workers: { type: "string", default: "2" },
    write: { type: "boolean", default: false },
  },
});
const BUILD = fileURLToPath(new URL("../", import.meta.url));
const REPORT = join(BUILD, "../bench/results/mutation.md");
/** The sandbox is no part of the product; the simulators are judged by the vendors' own clients. */
const NOT_MUTATED = ["engine/sandbox/"];

const seed = Number(values.seed);
const machine = thisMachine();
const beganAtMs = performance.now();
const limitMs = Number(values.minutes) * 60_000;
const builds = Array.from({ length: Number(values.workers) }, (_, n) =>
  join(BUILD, `../dist-mutants-${n}`),
);
const tree = new CompiledTree(BUILD, ["engine", "storage", "api", "test"]);
const prefixes = values.files.split(",");
const paths = tree.paths
  .filter((path) => prefixes.some((prefix) => path.startsWith(prefix)))
  .filter((path) => !NOT_MUTATED.some((folder) => path.startsWith(folder)))
  .filter((path) => !path.startsWith("test/"));
const mutants = sampleMutants(tree, paths, Number(values.sample), seed);
const choice = new TestChoice(tree);
const trials = new Map<Mutant, Trial>();

try {
  for (const build of builds) cpSync(BUILD, build, { recursive: true });
  await measure(mutants, UNIT_TESTS);
  await tryAll(mutants, UNIT_TESTS);
  const lived = survivors([...trials.values()]).map(({ mutant }) => mutant);
  await measure(lived, SYSTEM_TESTS);
  await tryAll(lived, SYSTEM_TESTS);
} finally {
  for (const build of builds) rmSync(build, { recursive: true, force: true });
}

const tried = [...trials.values()];
for (const trial of survivors(tried)) console.log(`lived: ${describeMutant(trial)}`);
console.log(`${killRate(tried).toFixed(1)} % of the valid ones of ${tried.length} mutants died`);
if (values.write) {
  const command = ["npm run mutate --", ...process.argv.slice(2)].join(" ");
  const date = new Date().toISOString().slice(0, 10);
  const untriedCount = mutants.length - tried.length;
  const leftOutTests = choice.leftOut;
  writeFileSync(
    REPORT,
    mutationReport({ command, date, machine, seed, trials: tried, untriedCount, leftOutTests }),
  );
}

async function measure(of: readonly Mutant[], folders: readonly string[]): Promise<void> {
  const tests = choice.candidates(of, folders);
  console.log(`${tests.length} test files are run without a mutant`);
  await inEachBuild(tests, async (test, build) => {
    if (performance.now() < untilOf(folders)) await choice.measure(test, of, build);
  });
}

/** What no unit test notices is left to the tests of the whole server, so the second try counts. */
async function tryAll(of: readonly Mutant[], folders: readonly string[]): Promise<void> {
  let count = 0;
  await inEachBuild(of, async (mutant, build) => {
    if (performance.now() > untilOf(folders)) return;
    const trial = await tryMutant(mutant, choice, folders, build);
    trials.set(mutant, trial);
    count += 1;
    for (const survivor of survivors([trial])) console.log(`so far: ${describeMutant(survivor)}`);
    if (count % 20 === 0) console.log(`${count} of ${of.length} tried`);
  });
}

/** The tests of the whole server have the last quarter of the time. */
function untilOf(folders: readonly string[]): number {
  return beganAtMs + (folders === UNIT_TESTS ? limitMs * 0.75 : limitMs);
}

/** Each build takes the next item when it is done with one. */
async function inEachBuild<Item>(
  items: readonly Item[],
  work: (item: Item, build: string) => Promise<void>,
): Promise<void> {
  const waiting = [...items];
  await Promise.all(
    builds.map(async (build) => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        await work(next, build);
      }
    }),
  );
}
