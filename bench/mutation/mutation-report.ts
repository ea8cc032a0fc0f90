import type { Machine } from "../machine.js";
import { equivalenceOf } from "./equivalents/equivalent-mutants.js";
import type { Fate, Trial } from "./mutant-trial.js";
import type { Mutant } from "./sampled-mutants.js";

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
export function describeMutant({ mutant, fate }: Pick<Trial, "mutant" | "fate">): string {
  const { sourcePath, line, code } = mutant;
  const place =
    fate === "unreached" ? `, which no test executes: ${shown(code)}` : ` in ${shown(code)}`;
  return `${sourcePath}:${line} ${describeChange(mutant)}${place}`;
}

/** Those of the mutants that a report or the output of a run names, whatever their lines are now. */
export function named(mutants: readonly Mutant[], report: string): readonly Mutant[] {
  const lines = report.split("\n");
  return mutants.filter((mutant) => {
    const [path, change, code] = [
      `${mutant.sourcePath}:`,
      describeChange(mutant),
      shown(mutant.code),
    ];
    return lines.some((line) => [path, ` ${change}`, code].every((part) => line.includes(part)));
  });
}

function describeChange({ change, original }: Mutant): string {
  const to = change.replacement === ";" ? "nothing" : shown(change.replacement);
  return `${shown(original)} → ${to} (${change.operator})`;
}

function shown(text: string): string {
  return `\`${text.replace(/\s+/g, " ").slice(0, 80)}\``;
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
    ...table("folder", trials, folderOf),
    "",
    ...table("kind of fault", trials, ({ mutant }) => mutant.change.operator),
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

function table(
  title: string,
  trials: readonly Trial[],
  groupOf: (trial: Trial) => string,
): readonly string[] {
  const groups = [...new Set(trials.map(groupOf))].sort();
  const of = (group: string) => trials.filter((trial) => groupOf(trial) === group);
  return [
    `| ${title} | mutants | killed | timed out | lived | equivalent | died of the valid |`,
    "|---|---|---|---|---|---|---|",
    ...groups.map((group) => row(group, of(group))),
    row("all", trials),
  ];
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
