import * as v from "valibot";
import "../../test/late-optimization.js";
import "../../test/sequential-tests.js";
import { forgetReached, reachedMutants, switchOn } from "./mutant-switch.js";

/** A process of its own: runs each test file that it is asked for under the mutant that it is told, and answers what was reached. */

const { runFile } = await import("../../test/shared-process.js");

/** Whoever asks ends this process long before. */
const FILE_TIMEOUT_MS = 600_000;
const question = v.object({ name: v.string(), url: v.string(), mutant: v.number() });

/** Errors that no test was told of. */
let strayCount = 0;
process.on("uncaughtExceptionMonitor", () => {
  strayCount += 1;
});

process.on("message", (message) => {
  const { mutant, ...file } = v.parse(question, message);
  void answerOf(file, mutant).then((answer) => process.send?.(answer));
});

async function answerOf(file: { name: string; url: string }, mutant: number) {
  let loaded: readonly number[] = [];
  let loadedAtMs = 0;
  strayCount = 0;
  forgetReached();
  switchOn(mutant);
  await runFile(file, FILE_TIMEOUT_MS, () => {
    loaded = reachedMutants();
    loadedAtMs = performance.now();
    forgetReached();
  });
  const testsMs = performance.now() - loadedAtMs;
  return { name: file.name, loaded, reached: reachedMutants(), testsMs, strayCount };
}
