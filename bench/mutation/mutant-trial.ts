import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Mutant } from "./sampled-mutants.js";
import { applied } from "./source-edits.js";
import type { ChoiceLimits, ReachingTest, TestChoice } from "./test-choice.js";
import { runTests, type TestOutcome, type TimedTest } from "./test-process.js";

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

/** Runs the tests of one breadth that may kill a mutant, nearest first. Undefined when the time was over first. */
export async function tryMutant(mutant: Mutant, place: TrialPlace): Promise<Trial | undefined> {
  let fate: Fate = "unreached";
  for await (const list of place.choice.listsFor(mutant, place)) {
    for (let tests = list.map(timed); tests.length > 0; ) {
      if (place.isTimeOver()) return undefined;
      const outcome = await outcomeWith(mutant, tests, place.buildFolder);
      if (outcome.kind === "passed") break;
      const until = tests.findIndex(({ path }) => path === outcome.by) + 1;
      const tried = tests.slice(0, until);
      if (await isTheMutants(outcome, mutant, tried, place.buildFolder)) {
        return { mutant, fate: outcome.kind === "failed" ? "killed" : "timedOut", by: outcome.by };
      }
      tests = tests.slice(until);
    }
    fate = "survived";
  }
  if (place.isTimeOver()) return undefined;
  return { mutant, fate, by: undefined };
}

function timed({ path, normalMs }: ReachingTest): TimedTest {
  return { path, timeoutMs: normalMs * TIMES_NORMAL + SPARE_MS };
}

/** Whether neither a machine that became slow nor the files that ran before in the same process are why the last one did not pass. */
async function isTheMutants(
  { kind }: TestOutcome,
  mutant: Mutant,
  tried: readonly TimedTest[],
  buildFolder: string,
): Promise<boolean> {
  if (kind === "timedOut") return (await runTests(buildFolder, tried)).kind === "passed";
  // Alone it has passed without the mutant.
  if (tried.length === 1) return true;
  return (await outcomeWith(mutant, tried.slice(-1), buildFolder)).kind === "failed";
}

/** Puts the mutant into the build, runs test files, and takes it out again. */
async function outcomeWith(
  { path, change }: Mutant,
  tests: readonly TimedTest[],
  buildFolder: string,
): Promise<TestOutcome> {
  const modulePath = join(buildFolder, path);
  const source = readFileSync(modulePath, "utf8");
  writeFileSync(modulePath, applied(source, change));
  try {
    return await runTests(buildFolder, tests);
  } finally {
    writeFileSync(modulePath, source);
  }
}
