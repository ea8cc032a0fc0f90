import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as v from "valibot";
import { Audience, type Screen, type Watching } from "./audience.js";
import { type CpuShare, CpuWatch } from "./cpu-shares.js";
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

/** One broadcast of them; times in milliseconds since the first broadcaster began, infinite for what did not come to be. */
export interface CrowdBroadcast {
  readonly streamKey: string;
  readonly listedMs: number;
  /** On a page that was open before. */
  readonly playingMs: number;
  /** How it then plays, beside all others. */
  readonly watching: Watching;
  /** What was made of it. */
  readonly rungs: readonly string[];
}

export interface CrowdTiming {
  readonly broadcasts: readonly CrowdBroadcast[];
  /** While all of them played. */
  readonly shares: readonly CpuShare[];
}

/** Broadcasters that all begin at once, and a viewer for each, on a stack with its defaults. */
export async function measureCrowd(browser: ViewerBrowser, screen: Screen): Promise<CrowdTiming> {
  const folder = await mkdtemp(join(tmpdir(), "parley-crowd-"));
  const film = join(folder, "film.flv");
  await record(film);
  const stack = await StackProcess.start(DEFAULTS);
  const publishers: ChildProcess[] = [];
  const keys = Array.from({ length: CROWD }, (_, place) => `cam-${place + 1}`);
  try {
    await stack.line(/measured this machine's encoding capacity/);
    const audience = await Audience.open(
      browser,
      keys.map((key) => `${stack.frontUrl}/#/${key}`),
      screen,
    );
    const beganMs = performance.now();
    for (const key of keys) {
      const args = ["-v", "error", "-nostdin", "-re", "-stream_loop", "-1", "-i", film];
      const to = ["-c", "copy", "-f", "flv", stack.rtmpUrl(key)];
      publishers.push(spawn("ffmpeg", [...args, ...to], { stdio: "ignore" }));
    }
    const [listed, playing] = await Promise.all([
      untilListed(stack, beganMs),
      audience.untilPlaying(beganMs, WAIT_MAX_MS),
    ]);
    const cpu = new CpuWatch(
      stack.pid ?? Number.NaN,
      publishers.flatMap(({ pid }) => pid ?? []),
    );
    cpu.begin();
    const watching = await audience.watch(WATCHED_MS);
    const shares = cpu.end();
    const streams = await streamsOf(stack);
    await audience.close();
    const broadcasts = watching.map((seen, place) => {
      const streamKey = keys[place] ?? "";
      const { qualities = [] } = streams.find((stream) => stream.streamKey === streamKey) ?? {};
      return {
        streamKey,
        listedMs: listed.get(streamKey) ?? Number.POSITIVE_INFINITY,
        playingMs: playing[place] ?? Number.POSITIVE_INFINITY,
        watching: seen,
        rungs: qualities.map(({ name }) => name),
      };
    });
    return { broadcasts, shares };
  } finally {
    for (const publisher of publishers) publisher.kill("SIGKILL");
    await stack.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** By stream key, when each was seen in the list; without those that were not within WAIT_MAX_MS. */
async function untilListed(
  stack: StackProcess,
  beganMs: number,
): Promise<ReadonlyMap<string, number>> {
  const listedMs = new Map<string, number>();
  while (listedMs.size < CROWD && performance.now() - beganMs < WAIT_MAX_MS) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_PERIOD_MS));
    for (const { streamKey } of await streamsOf(stack)) {
      if (!listedMs.has(streamKey)) listedMs.set(streamKey, performance.now() - beganMs);
    }
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
