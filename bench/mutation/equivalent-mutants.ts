import type { Mutant } from "./sampled-mutants.js";

/** A mutant that no test can kill, because nothing that anybody can see differs. */
interface EquivalentMutant {
  readonly sourcePath: string;
  /** The line of the compiled module, without its indent. */
  readonly code: string;
  readonly original: string;
  readonly replacement: string;
  readonly reason: string;
}

const EQUIVALENT: readonly EquivalentMutant[] = [
  {
    sourcePath: "engine/calls/caller-placement.ts",
    code: "this.#waitingSamples -= this.#waiting.shift()?.pcm.length ?? 0;",
    original: "0",
    replacement: "1",
    reason: "the loop only runs while something waits, so there is always a chunk to take",
  },
  {
    sourcePath: "engine/vendors/deepgram/deepgram-feed.ts",
    code: "const waitMs = nowMs >= dueMs ? KEEP_ALIVE_MS : dueMs - nowMs;",
    original: "nowMs >= dueMs",
    replacement: "false",
    reason: "the timer fires once more at once, finds that nothing is due, and then waits as long",
  },
  {
    sourcePath: "storage/abandoned-calls.ts",
    code: "const CALLS_PER_STEP = 100;",
    original: "100",
    replacement: "101",
    reason: "steps are taken until no call is left, however many there are in one",
  },
  {
    sourcePath: "storage/database-thread.ts",
    code: "let commitsSinceCheckpoint = 0;",
    original: "0",
    replacement: "1",
    reason: "the first checkpoint comes one commit sooner, which changes no data and no answer",
  },
  {
    sourcePath: "engine/speech/call-summary.ts",
    code: "if (value !== undefined)",
    original: "value !== undefined",
    replacement: "true",
    reason: "what could not be parsed is undefined, which the reader's schema refuses as well",
  },
];

/** Why a mutant is equivalent; undefined when nobody has judged that it is. */
export function equivalenceOf(mutant: Mutant): string | undefined {
  return EQUIVALENT.find(
    ({ sourcePath, code, original, replacement }) =>
      sourcePath === mutant.sourcePath &&
      code === mutant.code &&
      original === mutant.original &&
      replacement === mutant.change.replacement,
  )?.reason;
}
