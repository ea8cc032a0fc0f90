import type { TestOutcome } from "./test-process.js";

/** What a test file does without any mutant. */
export interface PlainRun {
  readonly normalMs: number;
  /** The numbers of the mutants whose places its tests execute. */
  readonly reached: ReadonlySet<number>;
}

/** Each test file is run once without a mutant, when it is first asked for. */
export class PlainRuns {
  /** Test files that failed or were too slow, so they are not asked. */
  readonly leftOut: string[] = [];
  /** Mutants whose places are executed while modules are loaded: of these a process has to begin anew. */
  readonly loaded = new Set<number>();
  readonly #known = new Map<string, PlainRun | undefined>();
  readonly #running = new Map<string, Promise<PlainRun | undefined>>();

  /** What is known without running it. */
  known(testPath: string): PlainRun | undefined {
    return this.#known.get(testPath);
  }

  /** Undefined when the file is left out. */
  of(testPath: string, run: () => Promise<TestOutcome>): Promise<PlainRun | undefined> {
    const running = this.#running.get(testPath) ?? this.#run(testPath, run);
    this.#running.set(testPath, running);
    return running;
  }

  async #run(testPath: string, run: () => Promise<TestOutcome>): Promise<PlainRun | undefined> {
    const { kind, testsMs, reached, loaded } = await run();
    for (const number of loaded) this.loaded.add(number);
    if (kind !== "passed") {
      this.leftOut.push(`${testPath} (${kind})`);
      return undefined;
    }
    const plain = { normalMs: Math.round(testsMs), reached: new Set(reached) };
    this.#known.set(testPath, plain);
    return plain;
  }
}
