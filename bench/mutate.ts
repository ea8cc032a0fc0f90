import { cpSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
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
const endsAtMs = performance.now() + Number(values.minutes) * 60_000;
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
const trials: Trial[] = [];

try {
  for (const build of builds) cpSync(BUILD, build, { recursive: true });
  await measure(mutants, UNIT_TESTS);
  const unreached = mutants.filter((mutant) => choice.testsOf(mutant).length === 0);
  if (unreached.length > 0) await measure(unreached, SYSTEM_TESTS);
  await inEachBuild(mutants, async (mutant, build) => {
    if (performance.now() > endsAtMs) return;
    const trial = await tryMutant(mutant, choice, build);
    trials.push(trial);
    for (const survivor of survivors([trial])) console.log(`lived: ${describeMutant(survivor)}`);
    if (trials.length % 20 === 0) console.log(`${trials.length} of ${mutants.length} tried`);
  });
} finally {
  for (const build of builds) rmSync(build, { recursive: true, force: true });
}

console.log(`${killRate(trials).toFixed(1)} % of the valid ones of ${trials.length} mutants died`);
if (values.write) {
  const command = ["npm run mutate --", ...process.argv.slice(2)].join(" ");
  const date = new Date().toISOString().slice(0, 10);
  const untriedCount = mutants.length - trials.length;
  const leftOutTests = choice.leftOut;
  writeFileSync(
    REPORT,
    mutationReport({ command, date, seed, trials, untriedCount, leftOutTests }),
  );
}

async function measure(of: readonly Mutant[], folders: readonly string[]): Promise<void> {
  const tests = choice.candidates(of, folders);
  console.log(`${tests.length} test files are run without a mutant`);
  await inEachBuild(tests, (test, build) => choice.measure(test, of, build));
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
