import { execFile } from "node:child_process";
import { promisify } from "node:util";
import * as v from "valibot";
import { readingArguments } from "./ladder-arguments.js";
import { NO_TRACKS } from "./published-stream.js";
import type { Probed } from "./source-describer.js";

const PROBE_TIMEOUT_MS = 20_000;
const ANSWER_BYTES_MAX = 256 * 1024;

const Answer = v.object({
  streams: v.array(
    v.object({
      codec_type: v.optional(v.string()),
      codec_name: v.optional(v.string(), "unknown"),
      width: v.optional(v.number(), 0),
      height: v.optional(v.number(), 0),
    }),
  ),
});

/** What an RTMP message calls them, in hexadecimal; Debian's ffmpeg knows neither. */
const UNKNOWN_CODEC = /Video codec \(([0-9a-f]+)\) is not implemented/;
const CODEC_NAMES: Readonly<Record<string, string>> = { c: "HEVC", d: "AV1" };
const NO_NAME = "HEVC or AV1";

const run = promisify(execFile);

/** What ffprobe finds in a broadcast, which costs about a group of pictures; nothing when it cannot be read. */
export async function probeSource(sourceUrl: string, path: string): Promise<Probed> {
  const args = [
    ["-v", "warning", ...readingArguments(sourceUrl), "-analyzeduration", "3000000"],
    ["-probesize", "5000000", "-show_entries", "stream=codec_type,codec_name,width,height"],
    ["-of", "json", sourceUrl],
  ].flat();
  try {
    const { stdout, stderr } = await run("ffprobe", args, {
      timeout: PROBE_TIMEOUT_MS,
      maxBuffer: ANSWER_BYTES_MAX,
      env: { PATH: path },
    });
    const { streams } = v.parse(Answer, JSON.parse(stdout));
    const video = streams.find((stream) => stream.codec_type === "video");
    const audio = streams.find((stream) => stream.codec_type === "audio");
    const tracks = {
      video: video && { codec: video.codec_name, width: video.width, height: video.height },
      audioCodec: audio?.codec_name,
    };
    return { tracks, unreadableCodec: unreadableIn(stderr) };
  } catch (error) {
    // It found nothing, and has said why.
    const failure = v.safeParse(v.object({ stderr: v.string() }), error);
    const words = failure.success ? failure.output.stderr : "";
    return { tracks: NO_TRACKS, unreadableCodec: unreadableIn(words) };
  }
}

function unreadableIn(words: string): string | undefined {
  const [, number] = UNKNOWN_CODEC.exec(words) ?? [];
  return number === undefined ? undefined : (CODEC_NAMES[number] ?? NO_NAME);
}
