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
const MUTANT_TESTS_MAX_MS: Readonly<Record<Breadth, number>> = {
  parts: 20_000,
  wholeServer: 60_000,
};
/** A test that has a word of the module in its path is asked as if it were so many imports nearer. */
const DISTANCE_PER_WORD = 2;
/** A test that takes so much longer is asked as if it were one import further away. */
const MS_PER_DISTANCE = 500;

/** Tests of these folders say what the product does; the others are about tools, documents and other programs. */
const TEST_FOLDERS = [
  "test/engine/",
  "test/storage/",
  "test/api/",
  "test/simulation/",
  "test/system/",
];
/** Whoever loads one of them starts the whole server, which takes seconds and executes a little of everything. */
const SERVER_STARTERS = ["test/system/test-server.js", "test/system/server-process.js"];

/** Which tests are asked: those of parts alone, or those that start the whole server. */
export type Breadth = "parts" | "wholeServer";

export interface ReachingTest {
  readonly path: string;
  readonly normalMs: number;
}

export interface ChoiceLimits {
  readonly breadth: Breadth;
  /** A build that nobody else uses meanwhile. */
  readonly buildFolder: string;
  readonly isTimeOver: () => boolean;
}

/** What a test file does without any mutant. */
interface PlainRun {
  readonly normalMs: number;
  readonly reached: ReadonlySet<Mutant>;
}

/** Which test files execute the place of a mutant. Each file is run without a mutant when it is first thought of. */
export class TestChoice {
  /** Test files that failed or were too slow without a mutant, so they are not asked. */
  readonly leftOut: string[] = [];
  readonly #tree: CompiledTree;
  readonly #mutants: readonly Mutant[];
  readonly #runs = new Map<string, Promise<PlainRun | undefined>>();
  readonly #normalMs = new Map<string, number>();
  readonly #serverTests: ReadonlySet<string>;

  constructor(tree: CompiledTree, mutants: readonly Mutant[]) {
    this.#tree = tree;
    this.#mutants = mutants;
    this.#serverTests = new Set(
      SERVER_STARTERS.flatMap((path) => [...tree.distancesTo(path).keys()]),
    );
  }

  /**
   * The files that may kill a mutant: its mirrored test, then the nearest and quickest. The build has to be without a mutant
   * whenever the next one is asked for. Looks no further when the time is over, whether files are left or not.
   */
  async *testsOf(
    mutant: Mutant,
    { breadth, buildFolder, isTimeOver }: ChoiceLimits,
  ): AsyncGenerator<ReachingTest> {
    let sumMs = 0;
    for (const path of this.#candidates(mutant, breadth)) {
      if (isTimeOver()) return;
      const run = await this.#plainRun(path, buildFolder);
      if (run?.reached.has(mutant) !== true) continue;
      const { normalMs } = run;
      yield { path, normalMs };
      sumMs += normalMs;
      if (sumMs > MUTANT_TESTS_MAX_MS[breadth]) return;
    }
  }

  /** The test files that load the module, directly or not, whether they execute the mutant's place or not. */
  #candidates({ path }: Mutant, breadth: Breadth): readonly string[] {
    const mirrored = `test/${path.replace(/\.js$/, ".test.js")}`;
    const cost = ([test, distance]: readonly [test: string, distance: number]) =>
      distance +
      (this.#normalMs.get(test) ?? 0) / MS_PER_DISTANCE -
      (test === mirrored ? Infinity : wordsShared(test, path) * DISTANCE_PER_WORD);
    return [...this.#tree.distancesTo(path)]
      .filter(([test]) => test.endsWith(".test.js"))
      .filter(([test]) => TEST_FOLDERS.some((folder) => test.startsWith(folder)))
      .filter(([test]) => this.#isAsked(test, mirrored, breadth))
      .sort((one, other) => cost(one) - cost(other))
      .map(([test]) => test);
  }

  /** A mirrored test is asked first, also one that starts the whole server. */
  #isAsked(test: string, mirrored: string, breadth: Breadth): boolean {
    const isOfParts = test === mirrored || !this.#serverTests.has(test);
    return isOfParts === (breadth === "parts");
  }

  #plainRun(testPath: string, buildFolder: string): Promise<PlainRun | undefined> {
    const known = this.#runs.get(testPath) ?? this.#measure(testPath, buildFolder);
    this.#runs.set(testPath, known);
    return known;
  }

  async #measure(testPath: string, buildFolder: string): Promise<PlainRun | undefined> {
    const coverageFolder = mkdtempSync(join(tmpdir(), "parley-mutants-"));
    try {
      const beganAtMs = performance.now();
      const outcome = await runTestFile(buildFolder, testPath, NORMAL_RUN_MAX_MS, coverageFolder);
      const normalMs = performance.now() - beganAtMs;
      if (outcome !== "passed") {
        this.leftOut.push(`${testPath} (${outcome})`);
        return undefined;
      }
      this.#normalMs.set(testPath, normalMs);
      const ranges = new ExecutedRanges(coverageFolder, buildFolder);
      const isReached = ({ path, change }: Mutant) => ranges.has(path, change.executedAt);
      return { normalMs, reached: new Set(this.#mutants.filter(isReached)) };
    } finally {
      rmSync(coverageFolder, { recursive: true, force: true });
    }
  }
}

/** How many words two paths have in common, such as `outbound` and `calls`. */
function wordsShared(one: string, other: string): number {
  const words = new Set(one.match(/\w+/g));
  return [...new Set(other.match(/\w+/g))].filter((word) => words.has(word)).length;
}
