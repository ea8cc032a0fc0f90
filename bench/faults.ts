import { writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { packageRoot } from "../api/commands/livestream-local/package-root.js";
import { FAULT_ROWS, type FaultRow } from "./faults/fault-rows.js";
import { healthySilenceMs, type TrialResult, tryFault } from "./faults/fault-trial.js";
import { thisMachine } from "./machine.js";
import { quantile } from "./quantile.js";

/**
 * `npm run faults -- [--alone] [part of a name]`: what a caller notices of each fault of each vendor, with a chain of two or,
 * with `--alone`, without anybody to turn to. The whole matrix is written beside the other results.
 */
const args = process.argv.slice(2);
const isAlone = args.includes("--alone");
const part = args.find((arg) => !arg.startsWith("--"));
/** A call waits more than it works. */
const AT_ONCE = 4;
const SILENCE_P99_MAX_MS = 1_500;

const rows = FAULT_ROWS.filter(
  ({ kind, fault, stage }) => part === undefined || `${kind} ${fault} ${stage}`.includes(part),
);
const date = new Date().toISOString().slice(0, 10);
const loadBefore = loadOf();
const healthyMs = await healthySilenceMs();
const results = new Map<FaultRow, TrialResult>();
const waiting = [...rows];
await Promise.all(Array.from({ length: AT_ONCE }, () => tryAll()));
const inOrder = rows.flatMap((row) => results.get(row) ?? []);
const report = reportOf(inOrder);
console.log(report.slice(0, report.indexOf("| Vendor")));
if (part === undefined && !isAlone) {
  writeFileSync(join(packageRoot(), "bench/results/fault-matrix.md"), report);
}
process.exitCode = inOrder.every(isGood) || isAlone ? 0 : 1;

async function tryAll(): Promise<void> {
  for (let row = waiting.shift(); row !== undefined; row = waiting.shift()) {
    const result = await tryFault(row, { healthyMs, isAlone });
    results.set(row, result);
    console.log(lineOf(result));
  }
}

/** Processes that wanted a core in the last minute. */
function loadOf(): string {
  return (loadavg()[0] ?? 0).toFixed(1);
}

function isGood({ isLost, wordsLost, wordsTwice }: TrialResult): boolean {
  return !isLost && wordsLost === 0 && wordsTwice === 0;
}

function lineOf(result: TrialResult): string {
  const { row, isLost, extraMs, wordsLost, wordsTwice, wordsBrokenOff } = result;
  const { kind, fault, stage } = row;
  const silence = isLost ? "-" : extraMs;
  return `| ${kind} | ${fault} | ${stage} | ${silence} | ${isLost ? 1 : 0} | ${wordsLost} | ${wordsTwice} | ${wordsBrokenOff} |`;
}

function reportOf(all: readonly TrialResult[]): string {
  const kept = all.filter(({ isLost }) => !isLost).map(({ extraMs }) => extraMs);
  const { cpu, cores, node, commit } = thisMachine();
  const sum = (count: (one: TrialResult) => number) => all.reduce((n, one) => n + count(one), 0);
  return [
    "# The fault matrix",
    "",
    `One call of three turns for each fault of one vendor, against the sandbox, with one vendor that stands in for it, on a server that has had 25 turns that went well.`,
    `Made by \`npm run faults\` on ${date}, on ${cores} cores of ${cpu}, Node ${node}, commit ${commit}.`,
    `The machine had a load of ${loadBefore} before, and of ${loadOf()} at the end: with other work beside it silences are longer.`,
    "",
    `- calls: ${all.length}, lost: ${sum(({ isLost }) => Number(isLost))}`,
    `- extra silence in the worst turn of a call: median ${quantile(kept, 0.5)} ms, p99 ${quantile(kept, 0.99)} ms (wanted: ${SILENCE_P99_MAX_MS})`,
    `- words lost: ${sum(({ wordsLost }) => wordsLost)}, twice: ${sum(({ wordsTwice }) => wordsTwice)}`,
    `- words that broke off with their voice and were said anew: ${sum(({ wordsBrokenOff }) => wordsBrokenOff)}`,
    `- a turn without a fault has ${Math.round(healthyMs)} ms of silence`,
    "",
    "| Vendor | Fault | It strikes | Extra silence, ms | Calls lost | Words lost | Words twice | Broken off |",
    "|---|---|---|---|---|---|---|---|",
    ...all.map(lineOf),
    "",
  ].join("\n");
}
