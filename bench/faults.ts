import { writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { packageRoot } from "../api/commands/livestream-local/package-root.js";
import { FAULT_ROWS, type FaultRow } from "./faults/fault-rows.js";
import { healthySilenceMs, type TrialResult, tryFault } from "./faults/fault-trial.js";
import { thisMachine } from "./machine.js";
import { quantile } from "./quantile.js";

/**
 * `npm run faults -- [--alone] [--calls 1000] [part of a name]`: what a caller notices of each fault of each vendor, with a chain of
 * two or, with `--alone`, without anybody to turn to. Of `--calls` in all, those of one fault are struck at once; else it is one
 * for each. The whole matrix is written beside the other results.
 */
const { values, positionals } = parseArgs({
  options: { alone: { type: "boolean", default: false }, calls: { type: "string" } },
  allowPositionals: true,
});
const isAlone = values.alone;
const [part] = positionals;
/** A call waits more than it works; but callers, server and vendors share one process. */
const CALLS_AT_ONCE = 4;
const CALLS_MAX = 10_000;
const SILENCE_P99_MAX_MS = 1_500;
const COUNTED: readonly ((call: TrialResult) => number)[] = [
  ({ isLost }) => Number(isLost),
  ({ wordsLost }) => wordsLost,
  ({ wordsTwice }) => wordsTwice,
  ({ wordsBrokenOff }) => wordsBrokenOff,
];

const rows = FAULT_ROWS.filter(
  ({ kind, fault, stage }) => part === undefined || `${kind} ${fault} ${stage}`.includes(part),
);
const callsInAll = values.calls === undefined ? rows.length : Number(values.calls);
if (!(callsInAll >= 1 && callsInAll <= CALLS_MAX)) {
  console.error(`--calls: expected 1 to ${CALLS_MAX}`);
  process.exit(1);
}
const callsOfEach = Math.ceil(callsInAll / Math.max(1, rows.length));
const date = new Date().toISOString().slice(0, 10);
const loadBefore = loadOf();
const healthyMs = await healthySilenceMs();
const results = new Map<FaultRow, readonly TrialResult[]>();
const waiting = [...rows];
const lanes = Math.max(1, Math.floor(CALLS_AT_ONCE / callsOfEach));
await Promise.all(Array.from({ length: lanes }, () => tryAll()));
const all = rows.flatMap((row) => results.get(row) ?? []);
const report = reportOf();
console.log(report.slice(0, report.indexOf("| Vendor")));
if (part === undefined && !isAlone) {
  const name = callsOfEach === 1 ? "fault-matrix" : "fault-calls";
  writeFileSync(join(packageRoot(), `bench/results/${name}.md`), report);
}
process.exitCode = all.every(isGood) || isAlone ? 0 : 1;

async function tryAll(): Promise<void> {
  for (let row = waiting.shift(); row !== undefined; row = waiting.shift()) {
    results.set(row, await tryFault(row, { healthyMs, isAlone, calls: callsOfEach }));
    console.log(lineOf(row));
  }
}

/** Processes that wanted a core in the last minute. */
function loadOf(): string {
  return (loadavg()[0] ?? 0).toFixed(1);
}

function isGood({ isLost, wordsLost, wordsTwice }: TrialResult): boolean {
  return !isLost && wordsLost === 0 && wordsTwice === 0;
}

function lineOf(row: FaultRow): string {
  const calls = results.get(row) ?? [];
  const silences = silencesOf(calls);
  const silence = silences.length === 0 ? "-" : Math.max(...silences);
  const counts = COUNTED.map((count) => sumOf(calls, count));
  return `| ${[row.kind, row.fault, row.stage, silence, ...counts].join(" | ")} |`;
}

function silencesOf(calls: readonly TrialResult[]): readonly number[] {
  return calls.filter(({ isLost }) => !isLost).map(({ extraMs }) => extraMs);
}

function sumOf(calls: readonly TrialResult[], count: (one: TrialResult) => number): number {
  return calls.reduce((sum, one) => sum + count(one), 0);
}

function reportOf(): string {
  const kept = silencesOf(all);
  const { cpu, cores, node, commit } = thisMachine();
  const [lost, wordsLost, wordsTwice, brokenOff] = COUNTED.map((count) => sumOf(all, count));
  const calls = callsOfEach === 1 ? "One call" : `${callsOfEach} calls at once,`;
  return [
    "# The fault matrix",
    "",
    `${calls} of three turns for each fault of one vendor, against the sandbox, with one vendor that stands in for it, on a server that has had 25 turns that went well.`,
    `Made by \`npm run faults\` on ${date}, on ${cores} cores of ${cpu}, Node ${node}, commit ${commit}.`,
    `The machine had a load of ${loadBefore} before, and of ${loadOf()} at the end: with other work beside it silences are longer.`,
    "",
    `- calls: ${all.length}, lost: ${lost}`,
    `- extra silence in the worst turn of a call: median ${quantile(kept, 0.5)} ms, p99 ${quantile(kept, 0.99)} ms (wanted: ${SILENCE_P99_MAX_MS})`,
    `- words lost: ${wordsLost}, twice: ${wordsTwice}`,
    `- words that broke off with their voice and were said anew: ${brokenOff}`,
    `- a turn without a fault has ${Math.round(healthyMs)} ms of silence`,
    "",
    "| Vendor | Fault | It strikes | Extra silence, ms | Calls lost | Words lost | Words twice | Broken off |",
    "|---|---|---|---|---|---|---|---|",
    ...rows.map(lineOf),
    "",
  ].join("\n");
}
