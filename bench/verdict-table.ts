import { bound, promise, type Verdict } from "./budget.js";

const HEADINGS = [
  "measure",
  "measured",
  "promised",
  "kept",
  "reference",
  "ratio",
  "budget",
  "ok",
] as const;

/** The verdicts as a Markdown table whose columns also line up in a terminal. */
export function verdictTable(verdicts: readonly Verdict[]): string {
  const rows = [HEADINGS, ...verdicts.map(cells)];
  const widths = HEADINGS.map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`;
  const rule = `|${widths.map((width) => "-".repeat(width + 2)).join("|")}|`;
  return [line(HEADINGS), rule, ...rows.slice(1).map(line)].join("\n");
}

function cells(verdict: Verdict): readonly string[] {
  const { budget, measured, reference, ratio, isMet, isKept } = verdict;
  return [
    budget.title,
    `${shortNumber(measured)} ${budget.unit}`.trim(),
    promise(budget),
    isKept === undefined ? "" : isKept ? "yes" : "MISSED",
    reference === undefined ? "" : shortNumber(reference),
    ratio === undefined ? "" : ratio.toFixed(2),
    bound(budget),
    isMet ? "yes" : "NO",
  ];
}

function shortNumber(value: number): string {
  if (Math.abs(value) >= 1_000) return Math.round(value).toLocaleString("en-US");
  return Number.isInteger(value) ? String(value) : value.toFixed(Math.abs(value) >= 100 ? 0 : 2);
}
