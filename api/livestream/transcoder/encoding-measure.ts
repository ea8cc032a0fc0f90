import { execFile } from "node:child_process";
import { promisify } from "node:util";

const WIDTH = 1_280;
const HEIGHT = 720;
const FRAMES = 30;
const MEASURE_TIMEOUT_MS = 30_000;
/** A test pattern is easier than a camera's picture, which takes up to twice as long (measured with noise added). */
const EASE = 1.6;
/** The rest is for the media server, the proxy and the system. */
const CORES_SHARE = 0.8;
const USER_TIME = /utime=([\d.]+)s/;

const run = promisify(execFile);

/**
 * How many megapixels a second this machine can encode: one second of 720p by its CPU time, which other work
 * hardly affects. Undefined if ffmpeg does not report it.
 */
export async function measureEncoding(
  preset: string,
  coreCount: number,
  path: string,
): Promise<number | undefined> {
  const pattern = `testsrc2=s=${WIDTH}x${HEIGHT}:r=30`;
  const args = [
    ["-nostdin", "-hide_banner", "-benchmark", "-f", "lavfi", "-i", pattern],
    ["-frames:v", String(FRAMES), "-pix_fmt", "yuv420p", "-c:v", "libx264", "-preset", preset],
    ["-b:v", "2800k", "-f", "null", "-"],
  ].flat();
  try {
    const { stderr } = await run("ffmpeg", args, {
      timeout: MEASURE_TIMEOUT_MS,
      env: { PATH: path },
    });
    const cpuSec = Number(USER_TIME.exec(stderr)?.[1]);
    if (!(cpuSec > 0)) return undefined;
    const megapixels = (WIDTH * HEIGHT * FRAMES) / 1_000_000;
    return (megapixels / cpuSec / EASE) * coreCount * CORES_SHARE;
  } catch {
    return undefined;
  }
}
