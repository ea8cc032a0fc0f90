import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Mutant } from "./sampled-mutants.js";
import { applied } from "./source-edits.js";
import type { ChoiceLimits, TestChoice } from "./test-choice.js";
import { runTestFile, type TestOutcome } from "./test-process.js";

/** A test that hangs is as good as one that fails, but a busy machine is no reason. */
const TIMES_NORMAL = 4;
const SPARE_MS = 3_000;

export type Fate = "killed" | "timedOut" | "survived" | "unreached";

export interface Trial {
  readonly mutant: Mutant;
  readonly fate: Fate;
  /** The test file that noticed it. */
  readonly by: string | undefined;
}

export interface TrialPlace extends ChoiceLimits {
  readonly choice: TestChoice;
}

/** Runs the tests of one breadth that may kill a mutant, one after the other. Undefined when the time was over first. */
export async function tryMutant(mutant: Mutant, place: TrialPlace): Promise<Trial | undefined> {
  const { choice, buildFolder } = place;
  let fate: Fate = "unreached";
  for await (const { path, normalMs } of choice.testsOf(mutant, place)) {
    if (place.isTimeOver()) return undefined;
    const timeoutMs = normalMs * TIMES_NORMAL + SPARE_MS;
    const outcome = await outcomeWith(mutant, path, timeoutMs, buildFolder);
    if (outcome === "failed") return { mutant, fate: "killed", by: path };
    if (outcome === "timedOut") {
      // Unless the machine is what became slow.
      const plainOutcome = await runTestFile(buildFolder, path, timeoutMs);
      if (plainOutcome === "passed") return { mutant, fate: "timedOut", by: path };
    }
    fate = "survived";
  }
  if (place.isTimeOver()) return undefined;
  return { mutant, fate, by: undefined };
}

/** Puts the mutant into the build, runs one test file, and takes it out again. */
async function outcomeWith(
  { path, change }: Mutant,
  testPath: string,
  timeoutMs: number,
  buildFolder: string,
): Promise<TestOutcome> {
  const modulePath = join(buildFolder, path);
  const source = readFileSync(modulePath, "utf8");
  writeFileSync(modulePath, applied(source, change));
  try {
    return await runTestFile(buildFolder, testPath, timeoutMs);
  } finally {
    writeFileSync(modulePath, source);
  }
}
