import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

export interface PublisherOptions {
  readonly url: string;
  /** The bars from right to left, to tell one broadcast from another. */
  readonly isMirrored?: boolean;
  readonly size?: string;
  readonly framesPerSecond?: number;
  /** In place of the colour bars, a white bar that goes from left to right with the time of day. */
  readonly hasClock?: boolean;
}

/** How long the clock's bar takes from left to right, and how wide it is as a part of the picture. */
export const CLOCK_PERIOD_MS = 8_000;
export const CLOCK_BAR_SHARE = 1 / 40;

/** A broadcaster: ffmpeg with the colour bars and a tone, a keyframe each second. */
export class Publisher {
  readonly #child: ChildProcess;

  constructor({ url, isMirrored, size, framesPerSecond = 15, hasClock }: PublisherOptions) {
    const form = `size=${size ?? "320x240"}:rate=${framesPerSecond}`;
    const bars = `smptebars=${form}${isMirrored === true ? ",hflip" : ""}`;
    const source = hasClock === true ? clockSource(form) : bars;
    const args = [
      ["-nostdin", "-loglevel", "error", "-re", "-f", "lavfi", "-i", source],
      ["-f", "lavfi", "-i", "sine=frequency=440", "-pix_fmt", "yuv420p"],
      ["-c:v", "libx264", "-preset", "ultrafast", "-tune", "zerolatency", "-b:v", "500k"],
      ["-g", String(framesPerSecond), "-c:a", "aac", "-b:a", "64k", "-f", "flv", url],
    ].flat();
    this.#child = spawn("ffmpeg", args, { stdio: ["ignore", "ignore", "ignore"] });
  }

  /** Resolves when it has given up by itself: it was refused, or lost its connection. */
  async ended(): Promise<void> {
    if (this.#hasEnded()) return;
    await once(this.#child, "exit");
  }

  /** Gone without a word, as a machine that loses its power. Resolves when it is gone. */
  async kill(): Promise<void> {
    if (this.#hasEnded()) return;
    const exited = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await exited;
  }

  #hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }
}

/** The time is read when the picture is made, which `-re` has happen when it is due. */
function clockSource(form: string): string {
  const periodSec = CLOCK_PERIOD_MS / 1_000;
  const bar = `color=white:${form},scale=iw*${CLOCK_BAR_SHARE}:ih[bar]`;
  return `color=black:${form}[ground];${bar};[ground][bar]overlay=x='mod(time(0),${periodSec})/${periodSec}*(W-w)'`;
}
