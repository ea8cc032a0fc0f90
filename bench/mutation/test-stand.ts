import { NO_MUTANT } from "./mutant-number.js";
import type { SwitchedBuild } from "./switched-build.js";
import { type TestOutcome, TestProcess } from "./test-process.js";

/** Modules that were loaded for a test file stay, and so does what its tests left behind. */
const FILES_MAX = 3_000;
const FAILED_FILES_MAX = 200;
/** A slower file tells nothing about one line. */
export const NORMAL_RUN_MAX_MS = 60_000;

/** Runs test files of one build, which nobody else uses meanwhile. */
export class TestStand {
  readonly #build: SwitchedBuild;
  #kept: TestProcess | undefined;
  /** The files whose modules the kept process has loaded. */
  readonly #warm = new Set<string>();

  constructor(build: SwitchedBuild) {
    this.#build = build;
  }

  /** In a process that is kept, so that modules are loaded once, without any mutant. */
  async again(path: string, mutant: number, timeoutMs: number): Promise<TestOutcome> {
    let kept = this.#ready();
    if (mutant !== NO_MUTANT && !this.#warm.has(path)) {
      this.#build.switchOn(NO_MUTANT);
      await kept.ask({ path, mutant: NO_MUTANT, timeoutMs: NORMAL_RUN_MAX_MS });
      kept = this.#ready();
    }
    this.#build.switchOn(mutant);
    this.#warm.add(path);
    return kept.ask({ path, mutant, timeoutMs });
  }

  /** In a process of its own, which loads all modules with the mutant. */
  async fresh(path: string, mutant: number, timeoutMs: number): Promise<TestOutcome> {
    this.#build.switchOn(mutant);
    const process = new TestProcess(this.#build.folder);
    try {
      return await process.ask({ path, mutant, timeoutMs });
    } finally {
      process.end();
    }
  }

  /** In a process of its own, and with what the processes that it starts reach. */
  async told(path: string, timeoutMs: number): Promise<TestOutcome> {
    this.#build.takeReached();
    this.#build.switchOn(NO_MUTANT, true);
    const process = new TestProcess(this.#build.folder);
    try {
      const outcome = await process.ask({ path, mutant: NO_MUTANT, timeoutMs });
      return { ...outcome, reached: [...this.#build.takeReached()] };
    } finally {
      process.end();
    }
  }

  /** The next file begins in a new process. */
  end(): void {
    this.#kept?.end();
    this.#kept = undefined;
    this.#warm.clear();
  }

  #ready(): TestProcess {
    const isTired =
      this.#kept !== undefined &&
      (this.#kept.counts.asked >= FILES_MAX || this.#kept.counts.failed >= FAILED_FILES_MAX);
    if (this.#kept?.isEnded === true || isTired) this.end();
    this.#kept ??= new TestProcess(this.#build.folder);
    return this.#kept;
  }
}
