import type { Machine } from "../machine.js";
import type { Attack } from "./attack.js";
import type { Findings } from "./findings.js";

/** An attack with what came of it. */
export interface Outcome {
  readonly attack: Attack;
  readonly findings: Findings;
  readonly tookMs: number;
}

export interface Run {
  readonly machine: Machine;
  readonly date: string;
  readonly seed: number;
  readonly command: string;
}

const HEADINGS = ["attack", "tries", "held", "broke", "what"] as const;

/** Something broke, or nothing at all could be tried although the attack was not skipped. */
export function hasBroken({ findings }: Outcome): boolean {
  return findings.broke > 0 || (findings.tries === 0 && findings.skipped.length === 0);
}

/** The outcomes as a Markdown table. */
export function outcomeTable(outcomes: readonly Outcome[]): string {
  const rows = outcomes.map(({ attack, findings }) => [
    attack.name,
    String(findings.tries),
    String(findings.held),
    String(findings.broke),
    whatOf(findings),
  ]);
  const rule = HEADINGS.map(() => "---");
  return [HEADINGS, rule, ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** The table with what each attack promises, when, where and with which seed it was run. */
export function attackReport(run: Run, outcomes: readonly Outcome[]): string {
  const { machine, date, seed, command } = run;
  const facts = [
    `- command: \`${command}\``,
    `- seed: ${seed}`,
    ...Object.entries(machine)
      .filter(([fact]) => fact !== "pinning")
      .map(([fact, value]) => `- ${fact}: ${value}`),
  ];
  const promises = outcomes.map(
    ({ attack, tookMs }) =>
      `- **${attack.name}** (${Math.round(tookMs / 1_000)} s): ${attack.promise}`,
  );
  return [
    `# ${date}, \`npm run attack\``,
    facts.join("\n"),
    outcomeTable(outcomes),
    "What each promises:",
    promises.join("\n"),
    "",
  ].join("\n\n");
}

function whatOf({ breaks, skipped, notes }: Findings): string {
  const parts = [...breaks, ...notes, ...skipped.map((why) => `skipped: ${why}`)];
  return parts.join("; ").replaceAll("|", "\\|").replaceAll("\n", " ");
}
