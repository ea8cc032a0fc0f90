import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { inTime } from "./in-time.js";

export interface Picture {
  /** "none" for audio only. */
  readonly size: string;
  readonly framesPerSecond: number;
  /** The number of frames from one keyframe to the next. */
  readonly groupFrames: number;
  readonly hasSound: boolean;
  /** The pixel format that is sent; x264 supports odd sizes only with 4:4:4. */
  readonly pixelFormat: string;
}

const SMALL: Picture = {
  size: "320x240",
  framesPerSecond: 15,
  groupFrames: 15,
  hasSound: true,
  pixelFormat: "yuv420p",
};

/** Broadcasts a test pattern with a tone, generated in real time. */
export class Broadcaster {
  readonly startedMs = performance.now();
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;
  #words = "";

  constructor(url: string, picture: Partial<Picture>) {
    this.#child = spawn("ffmpeg", [...sourceOf({ ...SMALL, ...picture }), "-f", "flv", url], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    this.#child.stderr?.setEncoding("utf8");
    this.#child.stderr?.on("data", (words: string) => {
      this.#words = (this.#words + words).slice(-4_000);
    });
    this.#ended = once(this.#child, "exit");
  }

  /** ffmpeg's error output. */
  get words(): string {
    return this.#words;
  }

  /** The broadcaster's connection breaks without a goodbye. */
  async leave(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#ended;
  }

  /** Resolves when the ingest has disconnected the broadcaster. */
  async untilRefused(): Promise<void> {
    await inTime(this.#ended, "the broadcaster to be disconnected");
  }
}

/** ffmpeg's arguments for the source and its encoding, up to the output. */
export function sourceOf(picture: Picture): readonly string[] {
  const { size, framesPerSecond, groupFrames, hasSound, pixelFormat } = picture;
  const pattern = `testsrc2=s=${size}:r=${framesPerSecond}`;
  return [
    "-hide_banner",
    "-nostdin",
    "-loglevel",
    "error",
    "-re",
    ...(size === "none" ? [] : ["-f", "lavfi", "-i", pattern]),
    ...(hasSound ? ["-f", "lavfi", "-i", "sine=sample_rate=48000"] : []),
    ...(size === "none" ? [] : ["-c:v", "libx264", "-preset", "ultrafast", "-tune", "zerolatency"]),
    ...(size === "none"
      ? []
      : ["-g", String(groupFrames), "-pix_fmt", pixelFormat, "-b:v", "150k"]),
    ...(hasSound ? ["-c:a", "aac", "-b:a", "48k"] : []),
  ];
}

export { SMALL as SMALL_PICTURE };
