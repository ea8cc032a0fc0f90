import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

export interface PublisherOptions {
  readonly url: string;
  /** The bars from right to left, to tell one broadcast from another. */
  readonly isMirrored?: boolean;
  readonly size?: string;
  readonly framesPerSecond?: number;
}

/** A broadcaster: ffmpeg with the colour bars and a tone, a keyframe each second. */
export class Publisher {
  readonly #child: ChildProcess;

  constructor({ url, isMirrored, size, framesPerSecond = 15 }: PublisherOptions) {
    const source = `smptebars=size=${size ?? "320x240"}:rate=${framesPerSecond}${isMirrored === true ? ",hflip" : ""}`;
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
