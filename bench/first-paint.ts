import { loadavg } from "node:os";
import { parseArgs } from "node:util";
import * as v from "valibot";
import { SystemClock } from "../engine/time/clock.js";
import { TestServer } from "../test/system/test-server.js";
import { ViewerBrowser } from "./livestream/viewer-browser.js";
import { thisMachine } from "./machine.js";
import { quantile } from "./quantile.js";

/**
 * `node dist/bench/first-paint.js [--visits 5]`: how soon a phone on a slow network shows something of the console, and how soon its
 * form can be used. Network and processor are Chromium's own throttles: Lighthouse's slow 4G, and a processor four times slower.
 */
const { values } = parseArgs({ options: { visits: { type: "string", default: "5" } } });
const visits = Number(values.visits);
const VISITS_MAX = 100;
if (!(Number.isInteger(visits) && visits >= 1 && visits <= VISITS_MAX)) {
  console.error(`--visits: expected 1 to ${VISITS_MAX}`);
  process.exit(1);
}

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };
const SLOW_4G = {
  offline: false,
  latency: 150,
  downloadThroughput: 1_638_400 / 8,
  uploadThroughput: 768_000 / 8,
};
const CPU_SLOWDOWN = 4;
const PAINT_MAX_MS = 1_500;

const Times = v.object({ paintMs: v.number(), formMs: v.number() });
const TIMES = `(() => {
  const paint = performance.getEntriesByName("first-contentful-paint")[0];
  return { paintMs: paint.startTime, formMs: performance.now() };
})()`;

const server = await TestServer.start({ clock: new SystemClock() });
const browser = await ViewerBrowser.start();
const times: v.InferOutput<typeof Times>[] = [];
try {
  for (let visit = 0; visit < visits; visit += 1) {
    const { page } = await browser.prepare(PHONE);
    const session = await page.context().newCDPSession(page);
    await session.send("Network.enable");
    await session.send("Network.emulateNetworkConditions", SLOW_4G);
    await session.send("Emulation.setCPUThrottlingRate", { rate: CPU_SLOWDOWN });
    await page.goto(`${server.url}/console`);
    await page.locator("form").first().waitFor();
    times.push(v.parse(Times, await page.evaluate(TIMES)));
    await page.context().close();
  }
} finally {
  await browser.stop();
  await server.close();
}

const medianMs = (of: (each: v.InferOutput<typeof Times>) => number) =>
  Math.round(
    quantile(
      times.map(of).toSorted((a, b) => a - b),
      0.5,
    ),
  );
const paintMs = medianMs((each) => each.paintMs);
console.log(`console on a throttled phone, median of ${visits} visits`);
console.log(`  first contentful paint  ${paintMs} ms (at most ${PAINT_MAX_MS})`);
console.log(`  the form can be used    ${medianMs((each) => each.formMs)} ms`);
const { cpu, cores, node, commit } = thisMachine();
console.log(
  `  ${cpu}, ${cores} cores, Node ${node}, commit ${commit}, load ${(loadavg()[0] ?? 0).toFixed(1)}`,
);
process.exitCode = paintMs <= PAINT_MAX_MS ? 0 : 1;
