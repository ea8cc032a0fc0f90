import { writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { packageRoot } from "../api/commands/livestream-local/package-root.js";
import { SystemClock } from "../engine/time/clock.js";
import { TestServer } from "../test/system/test-server.js";
import { ViewerBrowser } from "./livestream/viewer-browser.js";
import { thisMachine } from "./machine.js";
import { type SoundTrial, soundTrial } from "./page-sound/sound-trial.js";
import { quantile } from "./quantile.js";

/**
 * `node dist/bench/page-sound.js [--calls 10] [--write]`: how soon what the server sends is heard in a page, and how soon the page is
 * silent when the caller interrupts, from what Chromium plays. With `--write` the table is kept beside the other results.
 */
const { values } = parseArgs({
  options: { calls: { type: "string", default: "10" }, write: { type: "boolean", default: false } },
});
const calls = Number(values.calls);
const CALLS_MAX = 200;
if (!(Number.isInteger(calls) && calls >= 1 && calls <= CALLS_MAX)) {
  console.error(`--calls: expected 1 to ${CALLS_MAX}`);
  process.exit(1);
}

const MICROPHONE = ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"];

interface Measure {
  readonly title: string;
  readonly maxMs: number;
  readonly of: (trial: SoundTrial) => readonly number[];
}

const MEASURES: readonly Measure[] = [
  { title: "sent to heard", maxMs: 120, of: ({ firstSoundMs }) => firstSoundMs },
  { title: "voice's first byte to heard", maxMs: 120, of: ({ fromVoiceMs }) => fromVoiceMs },
  { title: "interrupted to silent", maxMs: 60, of: ({ silenceMs }) => [silenceMs] },
];

const loadBefore = loadOf();
const trials = await allTrials();
const report = reportOf();
console.log(report);
if (values.write) writeFileSync(join(packageRoot(), "bench/results/page-sound.md"), report);
process.exitCode = MEASURES.every(isKept) ? 0 : 1;

async function allTrials(): Promise<readonly SoundTrial[]> {
  const server = await TestServer.start({ clock: new SystemClock() });
  const browser = await ViewerBrowser.start(MICROPHONE);
  const done: SoundTrial[] = [];
  try {
    for (let call = 0; call < calls; call += 1) done.push(await soundTrial(server, browser));
    return done;
  } finally {
    await browser.stop();
    await server.close();
  }
}

/** Processes that wanted a core in the last minute. */
function loadOf(): string {
  return (loadavg()[0] ?? 0).toFixed(1);
}

function measured({ of }: Measure): readonly number[] {
  return trials.flatMap(of);
}

function isKept(measure: Measure): boolean {
  const all = measured(measure);
  return all.length > 0 && Math.max(...all) <= measure.maxMs;
}

function lineOf(measure: Measure): string {
  const all = measured(measure);
  const shown = [quantile(all, 0.5), quantile(all, 0.95), Math.max(...all)].map(Math.round);
  const cells = [
    measure.title,
    all.length,
    ...shown,
    measure.maxMs,
    isKept(measure) ? "yes" : "NO",
  ];
  return `| ${cells.join(" | ")} |`;
}

function reportOf(): string {
  const { cpu, cores, node, commit } = thisMachine();
  return [
    "# What a page plays, and when",
    "",
    `${calls} calls by Chromium one after the other: a reply that is interrupted, and the reply to that. What is connected to the loudspeaker is captured; when the device plays which sample is told by its \`getOutputTimestamp\`. Moments of the server are those at which its bytes come out at the other end of the line.`,
    `Made by \`node dist/bench/page-sound.js --calls ${calls}\` on ${new Date().toISOString().slice(0, 10)}, on ${cores} cores of ${cpu}, Node ${node}, commit ${commit}.`,
    `The machine had a load of ${loadBefore} before, and of ${loadOf()} at the end; server, vendors and Chromium share it.`,
    "",
    "| | Times | Median, ms | p95, ms | Longest, ms | Promised, ms | Held |",
    "|---|---|---|---|---|---|---|",
    ...MEASURES.map(lineOf),
    "",
  ].join("\n");
}
