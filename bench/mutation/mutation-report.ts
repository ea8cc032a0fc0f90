import type { Machine } from "../machine.js";
import { equivalenceOf } from "./equivalent-mutants.js";
import type { Fate, Trial } from "./mutant-trial.js";

export interface MutationRun {
  readonly command: string;
  readonly date: string;
  /** The machine and the commit when the build was made. */
  readonly machine: Machine;
  readonly seed: number;
  readonly trials: readonly Trial[];
  /** How many sampled mutants were not tried, because the time was over. */
  readonly untriedCount: number;
  /** How many lived through the nearest tests, and were not tried with those of the whole server. */
  readonly unaskedCount: number;
  /** Whether tests that start PostgreSQL were asked. */
  readonly hasPostgres: boolean;
  readonly leftOutTests: readonly string[];
}

/** One mutant as a line: where it is, what it was, and what became of it. */
export function describeMutant({ mutant, fate }: Trial): string {
  const { sourcePath, line, change, original, code } = mutant;
  const shown = (text: string) => `\`${text.replace(/\s+/g, " ").slice(0, 80)}\``;
  const to = change.replacement === ";" ? "nothing" : shown(change.replacement);
  const place =
    fate === "unreached" ? `, which no test executes: ${shown(code)}` : ` in ${shown(code)}`;
  return `${sourcePath}:${line} ${shown(original)} → ${to} (${change.operator})${place}`;
}

/** Valid mutants that lived, whether a test reached them or not. */
export function survivors(trials: readonly Trial[]): readonly Trial[] {
  return trials.filter((trial) => lived(trial.fate) && reasonOf(trial) === undefined);
}

/** Why a mutant that lived is no fault; undefined when it is one. */
function reasonOf({ mutant, fate }: Trial): string | undefined {
  const isNeedless = fate === "unreached" && mutant.change.operator === "fallback";
  const needless = "the element is always there, which the compiler cannot know";
  return isNeedless ? needless : equivalenceOf(mutant);
}

/** How many of a hundred valid mutants died. */
export function killRate(trials: readonly Trial[]): number {
  const killedCount = trials.filter(({ fate }) => !lived(fate)).length;
  return (100 * killedCount) / Math.max(1, killedCount + survivors(trials).length);
}

export function mutationReport(run: MutationRun): string {
  const { trials } = run;
  const machine = Object.entries(run.machine)
    .filter(([name]) => name !== "pinning")
    .map(([name, value]) => `- ${name}: ${value}`);
  const folders = [...new Set(trials.map(folderOf))].sort();
  const rows = folders.map((folder) =>
    row(
      folder,
      trials.filter((trial) => folderOf(trial) === folder),
    ),
  );
  const equivalent = trials.flatMap((trial) => {
    const reason = lived(trial.fate) ? reasonOf(trial) : undefined;
    return reason === undefined ? [] : [`- ${describeMutant(trial)}: ${reason}`];
  });
  return [
    `# ${run.date}, \`${run.command}\``,
    "",
    ...machine,
    `- seed: ${run.seed}`,
    `- sampled mutants not tried, because the time was over: ${run.untriedCount}`,
    `- of those that lived, not tried with the tests of the whole server, because the time was over: ${run.unaskedCount}`,
    `- tests with PostgreSQL: ${run.hasPostgres ? "asked" : "not asked, since it is not installed"}`,
    `- test files left out: ${run.leftOutTests.join(", ") || "none"}`,
    "",
    "| folder | mutants | killed | timed out | lived | equivalent | died of the valid |",
    "|---|---|---|---|---|---|---|",
    ...rows,
    row("all", trials),
    "",
    "## Lived",
    "",
    ...survivors(trials).map((trial) => `- ${describeMutant(trial)}`),
    "",
    "## Equivalent",
    "",
    ...equivalent,
    "",
  ].join("\n");
}

function lived(fate: Fate): boolean {
  return fate === "survived" || fate === "unreached";
}

function folderOf({ mutant }: Trial): string {
  return mutant.sourcePath.split("/").slice(0, -1).slice(0, 2).join("/");
}

function row(name: string, trials: readonly Trial[]): string {
  const count = (fate: Fate) => trials.filter((trial) => trial.fate === fate).length;
  const livedCount = survivors(trials).length;
  const equivalentCount = count("survived") + count("unreached") - livedCount;
  const counts = [trials.length, count("killed"), count("timedOut"), livedCount, equivalentCount];
  return `| ${[name, ...counts, `${killRate(trials).toFixed(1)} %`].join(" | ")} |`;
}
