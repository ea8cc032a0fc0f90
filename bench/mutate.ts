import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { thisMachine } from "./machine.js";
import { CompiledTree } from "./mutation/compiled-tree.js";
import { type Trial, tryMutant } from "./mutation/mutant-trial.js";
import {
  describeMutant,
  killRate,
  mutationReport,
  named,
  survivors,
} from "./mutation/mutation-report.js";
import { PlainRuns } from "./mutation/plain-runs.js";
import { type Mutant, sampleMutants } from "./mutation/sampled-mutants.js";
import { SwitchedBuild } from "./mutation/switched-build.js";
import { type Breadth, TestChoice } from "./mutation/test-choice.js";
import { TestStand } from "./mutation/test-stand.js";
import { PostgresCluster } from "./stand/postgres-cluster.js";

/**
 * Makes small faults in the compiled modules and says which ones no test notices. Each worker has a copy of the build beside
 * it; `bench/results/mutation.md` is written with `--write`. `--again FILE` tries those alone that a report names, wherever
 * their lines are now. With `--parts` no test of the whole server is asked, so that hundreds of mutants take minutes and some
 * are said to live that would not.
 */
const { values } = parseArgs({
  options: {
    files: { type: "string", default: "engine,storage" },
    sample: { type: "string", default: "200" },
    seed: { type: "string", default: "1" },
    minutes: { type: "string", default: "8" },
    workers: { type: "string", default: "2" },
    again: { type: "string" },
    parts: { type: "boolean", default: false },
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
const tree = new CompiledTree(BUILD, [
  "main.js",
  "parley.js",
  "config.js",
  "engine",
  "storage",
  "api",
  "test",
]);
const prefixes = values.files.split(",");
const paths = tree.paths
  .filter((path) => prefixes.some((prefix) => path.startsWith(prefix)))
  .filter((path) => !NOT_MUTATED.some((folder) => path.startsWith(folder)))
  .filter((path) => !path.startsWith("test/"));
const mutants =
  values.again === undefined
    ? sampleMutants(tree, paths, Number(values.sample), seed)
    : named(
        sampleMutants(tree, paths, Number.POSITIVE_INFINITY, seed),
        readFileSync(values.again, "utf8"),
      );
const numbers = new Map(mutants.map((mutant, number) => [mutant, number]));
const runs = new PlainRuns();
const hasPostgres = PostgresCluster.isInstalled();
const choice = new TestChoice(tree, runs, hasPostgres);
const trials = new Map<Mutant, Trial>();
/** Those that no test of the whole server could be asked about. */
let unaskedCount = 0;

const builds = Array.from(
  { length: Number(values.workers) },
  (_, n) => new SwitchedBuild(tree, BUILD, join(BUILD, `../dist-mutants-${n}`), mutants),
);
const stands = builds.map((build) => new TestStand(build));

try {
  await tryAll(mutants, "parts");
  const lived = survivors([...trials.values()]).map(({ mutant }) => mutant);
  unaskedCount = lived.length - (values.parts ? 0 : await tryAll(lived, "everything"));
} finally {
  for (const stand of stands) stand.end();
  for (const build of builds) build.remove();
}

const tried = [...trials.values()];
const untriedCount = mutants.length - tried.length;
for (const trial of survivors(tried)) console.log(`lived: ${describeMutant(trial)}`);
console.log(`${killRate(tried).toFixed(1)} % of the valid ones of ${tried.length} mutants died`);
console.log(
  `untried: ${untriedCount}; lived without the tests of the whole server: ${unaskedCount}`,
);
if (values.write) {
  const command = ["npm run mutate --", ...process.argv.slice(2)].join(" ");
  const date = new Date().toISOString().slice(0, 10);
  const left = { untriedCount, unaskedCount, hasPostgres, leftOutTests: runs.leftOut };
  writeFileSync(REPORT, mutationReport({ command, date, machine, seed, trials: tried, ...left }));
}

/** What no test of a part notices is left to the tests of the whole server, so the second try counts. Says how many it tried. */
async function tryAll(of: readonly Mutant[], breadth: Breadth): Promise<number> {
  let count = 0;
  const isTimeOver = () => performance.now() > untilOf(breadth);
  await onEachStand(of, async (mutant, stand) => {
    const number = numbers.get(mutant);
    if (number === undefined || isTimeOver()) return;
    const earlier = trials.get(mutant);
    const place = { choice, runs, breadth, stand, isTimeOver, earlier };
    const trial = await tryMutant(mutant, number, place);
    if (trial === undefined) return;
    trials.set(mutant, trial);
    count += 1;
    for (const survivor of survivors([trial])) console.log(`so far: ${describeMutant(survivor)}`);
    if (count % 20 === 0) console.log(`${count} of ${of.length} tried`);
  });
  return count;
}

/** The tests of the whole server, where they are asked, have the last quarter of the time. */
function untilOf(breadth: Breadth): number {
  return beganAtMs + (breadth === "parts" && !values.parts ? limitMs * 0.75 : limitMs);
}

/** Each stand takes the next item when it is done with one. */
async function onEachStand<Item>(
  items: readonly Item[],
  work: (item: Item, stand: TestStand) => Promise<void>,
): Promise<void> {
  const waiting = [...items];
  await Promise.all(
    stands.map(async (stand) => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        await work(next, stand);
      }
    }),
  );
}
