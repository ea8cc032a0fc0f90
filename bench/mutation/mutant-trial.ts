import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Mutant } from "./sampled-mutants.js";
import { applied } from "./source-edits.js";
import type { TestChoice } from "./test-choice.js";
import { runTestFile } from "./test-process.js";

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

/** Puts a mutant into a build, runs the tests of some folders that may kill it, and takes it out again. */
export async function tryMutant(
  mutant: Mutant,
  choice: TestChoice,
  folders: readonly string[],
  buildFolder: string,
): Promise<Trial> {
  const tests = choice.testsOf(mutant, folders);
  if (tests.length === 0) return { mutant, fate: "unreached", by: undefined };
  const modulePath = join(buildFolder, mutant.path);
  const source = readFileSync(modulePath, "utf8");
  writeFileSync(modulePath, applied(source, mutant.change));
  try {
    for (const { path, normalMs } of tests) {
      const timeoutMs = normalMs * TIMES_NORMAL + SPARE_MS;
      const outcome = await runTestFile(buildFolder, path, timeoutMs);
      if (outcome === "failed") return { mutant, fate: "killed", by: path };
      if (outcome === "timedOut") return { mutant, fate: "timedOut", by: path };
    }
    return { mutant, fate: "survived", by: undefined };
  } finally {
    writeFileSync(modulePath, source);
  }
}
