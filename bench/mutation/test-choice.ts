import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CompiledTree } from "./compiled-tree.js";
import { ExecutedRanges } from "./executed-ranges.js";
import type { Mutant } from "./sampled-mutants.js";
import { runTestFile } from "./test-process.js";

/** A slower file tells nothing about one line. */
const NORMAL_RUN_MAX_MS = 60_000;
/** What all test files for one mutant may take together, when they pass. */
const MUTANT_TESTS_MAX_MS = 20_000;
/** A test that takes so much longer is asked as if it were one import further away. */
const MS_PER_DISTANCE = 500;

export const UNIT_TESTS = ["test/engine/", "test/storage/", "test/api/", "test/simulation/"];
export const SYSTEM_TESTS = ["test/system/"];

interface ReachingTest {
  readonly path: string;
  readonly distance: number;
  readonly normalMs: number;
}

/** Which test files execute the place of a mutant, by a run of each of them without any mutant. */
export class TestChoice {
  /** Test files that failed or were too slow without a mutant, so they are not asked. */
  readonly leftOut: string[] = [];
  readonly #tree: CompiledTree;
  readonly #reaching = new Map<Mutant, ReachingTest[]>();

  constructor(tree: CompiledTree) {
    this.#tree = tree;
  }

  /** The test files of some folders that load the modules of the mutants. */
  candidates(mutants: readonly Mutant[], folders: readonly string[]): readonly string[] {
    const loaders = new Set(
      [...new Set(mutants.map(({ path }) => path))].flatMap((path) => [
        ...this.#tree.distancesTo(path).keys(),
      ]),
    );
    return [...loaders]
      .filter((path) => path.endsWith(".test.js"))
      .filter((path) => isIn(path, folders))
      .sort();
  }

  /** Runs a test file in a build without mutants, and remembers whose places it executed. */
  async measure(testPath: string, mutants: readonly Mutant[], buildFolder: string): Promise<void> {
    const coverageFolder = mkdtempSync(join(tmpdir(), "parley-mutants-"));
    try {
      const beganAtMs = performance.now();
      const outcome = await runTestFile(buildFolder, testPath, NORMAL_RUN_MAX_MS, coverageFolder);
      const normalMs = performance.now() - beganAtMs;
      if (outcome !== "passed") {
        this.leftOut.push(`${testPath} (${outcome})`);
        return;
      }
      const ranges = new ExecutedRanges(coverageFolder, buildFolder);
      for (const mutant of mutants) {
        if (!ranges.has(mutant.path, mutant.change.start)) continue;
        const distance = this.#tree.distancesTo(mutant.path).get(testPath) ?? Infinity;
        const reached = this.#reaching.get(mutant) ?? [];
        this.#reaching.set(mutant, [...reached, { path: testPath, distance, normalMs }]);
      }
    } finally {
      rmSync(coverageFolder, { recursive: true, force: true });
    }
  }

  /** The files of some folders that may kill a mutant: its mirrored test, then the nearest and quickest. */
  testsOf(mutant: Mutant, folders: readonly string[]): readonly ReachingTest[] {
    const mirrored = `test/${mutant.path.replace(/\.js$/, ".test.js")}`;
    const cost = ({ path, distance, normalMs }: ReachingTest) =>
      path === mirrored ? 0 : distance + normalMs / MS_PER_DISTANCE;
    const nearest = (this.#reaching.get(mutant) ?? [])
      .filter(({ path }) => isIn(path, folders))
      .sort((one, other) => cost(one) - cost(other));
    let sumMs = 0;
    return nearest.filter(({ normalMs }, index) => {
      sumMs += normalMs;
      return index === 0 || sumMs <= MUTANT_TESTS_MAX_MS;
    });
  }
}

function isIn(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => path.startsWith(folder));
}
