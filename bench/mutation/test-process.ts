import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pathToFileURL } from "node:url";

/** A mutant may fill the memory; a test needs a tenth of this. */
const HEAP_MAX_MB = 512;
/** For what a last test has let go of to close. */
const END_MAX_MS = 5_000;
/** It is in the copy of the build as well, so that the build may be made anew meanwhile. */
const ENTRY = "bench/mutation/tests-in-turn.js";

/** PostgreSQL, which runs as another user, has its data in a folder there. */
const FOLDER_MODE = 0o755;
/** What was killed may still write for a moment. */
const REMOVAL_TRIES_MAX = 20;

/** The simulated calls are the same kind again and again: a few show what many do. */
const ENVIRONMENT = { SIMULATION_CALLS: "100" };

export interface TimedTest {
  /** Relative to the build. */
  readonly path: string;
  readonly timeoutMs: number;
}

export interface TestOutcome {
  readonly kind: "passed" | "failed" | "timedOut";
  /** Which of the files failed, or took too long. */
  readonly by: string | undefined;
}

/**
 * Runs compiled test files one after the other in one process, and ends it and all that it started at the first failed
 * test, or when a file takes too long. With `coverageFolder` V8 writes there what was executed.
 */
export async function runTests(
  buildFolder: string,
  tests: readonly TimedTest[],
  coverageFolder?: string,
): Promise<TestOutcome> {
  const files = tests.map(({ path }) => ({
    name: path,
    url: pathToFileURL(join(buildFolder, path)).href,
  }));
  const coverage = coverageFolder === undefined ? {} : { NODE_V8_COVERAGE: coverageFolder };
  // Tests that are killed leave their files behind.
  const temporary = mkdtempSync(join(tmpdir(), "parley-tests-"));
  chmodSync(temporary, FOLDER_MODE);
  const child = spawn(
    process.execPath,
    [
      `--max-old-space-size=${HEAP_MAX_MB}`,
      "--test-reporter=tap",
      join(buildFolder, ENTRY),
      JSON.stringify(files),
    ],
    {
      env: { PATH: process.env["PATH"] ?? "", TMPDIR: temporary, ...ENVIRONMENT, ...coverage },
      stdio: ["ignore", "pipe", "ignore", "pipe"],
      detached: true,
    },
  );
  try {
    return await outcomeOf(child, tests);
  } finally {
    rmSync(temporary, { recursive: true, force: true, maxRetries: REMOVAL_TRIES_MAX });
  }
}

async function outcomeOf(child: ChildProcess, tests: readonly TimedTest[]): Promise<TestOutcome> {
  let told: TestOutcome | undefined;
  let current = tests[0]?.path;
  const end = (outcome: TestOutcome) => {
    told ??= outcome;
    killGroup(child);
  };
  const limit = (timeoutMs: number, path: string | undefined) =>
    setTimeout(() => end({ kind: "timedOut", by: path }), timeoutMs);
  let timer = limit(tests[0]?.timeoutMs ?? 0, current);
  let startedCount = 0;
  eachLine(child.stdio[3], () => {
    clearTimeout(timer);
    const test = tests[startedCount];
    startedCount += 1;
    timer = limit(test?.timeoutMs ?? END_MAX_MS, (test ?? tests.at(-1))?.path);
  });
  eachLine(child.stdout, (line) => {
    const begun = tests.find(({ path }) => line === `# Subtest: ${path}`);
    if (begun !== undefined) current = begun.path;
    if (/^\s*not ok /.test(line)) end({ kind: "failed", by: current });
  });
  const [exitCode]: unknown[] = await once(child, "exit");
  clearTimeout(timer);
  // Also what the tests left behind.
  killGroup(child);
  if (told !== undefined) return told;
  const last = tests[Math.max(0, startedCount - 1)] ?? tests.at(-1);
  return exitCode === 0 ? PASSED : { kind: "failed", by: last?.path };
}

const PASSED: TestOutcome = { kind: "passed", by: undefined };

function eachLine(stream: unknown, take: (line: string) => void): void {
  if (!(stream instanceof Readable)) throw new Error("a test process has no output");
  let rest = "";
  stream.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) take(line);
  });
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // All of them have ended.
  }
}
