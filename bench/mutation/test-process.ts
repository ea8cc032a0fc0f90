import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

/** A mutant may fill the memory; a test needs a tenth of this. */
const HEAP_MAX_MB = 512;

/** The simulated calls are the same kind again and again: a few show what many do. */
const ENVIRONMENT = { SIMULATION_CALLS: "100" };

export type TestOutcome = "passed" | "failed" | "timedOut";

/**
 * Runs one compiled test file, and ends it and all that it started at the first failed test, or when the time is over.
 * With `coverageFolder` V8 writes there what was executed.
 */
export async function runTestFile(
  buildFolder: string,
  testPath: string,
  timeoutMs: number,
  coverageFolder?: string,
): Promise<TestOutcome> {
  const coverage = coverageFolder === undefined ? {} : { NODE_V8_COVERAGE: coverageFolder };
  const child = spawn(
    process.execPath,
    [`--max-old-space-size=${HEAP_MAX_MB}`, "--test-reporter=tap", join(buildFolder, testPath)],
    {
      env: { PATH: process.env["PATH"] ?? "", ...ENVIRONMENT, ...coverage },
      stdio: ["ignore", "pipe", "ignore"],
      detached: true,
    },
  );
  let ended: TestOutcome | undefined;
  const end = (outcome: TestOutcome) => {
    ended ??= outcome;
    if (child.pid !== undefined) killGroup(child.pid);
  };
  const timer = setTimeout(() => end("timedOut"), timeoutMs);
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    if (/^\s*not ok /m.test(text)) end("failed");
  });
  const [exitCode]: unknown[] = await once(child, "exit");
  clearTimeout(timer);
  // Also what the test left behind.
  if (child.pid !== undefined) killGroup(child.pid);
  return ended ?? (exitCode === 0 ? "passed" : "failed");
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // All of them have ended.
  }
}
