import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as v from "valibot";
import type { CompiledTree } from "./compiled-tree.js";
import { type ExecutedOffsets, executedOffsets, isExecuted } from "./executed-ranges.js";
import type { Mutant } from "./sampled-mutants.js";
import { runTests } from "./test-process.js";

/** A slower file tells nothing about one line. */
const NORMAL_RUN_MAX_MS = 60_000;

const keptRun = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({
    fingerprint: v.string(),
    normalMs: v.number(),
    executed: v.record(v.string(), v.array(v.number())),
  }),
);

/** What a test file does without any mutant. */
export interface PlainRun {
  readonly normalMs: number;
  readonly reached: ReadonlySet<Mutant>;
}

/**
 * Runs each test file once without a mutant, and keeps what it executed in a folder, one file for each, until the test or a
 * module that it loads is another. Of other files that a test reads nothing is known: it may be asked in vain after they
 * have changed, or not be asked, which makes no mutant look killed.
 */
export class PlainRuns {
  /** Test files that failed or were too slow, so they are not asked. */
  readonly leftOut: string[] = [];
  readonly #tree: CompiledTree;
  readonly #mutants: readonly Mutant[];
  readonly #folder: string;
  readonly #kept = new Map<string, PlainRun | undefined>();
  readonly #running = new Map<string, Promise<PlainRun | undefined>>();

  constructor(tree: CompiledTree, mutants: readonly Mutant[], folder: string) {
    this.#tree = tree;
    this.#mutants = mutants;
    this.#folder = folder;
    mkdirSync(folder, { recursive: true });
  }

  /** What is known without running it. */
  known(testPath: string): PlainRun | undefined {
    if (!this.#kept.has(testPath)) this.#kept.set(testPath, this.#read(testPath));
    return this.#kept.get(testPath);
  }

  /** The build has to be without a mutant. Undefined when the file is left out. */
  of(testPath: string, buildFolder: string): Promise<PlainRun | undefined> {
    const known = this.known(testPath);
    if (known !== undefined) return Promise.resolve(known);
    const running = this.#running.get(testPath) ?? this.#run(testPath, buildFolder);
    this.#running.set(testPath, running);
    return running;
  }

  async #run(testPath: string, buildFolder: string): Promise<PlainRun | undefined> {
    const coverageFolder = mkdtempSync(join(tmpdir(), "parley-mutants-"));
    try {
      const beganAtMs = performance.now();
      const test = { path: testPath, timeoutMs: NORMAL_RUN_MAX_MS };
      const { kind } = await runTests(buildFolder, [test], coverageFolder);
      const normalMs = Math.round(performance.now() - beganAtMs);
      if (kind !== "passed") {
        this.leftOut.push(`${testPath} (${kind})`);
        return undefined;
      }
      const executed = executedOffsets(coverageFolder, buildFolder);
      const fingerprint = this.#tree.fingerprint(testPath);
      writeFileSync(this.#pathOf(testPath), JSON.stringify({ fingerprint, normalMs, executed }));
      const run = this.#runOf(normalMs, executed);
      this.#kept.set(testPath, run);
      return run;
    } finally {
      rmSync(coverageFolder, { recursive: true, force: true });
    }
  }

  #read(testPath: string): PlainRun | undefined {
    let text: string;
    try {
      text = readFileSync(this.#pathOf(testPath), "utf8");
    } catch {
      // It has not been run before.
      return undefined;
    }
    const { success, output } = v.safeParse(keptRun, text);
    if (!success || output.fingerprint !== this.#tree.fingerprint(testPath)) return undefined;
    return this.#runOf(output.normalMs, output.executed);
  }

  #runOf(normalMs: number, executed: ExecutedOffsets): PlainRun {
    const isReached = ({ path, change }: Mutant) => isExecuted(executed, path, change.executedAt);
    return { normalMs, reached: new Set(this.#mutants.filter(isReached)) };
  }

  #pathOf(testPath: string): string {
    return join(this.#folder, `${testPath.replaceAll("/", "_")}.json`);
  }
}
