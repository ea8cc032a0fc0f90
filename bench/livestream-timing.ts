import { loadavg } from "node:os";
import { parseArgs } from "node:util";
import type { Screen } from "./livestream/audience.js";
import { measureCrowd } from "./livestream/crowd.js";
import { tellCrowd } from "./livestream/crowd-verdict.js";
import { Publisher } from "./livestream/publisher.js";
import { StackProcess } from "./livestream/stack-process.js";
import { ViewerBrowser, type ViewerPage } from "./livestream/viewer-browser.js";
import { thisMachine } from "./machine.js";
import { median } from "./quantile.js";

/**
 * How long a viewer waits for a broadcast, how old its pictures are, and how long one that has ended is still listed: the whole
 * component with segments and keyframes of a second; then twelve broadcasters at once, which `--twelve` measures alone, with pages
 * of `--page`. `npm run bench:livestream [-- --twelve --page 480x400]`; exit status 1 when a promise is not kept.
 */
const { values } = parseArgs({
  options: {
    twelve: { type: "boolean", default: false },
    // Small, because what is drawn costs as much as what is decoded, and every viewer has a machine of his own.
    page: { type: "string", default: "480x400" },
  },
});
const RUNS = 3;
const LISTED_MS_MAX = 3_000;
const PLAYING_MS_MAX = 4_000;
const AGE_MS_MAX = 3_000;
const GONE_MS_MAX = 100;
/** What each run is held to. */
const PROMISES: readonly (readonly [title: string, limitMs: number, pick: (run: Run) => number])[] =
  [
    ["publish to listed", LISTED_MS_MAX, ({ listedMs }) => listedMs],
    ["publish to playing in Chromium", PLAYING_MS_MAX, ({ playingMs }) => playingMs],
    ["glass to glass, median", AGE_MS_MAX, ({ ageMs }) => ageMs],
    ["publisher gone to un-listed", GONE_MS_MAX, ({ goneMs }) => goneMs],
  ];
const AGES = 20;
const AGE_PERIOD_MS = 250;
const ASK_PERIOD_MS = 5;
const WAIT_MAX_MS = 30_000;

interface Run {
  readonly listedMs: number;
  readonly playingMs: number;
  /** From the publisher's picture to the viewer's, in the middle of some seconds. */
  readonly ageMs: number;
  readonly goneMs: number;
}

async function measure(stack: StackProcess, browser: ViewerBrowser, key: string): Promise<Run> {
  // The viewer is there first: what is measured is the broadcast's way, not that of the page.
  const viewer = await browser.open(`${stack.frontUrl}/#/${key}`);
  await viewer.untilText("#feed-state", /^Live updates$/);
  const beganMs = performance.now();
  const publisher = new Publisher({ url: stack.rtmpUrl(key), size: "640x360", hasClock: true });
  const listed = untilListing(stack, key, true).then(() => performance.now() - beganMs);
  const playing = viewer.untilPlaying(WAIT_MAX_MS).then(() => performance.now() - beganMs);
  const [listedMs, playingMs] = await Promise.all([listed, playing]);
  const ageMs = await pictureAge(viewer);
  await publisher.kill();
  const leftMs = performance.now();
  await untilListing(stack, key, false);
  const goneMs = performance.now() - leftMs;
  await viewer.close();
  return { listedMs, playingMs, ageMs, goneMs };
}

async function pictureAge(viewer: ViewerPage): Promise<number> {
  const agesMs: number[] = [];
  for (let look = 0; look < AGES; look += 1) {
    await new Promise((resolve) => setTimeout(resolve, AGE_PERIOD_MS));
    agesMs.push((await viewer.pictureAgeMs()) ?? Number.NaN);
  }
  return median(agesMs.filter((ageMs) => !Number.isNaN(ageMs)));
}

async function untilListing(stack: StackProcess, key: string, isLive: boolean): Promise<void> {
  const deadlineMs = performance.now() + WAIT_MAX_MS;
  while (performance.now() < deadlineMs) {
    const answer = await fetch(`${stack.frontUrl}/api/streams`);
    const text = await answer.text();
    if (answer.ok && text.includes(`"streamKey":"${key}"`) === isLive) return;
    await new Promise((resolve) => setTimeout(resolve, ASK_PERIOD_MS));
  }
  throw new Error(`${key} was not ${isLive ? "listed" : "un-listed"} within ${WAIT_MAX_MS} ms`);
}

function row(title: string, values: readonly number[], limitMs: number): string {
  const worst = Math.max(...values);
  const cells = [...values, worst].map((value) => Math.round(value).toString().padStart(6));
  const verdict = worst < limitMs ? "yes" : "NO";
  return `| ${title.padEnd(31)} | ${cells.join(" | ")} | ${String(limitMs).padStart(7)} | ${verdict.padEnd(3)} |`;
}

const page = readScreen(values.page);
const browser = await ViewerBrowser.start();
let isKept = true;
tellMachine();
try {
  if (!values.twelve) isKept = tellRuns(await measureRuns());
  isKept = tellCrowd(await measureCrowd(browser, page), values.page) && isKept;
} finally {
  await browser.stop();
}
process.exitCode = isKept ? 0 : 1;

async function measureRuns(): Promise<readonly Run[]> {
  const stack = await StackProcess.start();
  const runs: Run[] = [];
  try {
    for (let number = 1; number <= RUNS; number += 1) {
      runs.push(await measure(stack, browser, `run-${number}`));
    }
  } finally {
    await stack.stop();
  }
  return runs;
}

/** Ends the process when it is none. */
function readScreen(text: string): Screen {
  const [, width, height] = /^(\d{2,4})x(\d{2,4})$/.exec(text) ?? [];
  if (width !== undefined && height !== undefined)
    return { width: Number(width), height: Number(height) };
  console.error("--page: expected a size such as 480x400");
  process.exit(1);
}

function tellMachine(): void {
  const { cpu, cores, node, commit } = thisMachine();
  const load = loadavg()
    .map((average) => average.toFixed(1))
    .join(" ");
  console.log(`${cpu}, ${cores} cores, Node ${node}, commit ${commit}, load ${load} before\n`);
}

/** Tells what three broadcasts took, one after another; true when every promise is kept. */
function tellRuns(runs: readonly Run[]): boolean {
  const numbers = runs.map((_, place) => `run ${place + 1} `.padStart(6));
  console.log("One broadcast after another, of 640x360 at 15 frames/s");
  console.log(`| ${"ms".padEnd(31)} | ${numbers.join(" | ")} |  worst | promise | ok  |`);
  console.log(`|${"-".repeat(33)}|${"--------|".repeat(RUNS + 1)}---------|-----|`);
  for (const [title, limitMs, pick] of PROMISES) console.log(row(title, runs.map(pick), limitMs));
  return PROMISES.every(([, limitMs, pick]) => runs.every((run) => pick(run) < limitMs));
}
