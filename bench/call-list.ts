import { writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import * as v from "valibot";
import { packageRoot } from "../api/commands/livestream-local/package-root.js";
import { visitConsole } from "../test/browser-system/console-visit.js";
import { seedCalls } from "../test/browser-system/seeded-calls.js";
import { TestServer } from "../test/system/test-server.js";
import { ViewerBrowser } from "./livestream/viewer-browser.js";
import { thisMachine } from "./machine.js";
import { quantile } from "./quantile.js";

/**
 * `node dist/bench/call-list.js [--calls 10000] [--write]`: how evenly Chromium shows the console's list of calls while somebody
 * scrolls through it. With `--write` the table is kept beside the other results.
 */
const { values } = parseArgs({
  options: {
    calls: { type: "string", default: "10000" },
    write: { type: "boolean", default: false },
  },
});
const calls = Number(values.calls);
const CALLS_MAX = 10_000;
if (!(Number.isInteger(calls) && calls >= 100 && calls <= CALLS_MAX)) {
  console.error(`--calls: expected 100 to ${CALLS_MAX}`);
  process.exit(1);
}

/** Three pictures of a screen's sixty a second: later than that, people see it jerk. */
const FRAME_MAX_MS = 50;
/** A row of the list is so high. */
const ROW_PX = 44;
/** Two and a half screens a second is reading; a flung list passes thirty. */
const PX_PER_FRAME = { read: 30, flung: 400 } as const;
const READ_FRAMES = 600;

const Frames = v.array(v.number());

/** For the page: scrolls on by so many pixels a frame, and tells how long after one another the frames came. */
const scrolled = (pxPerFrame: number, framesMax: number) => `new Promise((resolve) => {
  const list = document.querySelector(".scroller");
  const gaps = [];
  let last = performance.now();
  const frame = (now) => {
    gaps.push(now - last);
    last = now;
    list.scrollTop += ${pxPerFrame};
    const isAtEnd = list.scrollTop + list.clientHeight >= ${calls * ROW_PX} - ${ROW_PX};
    if (isAtEnd || gaps.length >= ${framesMax}) resolve(gaps);
    else requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
})`;

const server = await TestServer.start();
const browser = await ViewerBrowser.start();
try {
  const rows = await measured();
  const report = reportOf(rows);
  console.log(report);
  if (values.write) writeFileSync(join(packageRoot(), "bench/results/call-list.md"), report);
  process.exitCode = rows.every(({ gaps }) => isKept(gaps)) ? 0 : 1;
} finally {
  await browser.stop();
  await server.close();
}

interface Row {
  readonly title: string;
  readonly gaps: readonly number[];
}

async function measured(): Promise<readonly Row[]> {
  const customer = await server.customer();
  const { id } = await server.agent(customer);
  await seedCalls(server.database, customer, id, calls);
  const { page } = await visitConsole(browser, server, customer, {
    viewport: { width: 1280, height: 800 },
  });
  await page.goto(`${server.url}/console/calls`);
  await page.locator(".scroller [data-row]").first().waitFor();
  const framesMax = (calls * ROW_PX) / PX_PER_FRAME.read;
  const gapsOf = async (pxPerFrame: number, frames: number) =>
    v.parse(Frames, await page.evaluate(scrolled(pxPerFrame, frames))).slice(1);
  const read = await gapsOf(PX_PER_FRAME.read, READ_FRAMES);
  const loading = await gapsOf(PX_PER_FRAME.flung, framesMax);
  await page.evaluate('document.querySelector(".scroller").scrollTop = 0');
  const loaded = await gapsOf(PX_PER_FRAME.flung, framesMax);
  return [
    { title: "read, and loaded as it goes", gaps: read },
    { title: "flung to the end, and loaded as it goes", gaps: loading },
    { title: "flung to the end again", gaps: loaded },
  ];
}

function isKept(gaps: readonly number[]): boolean {
  return gaps.length > 0 && quantile(gaps, 0.99) <= FRAME_MAX_MS;
}

function lineOf({ title, gaps }: Row): string {
  const shown = [0.5, 0.99, 1].map((share) => quantile(gaps, share).toFixed(0));
  const late = gaps.filter((gap) => gap > FRAME_MAX_MS).length;
  const cells = [title, gaps.length, ...shown, late, isKept(gaps) ? "yes" : "NO"];
  return `| ${cells.join(" | ")} |`;
}

function reportOf(rows: readonly Row[]): string {
  const { cpu, cores, node, commit } = thisMachine();
  return [
    "# Scrolling through a long list of calls",
    "",
    `The console's list of ${calls.toLocaleString("en")} calls in Chromium, 1280 by 800, ${PX_PER_FRAME.read} pixels a frame as one reads and ${PX_PER_FRAME.flung} as one flings; how long after one another its frames came. A frame in a hundred may come later than ${FRAME_MAX_MS} ms after the one before.`,
    `Made by \`node dist/bench/call-list.js\` on ${new Date().toISOString().slice(0, 10)}, on ${cores} cores of ${cpu}, Node ${node}, commit ${commit}; load at the end ${(loadavg()[0] ?? 0).toFixed(1)}. Chromium draws without a graphics card, and shares the machine with the server.`,
    "",
    `| Scrolled | Frames | Median, ms | p99, ms | Longest, ms | Later than ${FRAME_MAX_MS} ms | Held |`,
    "|---|---|---|---|---|---|---|",
    ...rows.map(lineOf),
    "",
  ].join("\n");
}
