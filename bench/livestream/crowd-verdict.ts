import { loadavg } from "node:os";
import { CROWD_MS_MAX, type CrowdBroadcast, type CrowdTiming, REAL_TIME_MIN } from "./crowd.js";

const HEADINGS = [
  "",
  "listed s",
  "playing s",
  "of real time",
  "frames/s",
  "not shown",
  "rungs",
  "ok",
];

/** Tells how many broadcasts at once went, each by itself, and who took the machine's time; true when all kept what is promised. */
export function tellCrowd({ broadcasts, shares }: CrowdTiming, page: string): boolean {
  const areAllKept = broadcasts.every(isKept);
  console.log(
    `\n${broadcasts.length} broadcasters of 720p30 at once and as many pages of ${page} in one Chromium, with the defaults, load ${loadavg()[0]?.toFixed(1)}`,
  );
  console.log(
    `Promise: all listed and playing within ${CROWD_MS_MAX / 1_000} s, at ${REAL_TIME_MIN} of real time: ${areAllKept ? "yes" : "NO"}, ${broadcasts.filter(isKept).length} of ${broadcasts.length}\n`,
  );
  console.log(`| ${HEADINGS.join(" | ")} |`);
  console.log(`|${HEADINGS.map(() => "---|").join("")}`);
  for (const broadcast of broadcasts) console.log(`| ${cellsOf(broadcast).join(" | ")} |`);
  console.log("\nCores that were busy meanwhile, and with what:");
  for (const { part, cores, most } of shares) {
    const named = most.map(({ name, cores: own }) => `${name} ${own.toFixed(2)}`).join(", ");
    console.log(`- ${part}: ${cores.toFixed(2)} (${named})`);
  }
  return areAllKept;
}

function isKept({ listedMs, playingMs, watching }: CrowdBroadcast): boolean {
  return Math.max(listedMs, playingMs) < CROWD_MS_MAX && watching.rate >= REAL_TIME_MIN;
}

function cellsOf(broadcast: CrowdBroadcast): readonly string[] {
  const { streamKey, listedMs, playingMs, watching, rungs } = broadcast;
  return [
    streamKey.padEnd(6),
    seconds(listedMs),
    seconds(playingMs),
    watching.rate.toFixed(2),
    watching.framesPerSec.toFixed(0),
    `${(watching.dropped * 100).toFixed(0)} %`,
    rungs.join(" "),
    isKept(broadcast) ? "yes" : "NO",
  ];
}

function seconds(ms: number): string {
  return Number.isFinite(ms) ? (ms / 1_000).toFixed(1) : "never";
}
