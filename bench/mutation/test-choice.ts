import type { CompiledTree } from "./compiled-tree.js";
import type { PlainRuns } from "./plain-runs.js";
import type { Mutant } from "./sampled-mutants.js";

/** What all test files for one mutant may take together, when they pass. */
const MUTANT_TESTS_MAX_MS: Readonly<Record<Breadth, number>> = {
  parts: 40_000,
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
const POSTGRES_FOLDER = "test/postgres-system/";
/** These want a process of their own, as in the test run itself. */
const APART_FOLDERS = ["test/engine/sandbox/sdks/", POSTGRES_FOLDER];
/** Whoever loads one of them starts the whole server, which takes seconds and executes a little of everything. */
const SERVER_STARTERS = ["test/system/test-server.js", "test/system/server-process.js"];

/** Which tests are asked: those of parts alone, or those that start the whole server or PostgreSQL. */
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

/** Which test files execute the place of a mutant. */
export class TestChoice {
  readonly #tree: CompiledTree;
  readonly #runs: PlainRuns;
  readonly #folders: readonly string[];
  readonly #serverTests: ReadonlySet<string>;

  /** `hasPostgres`: whether the tests that start PostgreSQL find it on this machine. */
  constructor(tree: CompiledTree, runs: PlainRuns, hasPostgres: boolean) {
    this.#tree = tree;
    this.#runs = runs;
    this.#folders = hasPostgres ? [...TEST_FOLDERS, POSTGRES_FOLDER] : TEST_FOLDERS;
    this.#serverTests = new Set(
      SERVER_STARTERS.flatMap((path) => [...tree.distancesTo(path).keys()]),
    );
  }

  /**
   * The files that may kill a mutant, in lists for one process each: its mirrored test, then the nearest and quickest. What
   * is known is tried before another file is run to see what it executes. The build has to be without a mutant whenever the
   * next list is asked for. Looks no further when the time is over, whether files are left or not.
   */
  async *listsFor(
    mutant: Mutant,
    { breadth, buildFolder, isTimeOver }: ChoiceLimits,
  ): AsyncGenerator<readonly ReachingTest[]> {
    let list: ReachingTest[] = [];
    let sumMs = 0;
    for (const path of this.#candidates(mutant, breadth)) {
      if (isTimeOver()) return;
      const isApart = APART_FOLDERS.some((folder) => path.startsWith(folder));
      if (list.length > 0 && (isApart || this.#runs.known(path) === undefined)) {
        yield list;
        list = [];
      }
      const run = await this.#runs.of(path, buildFolder);
      if (run?.reached.has(mutant) !== true) continue;
      const { normalMs } = run;
      if (isApart) yield [{ path, normalMs }];
      else list.push({ path, normalMs });
      sumMs += normalMs;
      if (sumMs > MUTANT_TESTS_MAX_MS[breadth]) break;
    }
    if (list.length > 0) yield list;
  }

  /** The test files that load the module, directly or not, whether they execute the mutant's place or not. */
  #candidates({ path }: Mutant, breadth: Breadth): readonly string[] {
    const mirrored = `test/${path.replace(/\.js$/, ".test.js")}`;
    const cost = ([test, distance]: readonly [test: string, distance: number]) =>
      distance +
      (this.#runs.known(test)?.normalMs ?? 0) / MS_PER_DISTANCE -
      (test === mirrored ? Infinity : wordsShared(test, path) * DISTANCE_PER_WORD);
    return [...this.#tree.distancesTo(path)]
      .filter(([test]) => test.endsWith(".test.js"))
      .filter(([test]) => this.#folders.some((folder) => test.startsWith(folder)))
      .filter(([test]) => this.#isAsked(test, mirrored, breadth))
      .sort((one, other) => cost(one) - cost(other))
      .map(([test]) => test);
  }

  /** A mirrored test is asked first, also one that starts the whole server. */
  #isAsked(test: string, mirrored: string, breadth: Breadth): boolean {
    const startsMuch = this.#serverTests.has(test) || test.startsWith(POSTGRES_FOLDER);
    const isOfParts = test === mirrored || !startsMuch;
    return isOfParts === (breadth === "parts");
  }
}

/** How many words two paths have in common, such as `outbound` and `calls`. */
function wordsShared(one: string, other: string): number {
  const words = new Set(one.match(/\w+/g));
  return [...new Set(other.match(/\w+/g))].filter((word) => words.has(word)).length;
}
