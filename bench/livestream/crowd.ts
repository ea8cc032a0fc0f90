import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as v from "valibot";
import { StackProcess } from "./stack-process.js";
import type { ViewerBrowser } from "./viewer-browser.js";

export const CROWD = 12;
export const CROWD_LISTED_MS_MAX = 15_000;
const RECORDED_SEC = 10;
const WAIT_MAX_MS = 60_000;
const LOOK_PERIOD_MS = 100;
/** What an operator has who sets nothing. */
const DEFAULTS = {
  PRESET: "veryfast",
  AUDIO_RUNG: "1",
  ENCODE_MEGAPIXELS_MAX: "0",
  SPEED_MIN_PERCENT: "92",
};

const Listing = v.object({
  data: v.object({
    streams: v.array(
      v.object({ streamKey: v.string(), qualities: v.array(v.object({ name: v.string() })) }),
    ),
  }),
});
type Listed = v.InferOutput<typeof Listing>["data"]["streams"];

export interface CrowdTiming {
  /** When the first, second, ... of them was listed. */
  readonly listedMs: readonly number[];
  /** From opening a page to its first pictures, of a few streams one after another. */
  readonly playingMs: readonly number[];
  /** What was made of each. */
  readonly ladders: readonly string[];
}

/** Broadcasters that all begin at once, on a stack with its defaults. */
export async function measureCrowd(browser: ViewerBrowser): Promise<CrowdTiming> {
  const folder = await mkdtemp(join(tmpdir(), "parley-crowd-"));
  const film = join(folder, "film.flv");
  await record(film);
  const stack = await StackProcess.start(DEFAULTS);
  const publishers: ChildProcess[] = [];
  try {
    await stack.line(/measured what can be encoded/);
    const beganMs = performance.now();
    for (let number = 1; number <= CROWD; number += 1) {
      const args = ["-v", "error", "-nostdin", "-re", "-stream_loop", "-1", "-i", film];
      const to = ["-c", "copy", "-f", "flv", stack.rtmpUrl(`cam-${number}`)];
      publishers.push(spawn("ffmpeg", [...args, ...to], { stdio: "ignore" }));
    }
    const listedMs: number[] = [];
    let listed: Listed = [];
    while (listed.length < CROWD && performance.now() - beganMs < WAIT_MAX_MS) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_PERIOD_MS));
      listed = await streamsOf(stack);
      while (listedMs.length < listed.length) listedMs.push(performance.now() - beganMs);
    }
    if (listed.length < CROWD) throw new Error(`only ${listed.length} of ${CROWD} were listed`);
    const playingMs: number[] = [];
    for (const place of [0, CROWD / 2, CROWD - 1]) {
      playingMs.push(await playing(browser, `${stack.frontUrl}/#/${listed[place]?.streamKey}`));
    }
    const ladders = (await streamsOf(stack)).map(({ qualities }) =>
      qualities.map(({ name }) => name).join(" "),
    );
    return { listedMs, playingMs, ladders };
  } finally {
    for (const publisher of publishers) publisher.kill("SIGKILL");
    await stack.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** A moving picture with a tone, encoded once: what is measured is the receiving end. */
async function record(path: string): Promise<void> {
  const picture = `testsrc2=size=1280x720:rate=30:duration=${RECORDED_SEC}`;
  const args = [
    ["-v", "error", "-nostdin", "-f", "lavfi", "-i", picture],
    ["-f", "lavfi", "-i", `sine=duration=${RECORDED_SEC}`, "-pix_fmt", "yuv420p"],
    ["-c:v", "libx264", "-preset", "veryfast", "-b:v", "2500k", "-g", "30", "-bf", "0"],
    ["-c:a", "aac", "-f", "flv", path],
  ].flat();
  const [status] = await once(spawn("ffmpeg", args, { stdio: "ignore" }), "exit");
  if (status !== 0) throw new Error(`ffmpeg ended with ${status}`);
}

async function streamsOf(stack: StackProcess): Promise<Listed> {
  const answer = await fetch(`${stack.frontUrl}/api/streams`);
  return v.parse(Listing, await answer.json()).data.streams;
}

async function playing(browser: ViewerBrowser, url: string): Promise<number> {
  const beganMs = performance.now();
  const viewer = await browser.open(url);
  await viewer.untilPlaying(WAIT_MAX_MS);
  const passedMs = performance.now() - beganMs;
  await viewer.close();
  return passedMs;
}
