import { after, beforeEach, describe, test } from "node:test";
import type { FileClaims } from "./file-claims.js";

export { FileClaims } from "./file-claims.js";
export { CostMeter } from "./file-costs.js";

/** Follows the files of a process. */
export interface FileWatcher {
  begins(name: string): void;
  /** What it imports is loaded; its tests are still to run. */
  isLoaded(): void;
  ends(name: string): void;
}

export interface TestFile {
  readonly name: string;
  readonly url: string;
}

export interface Running {
  readonly timeoutMs: number;
  /** Asked before each file, where other processes have the same list. */
  readonly claims?: FileClaims;
  readonly watcher?: FileWatcher;
}

/** For what the last tests have let go of to close. */
const LEFT_OPEN_MAX_MS = 60_000;

/**
 * Runs the test files at these URLs one after the other in this process, each as a suite of its name: what they import is
 * loaded and compiled once. A file that cannot be loaded fails alone, and so does one whose tests were run by another before;
 * a process that ends early, or does not end, fails as a whole.
 */
export async function runFiles(
  files: readonly TestFile[],
  { timeoutMs, claims, watcher }: Running,
): Promise<void> {
  let running: string | undefined;
  process.on("exit", () => {
    if (running === undefined) return;
    process.stderr.write(`the process ended within ${running}\n`);
    process.exitCode = 1;
  });
  for (const file of files) {
    if (claims?.take(file.name) === false) continue;
    running = file.name;
    watcher?.begins(file.name);
    await runFile(file, timeoutMs, () => watcher?.isLoaded());
    watcher?.ends(file.name);
  }
  running = undefined;
  // Its timer keeps no process alive: it goes off only where something else does.
  AbortSignal.timeout(LEFT_OPEN_MAX_MS).addEventListener("abort", () => {
    const kinds = process.getActiveResourcesInfo().join(", ");
    process.stderr.write(`a test has left open: ${kinds}\n`);
    process.exit(1);
  });
}

/** Runs one test file as a suite of its name; resolves when its tests are over, whatever became of them. */
export function runFile(
  { name, url }: TestFile,
  timeoutMs: number,
  isLoaded: () => void,
): Promise<void> {
  return new Promise((resolve) => {
    describe(name, { timeout: timeoutMs }, async () => {
      let begunCount = 0;
      beforeEach(() => {
        begunCount += 1;
      });
      try {
        await import(url);
      } catch (error) {
        test("is loaded", () => {
          throw error;
        });
      }
      isLoaded();
      after(() => {
        resolve();
        if (begunCount === 0) throw new Error("none of its tests has run");
      });
    });
  });
}
