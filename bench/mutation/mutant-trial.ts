import { NO_MUTANT } from "./mutant-number.js";
import type { PlainRun, PlainRuns } from "./plain-runs.js";
import type { Mutant } from "./sampled-mutants.js";
import type { Breadth, TestChoice } from "./test-choice.js";
import type { TestOutcome } from "./test-process.js";
import { NORMAL_RUN_MAX_MS, type TestStand } from "./test-stand.js";

/** What all test files for one mutant may take together, when they pass. */
const TESTS_MAX_MS: Readonly<Record<Breadth, number>> = { parts: 1_500, everything: 60_000 };
/** The same for a mutant of what modules do while they are loaded. */
const LOADED_TESTS_MAX_MS: Readonly<Record<Breadth, number>> = {
  parts: 1_500,
  everything: 15_000,
};
/** A test that hangs is as good as one that fails, but a busy machine is no reason. */
const TIMES_NORMAL = 4;
const SPARE_MS = 800;
const LOADING_SPARE_MS = 4_000;

export type Fate = "killed" | "timedOut" | "survived" | "unreached";

export interface Trial {
  readonly mutant: Mutant;
  readonly fate: Fate;
  /** The test file that noticed it. */
  readonly by: string | undefined;
  /** The test files that did not notice it. */
  readonly passedBy: ReadonlySet<string>;
}

export interface TrialPlace {
  readonly breadth: Breadth;
  readonly choice: TestChoice;
  readonly runs: PlainRuns;
  /** Nobody else uses it meanwhile. */
  readonly stand: TestStand;
  readonly isTimeOver: () => boolean;
  /** What an earlier try has shown. */
  readonly earlier?: Trial | undefined;
}

/** Asks the test files of one breadth that may kill a mutant, nearest first. Undefined when the time was over first. */
export async function tryMutant(
  mutant: Mutant,
  number: number,
  place: TrialPlace,
): Promise<Trial | undefined> {
  const { choice, runs, stand, breadth, isTimeOver, earlier } = place;
  const paths = choice.candidates(mutant, breadth);
  const passedBy = new Set(earlier?.passedBy);
  let sumMs = 0;
  for (const path of paths) {
    if (isTimeOver()) return undefined;
    if (passedBy.has(path)) continue;
    const run = await runs.of(path, () => plainRun(path, place));
    if (run?.reached.has(number) !== true) continue;
    sumMs += run.normalMs;
    const outcome = await (choice.isApart(path)
      ? stand.fresh(path, number, limitMs(run) + LOADING_SPARE_MS)
      : stand.again(path, number, limitMs(run)));
    const kind = await judged(outcome, path, number, place);
    if (kind !== "passed") {
      choice.noticed(mutant, path);
      return { mutant, fate: kind, by: path, passedBy };
    }
    passedBy.add(path);
    if (sumMs > TESTS_MAX_MS[breadth]) break;
  }
  if (runs.loaded.has(number)) return tryLoaded(mutant, number, paths, place);
  return { mutant, fate: passedBy.size > 0 ? "survived" : "unreached", by: undefined, passedBy };
}

/** A mutant of what modules do while they are loaded shows in a process that begins with it. */
async function tryLoaded(
  mutant: Mutant,
  number: number,
  paths: readonly string[],
  { runs, stand, isTimeOver, breadth, choice, earlier }: TrialPlace,
): Promise<Trial | undefined> {
  const passedBy = new Set(earlier?.passedBy);
  let sumMs = 0;
  for (const path of paths) {
    if (isTimeOver()) return undefined;
    const run = runs.known(path);
    if (run === undefined || passedBy.has(path)) continue;
    const timeoutMs = limitMs(run) + LOADING_SPARE_MS;
    const { kind, tookMs } = await stand.fresh(path, number, timeoutMs);
    sumMs += tookMs;
    if (kind !== "passed" && (await passesFresh(path, timeoutMs, stand))) {
      choice.noticed(mutant, path);
      return { mutant, fate: kind === "timedOut" ? "timedOut" : "killed", by: path, passedBy };
    }
    passedBy.add(path);
    if (sumMs > LOADED_TESTS_MAX_MS[breadth]) break;
  }
  return { mutant, fate: "survived", by: undefined, passedBy };
}

function plainRun(path: string, { choice, stand }: TrialPlace): Promise<TestOutcome> {
  return choice.isApart(path)
    ? stand.told(path, NORMAL_RUN_MAX_MS)
    : stand.again(path, NO_MUTANT, NORMAL_RUN_MAX_MS);
}

function limitMs({ normalMs }: PlainRun): number {
  return normalMs * TIMES_NORMAL + SPARE_MS;
}

/**
 * Whether neither a machine that became slow, nor what ran before in the same process, nor chance are why a file did not
 * pass: it has to pass again without the mutant, or fail once more with it in a process of its own.
 */
async function judged(
  { kind }: TestOutcome,
  path: string,
  number: number,
  { stand, runs, choice }: TrialPlace,
): Promise<"passed" | "killed" | "timedOut"> {
  if (kind === "passed") return "passed";
  const run = runs.known(path);
  const timeoutMs = (run === undefined ? NORMAL_RUN_MAX_MS : limitMs(run)) + LOADING_SPARE_MS;
  const isKept = !choice.isApart(path);
  if (isKept && kind !== "stray") {
    const plain = await stand.again(path, NO_MUTANT, timeoutMs);
    if (plain.kind === "passed") return kind === "timedOut" ? "timedOut" : "killed";
    stand.end();
  }
  const fresh = isKept ? await stand.fresh(path, number, timeoutMs) : { kind };
  if (fresh.kind === "passed" || !(await passesFresh(path, timeoutMs, stand))) return "passed";
  return fresh.kind === "timedOut" ? "timedOut" : "killed";
}

async function passesFresh(path: string, timeoutMs: number, stand: TestStand): Promise<boolean> {
  return (await stand.fresh(path, NO_MUTANT, timeoutMs)).kind === "passed";
}
