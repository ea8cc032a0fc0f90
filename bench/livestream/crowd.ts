import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as v from "valibot";
import { Audience, type Watching } from "./audience.js";
import { StackProcess } from "./stack-process.js";
import type { ViewerBrowser } from "./viewer-browser.js";

export const CROWD = 12;
/** Until all of them are listed, and play. */
export const CROWD_MS_MAX = 15_000;
/** hls.js plays a little faster or slower to stay where it should be. */
export const REAL_TIME_MIN = 0.95;
const WATCHED_MS = 10_000;
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
  /** When the first, second, ... of them played, on pages that were open before. */
  readonly playingMs: readonly number[];
  /** How each of them then plays, all at the same time. */
  readonly watching: readonly Watching[];
  /** What was made of each. */
  readonly ladders: readonly string[];
}

/** Broadcasters that all begin at once, and a viewer for each, on a stack with its defaults. */
export async function measureCrowd(browser: ViewerBrowser): Promise<CrowdTiming> {
  const folder = await mkdtemp(join(tmpdir(), "parley-crowd-"));
  const film = join(folder, "film.flv");
  await record(film);
  const stack = await StackProcess.start(DEFAULTS);
  const publishers: ChildProcess[] = [];
  const keys = Array.from({ length: CROWD }, (_, place) => `cam-${place + 1}`);
  try {
    await stack.line(/measured what can be encoded/);
    const audience = await Audience.open(
      browser,
      keys.map((key) => `${stack.frontUrl}/#/${key}`),
    );
    const beganMs = performance.now();
    for (const key of keys) {
      const args = ["-v", "error", "-nostdin", "-re", "-stream_loop", "-1", "-i", film];
      const to = ["-c", "copy", "-f", "flv", stack.rtmpUrl(key)];
      publishers.push(spawn("ffmpeg", [...args, ...to], { stdio: "ignore" }));
    }
    const [listedMs, playingMs] = await Promise.all([
      untilListed(stack, beganMs),
      audience.untilPlaying(beganMs, WAIT_MAX_MS),
    ]);
    const watching = await audience.watch(WATCHED_MS);
    const ladders = (await streamsOf(stack)).map(({ qualities }) =>
      qualities.map(({ name }) => name).join(" "),
    );
    await audience.close();
    return {
      listedMs,
      playingMs: playingMs.toSorted((one, other) => one - other),
      watching,
      ladders,
    };
  } finally {
    for (const publisher of publishers) publisher.kill("SIGKILL");
    await stack.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function untilListed(stack: StackProcess, beganMs: number): Promise<readonly number[]> {
  const listedMs: number[] = [];
  while (listedMs.length < CROWD) {
    const passedMs = performance.now() - beganMs;
    if (passedMs > WAIT_MAX_MS) throw new Error(`only ${listedMs.length} of ${CROWD} were listed`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_PERIOD_MS));
    const { length } = await streamsOf(stack);
    while (listedMs.length < length) listedMs.push(performance.now() - beganMs);
  }
  return listedMs;
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
