import type { CompiledTree } from "./compiled-tree.js";
import type { PlainRuns } from "./plain-runs.js";
import type { Mutant } from "./sampled-mutants.js";

/** A test that has a word of the module in its path is asked as if it were so many imports nearer. */
const DISTANCE_PER_WORD = 2;
/** A test that takes so much longer is asked as if it were one import further away. */
const MS_PER_DISTANCE = 500;
/** A test that has noticed mutants of the module before is asked as if it were so many imports nearer for each, up to a number. */
const DISTANCE_PER_NOTICED = 1;
const NOTICED_MAX = 8;

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
/** Whoever loads it starts the whole server, which takes seconds and executes a little of everything. */
const SERVER_STARTER = "test/system/test-server.js";
const PROCESS_STARTING = '"node:child_process"';

/** Which tests are asked: those of parts alone, or also those that start the whole server, other processes or PostgreSQL. */
export type Breadth = "parts" | "everything";

/** Which test files are asked about a mutant, and in which order. */
export class TestChoice {
  readonly #tree: CompiledTree;
  readonly #runs: PlainRuns;
  readonly #folders: readonly string[];
  readonly #broadTests: ReadonlySet<string>;
  /** By module and test file. */
  readonly #noticedCounts = new Map<string, number>();

  /** `hasPostgres`: whether the tests that start PostgreSQL find it on this machine. */
  constructor(tree: CompiledTree, runs: PlainRuns, hasPostgres: boolean) {
    this.#tree = tree;
    this.#runs = runs;
    this.#folders = hasPostgres ? [...TEST_FOLDERS, POSTGRES_FOLDER] : TEST_FOLDERS;
    const starters = tree.paths.filter(
      (path) =>
        path === SERVER_STARTER ||
        (path.startsWith("test/") && tree.source(path).includes(PROCESS_STARTING)),
    );
    this.#broadTests = new Set(starters.flatMap((path) => [...tree.distancesTo(path).keys()]));
  }

  /** Whether a file wants a process of its own: other processes, whose modules are loaded anew, execute what it tests. */
  isApart(testPath: string): boolean {
    return (
      this.#broadTests.has(testPath) || APART_FOLDERS.some((folder) => testPath.startsWith(folder))
    );
  }

  /**
   * The test files that load the module, directly or not, whether they execute the mutant's place or not: its mirrored test,
   * then the nearest and quickest.
   */
  candidates({ path }: Mutant, breadth: Breadth): readonly string[] {
    const mirrored = `test/${path.replace(/\.js$/, ".test.js")}`;
    const cost = ([test, distance]: readonly [test: string, distance: number]) =>
      distance -
      Math.min(NOTICED_MAX, this.#noticedCounts.get(`${path} ${test}`) ?? 0) *
        DISTANCE_PER_NOTICED +
      (this.#runs.known(test)?.normalMs ?? 0) / MS_PER_DISTANCE -
      (test === mirrored ? Infinity : wordsShared(test, path) * DISTANCE_PER_WORD);
    return [...this.#tree.distancesTo(path)]
      .filter(([test]) => test.endsWith(".test.js"))
      .filter(([test]) => this.#folders.some((folder) => test.startsWith(folder)))
      .filter(([test]) => this.#isAsked(test, mirrored, breadth))
      .sort((one, other) => cost(one) - cost(other))
      .map(([test]) => test);
  }

  /** This test file noticed the mutant: it is asked sooner about others of the module. */
  noticed({ path }: Mutant, test: string): void {
    const key = `${path} ${test}`;
    this.#noticedCounts.set(key, (this.#noticedCounts.get(key) ?? 0) + 1);
  }

  /** A mirrored test is asked first, also one that starts the whole server. */
  #isAsked(test: string, mirrored: string, breadth: Breadth): boolean {
    return breadth === "everything" || test === mirrored || !this.isApart(test);
  }
}

/** How many words two paths have in common, such as `outbound` and `calls`. */
function wordsShared(one: string, other: string): number {
  const words = new Set(one.match(/\w+/g));
  return [...new Set(other.match(/\w+/g))].filter((word) => words.has(word)).length;
}
