import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pathToFileURL } from "node:url";
import * as v from "valibot";

/** A mutant may fill the memory; a test needs a tenth of this. */
const HEAP_MAX_MB = 1_024;
/** What a file with a failed test may still take to clean up behind itself. */
const AFTER_FAILURE_MAX_MS = 700;
/** It is in the copy of the build as well, so that the build may be made anew meanwhile. */
const ENTRY = "bench/mutation/asked-tests.js";

/** PostgreSQL, which runs as another user, has its data in a folder there. */
const FOLDER_MODE = 0o755;
/** What was killed may still write for a moment. */
const REMOVAL_TRIES_MAX = 20;

/** The simulated calls are the same kind again and again: a few show what many do. */
const ENVIRONMENT = { SIMULATION_CALLS: "100" };

const answer = v.object({
  name: v.string(),
  loaded: v.array(v.number()),
  reached: v.array(v.number()),
  testsMs: v.number(),
  strayCount: v.number(),
});

export interface AskedTest {
  /** Relative to the build. */
  readonly path: string;
  /** Which mutant is on meanwhile; `NO_MUTANT` for none. */
  readonly mutant: number;
  readonly timeoutMs: number;
}

export interface TestOutcome {
  /** `stray`: nothing failed, but an error reached no test. */
  readonly kind: "passed" | "failed" | "timedOut" | "stray";
  readonly tookMs: number;
  /** The same without the loading of modules; 0 where the process broke off. */
  readonly testsMs: number;
  /** The mutants whose places were executed while the file and what it imports was loaded, for the first time in this process. */
  readonly loaded: readonly number[];
  /** Those whose places its tests executed. */
  readonly reached: readonly number[];
}

/** A process that runs compiled test files, one at a time, each as often as it is asked to. */
export class TestProcess {
  readonly #buildFolder: string;
  readonly #child: ChildProcess;
  readonly #temporary: string;
  #isEnded = false;
  #askedCount = 0;
  #failedCount = 0;
  #asked: Asked | undefined;

  constructor(buildFolder: string) {
    this.#buildFolder = buildFolder;
    // Tests that are killed leave their files behind.
    this.#temporary = mkdtempSync(join(tmpdir(), "parley-tests-"));
    chmodSync(this.#temporary, FOLDER_MODE);
    this.#child = spawn(
      process.execPath,
      [`--max-old-space-size=${HEAP_MAX_MB}`, "--test-reporter=tap", join(buildFolder, ENTRY)],
      {
        env: { PATH: process.env["PATH"] ?? "", TMPDIR: this.#temporary, ...ENVIRONMENT },
        stdio: ["ignore", "pipe", "ignore", "ipc"],
        detached: true,
      },
    );
    this.#child.on("exit", () => this.#exited());
    this.#child.on("error", () => this.#exited());
    this.#child.on("message", (message) => this.#asked?.answered(v.parse(answer, message)));
    eachLine(this.#child.stdout, (line) => this.#asked?.told(line));
  }

  /** It ran something that did not end well, and answers no more. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** How many files were run, and in how many of them a test failed: what they left behind adds up. */
  get counts(): { readonly asked: number; readonly failed: number } {
    return { asked: this.#askedCount, failed: this.#failedCount };
  }

  /** Ends the process when a test goes on after another has failed, or when the file takes too long. */
  async ask({ path, mutant, timeoutMs }: AskedTest): Promise<TestOutcome> {
    if (this.#isEnded || this.#asked !== undefined) throw new Error("the process is not free");
    this.#askedCount += 1;
    const name = `${this.#askedCount}`;
    const url = `${pathToFileURL(join(this.#buildFolder, path)).href}?asked=${name}`;
    const asked = new Asked(name, timeoutMs, () => this.end());
    this.#asked = asked;
    this.#child.send({ name, url, mutant }, (error) => {
      if (error !== null) this.end();
    });
    const outcome = await asked.outcome;
    this.#asked = undefined;
    if (outcome.kind !== "passed") this.#failedCount += 1;
    return outcome;
  }

  /** Ends it and all that it started. */
  end(): void {
    const { pid } = this.#child;
    try {
      if (pid !== undefined) process.kill(-pid, "SIGKILL");
    } catch {
      // All of them have ended.
    }
  }

  #exited(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    // Also what the tests left behind.
    this.end();
    rmSync(this.#temporary, { recursive: true, force: true, maxRetries: REMOVAL_TRIES_MAX });
    this.#asked?.broken();
  }
}

/** One file that is running: its tests are told line by line, and what it reached at its end. */
class Asked {
  readonly outcome: Promise<TestOutcome>;
  readonly #name: string;
  readonly #end: () => void;
  readonly #beganAtMs = performance.now();
  #resolve: (outcome: TestOutcome) => void = () => {};
  #timer: NodeJS.Timeout;
  #hasFailed = false;
  #isTooLate = false;
  #suite: "passed" | "failed" | undefined;
  #answer: v.InferOutput<typeof answer> | undefined;

  constructor(name: string, timeoutMs: number, end: () => void) {
    this.#name = name;
    this.#end = end;
    this.outcome = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    this.#timer = setTimeout(() => {
      this.#isTooLate = true;
      end();
    }, timeoutMs);
  }

  told(line: string): void {
    const suite = /^(not )?ok \d+ - (\S+)/.exec(line);
    if (suite?.[2] === this.#name) this.#suite = suite[1] === undefined ? "passed" : "failed";
    else if (/^\s+not ok /.test(line) && !this.#hasFailed) {
      this.#hasFailed = true;
      clearTimeout(this.#timer);
      this.#timer = setTimeout(this.#end, AFTER_FAILURE_MAX_MS);
    }
    this.#tellWhenOver();
  }

  answered(given: v.InferOutput<typeof answer>): void {
    if (given.name === this.#name) this.#answer = given;
    this.#tellWhenOver();
  }

  /** The process has ended. */
  broken(): void {
    this.#tell(this.#isTooLate && !this.#hasFailed ? "timedOut" : "failed");
  }

  #tellWhenOver(): void {
    if (this.#suite === undefined || this.#answer === undefined) return;
    const isStray = this.#suite === "passed" && this.#answer.strayCount > 0;
    this.#tell(isStray ? "stray" : this.#suite);
  }

  #tell(kind: TestOutcome["kind"]): void {
    clearTimeout(this.#timer);
    const { loaded, reached, testsMs } = this.#answer ?? { loaded: [], reached: [], testsMs: 0 };
    const tookMs = performance.now() - this.#beganAtMs;
    this.#resolve({ kind, tookMs, testsMs, loaded, reached });
  }
}

/** Takes each whole line of what a child process writes. */
function eachLine(stream: unknown, take: (line: string) => void): void {
  if (!(stream instanceof Readable)) throw new Error("a test process has no output");
  let rest = "";
  stream.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) take(line);
  });
}
