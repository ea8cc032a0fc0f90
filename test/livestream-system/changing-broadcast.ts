import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { TestContext } from "node:test";
import { RtmpClient } from "./rtmp-client.js";

const FLV_HEADER_BYTES = 13;
const TAG_HEADER_BYTES = 11;
const DATA = 18;

export interface Scene {
  /** "none" for no video. Odd sizes need `pixels` of yuv444p. */
  readonly size?: string;
  readonly pixels?: string;
  /** 0: no sound. */
  readonly sampleRate?: number;
  /** How far the timestamps jump before this scene. */
  readonly jumpMs?: number;
}

/** One RTMP connection on which scenes follow each other, each with tracks and parameters of its own. */
export class ChangingBroadcast {
  readonly #client: RtmpClient;
  #lastMs = 0;
  #child: ChildProcess | undefined;

  static async start(t: TestContext, port: number, streamKey: string): Promise<ChangingBroadcast> {
    const broadcast = new ChangingBroadcast(await RtmpClient.publish(port, streamKey));
    t.after(() => broadcast.#end());
    return broadcast;
  }

  private constructor(client: RtmpClient) {
    this.#client = client;
  }

  /** Sends the scene in real time, until the next one or the end of the test. */
  async play(scene: Scene): Promise<void> {
    this.#stopScene();
    const child = spawn("ffmpeg", [...sceneArguments(scene), "-f", "flv", "pipe:1"], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    this.#child = child;
    const baseMs = Math.max(0, this.#lastMs + 40 + (scene.jumpMs ?? 0));
    let unread: Buffer = Buffer.alloc(0);
    let skip = FLV_HEADER_BYTES;
    child.stdout.on("data", (chunk: Buffer) => {
      unread = Buffer.concat([unread, chunk]);
      for (;;) {
        if (unread.length < skip + TAG_HEADER_BYTES) return;
        const tag = unread.subarray(skip);
        const bytes = tag.readUIntBE(1, 3);
        if (tag.length < TAG_HEADER_BYTES + bytes + 4) return;
        this.#send(tag, bytes, baseMs);
        unread = tag.subarray(TAG_HEADER_BYTES + bytes + 4);
        skip = 0;
      }
    });
    await once(child, "close");
  }

  /**
   * The metadata at the beginning of later scenes is left out: the ingest learns their tracks only from the headers.
   */
  #send(tag: Buffer, bytes: number, baseMs: number): void {
    const [type = 0] = tag;
    if (type === DATA) return;
    const timestampMs = baseMs + (tag.readUIntBE(4, 3) | ((tag[7] ?? 0) << 24));
    this.#lastMs = timestampMs;
    this.#client.tag(type, timestampMs, tag.subarray(TAG_HEADER_BYTES, TAG_HEADER_BYTES + bytes));
  }

  #stopScene(): void {
    this.#child?.stdout?.removeAllListeners("data");
    this.#child?.kill("SIGKILL");
  }

  async #end(): Promise<void> {
    this.#stopScene();
    await this.#client.leave();
  }
}

function sceneArguments({ size = "320x240", pixels = "yuv420p", sampleRate = 48_000 }: Scene) {
  const hasPicture = size !== "none";
  const hasSound = sampleRate !== 0;
  return [
    ["-hide_banner", "-nostdin", "-loglevel", "error"],
    hasPicture ? ["-re", "-f", "lavfi", "-i", `testsrc2=s=${size}:r=15`] : [],
    hasSound ? ["-re", "-f", "lavfi", "-i", `sine=sample_rate=${sampleRate}`] : [],
    hasPicture ? ["-c:v", "libx264", "-preset", "ultrafast", "-tune", "zerolatency"] : [],
    hasPicture ? ["-g", "15", "-pix_fmt", pixels, "-b:v", "150k"] : [],
    hasSound ? ["-c:a", "aac", "-b:a", "48k"] : [],
    ["-flush_packets", "1"],
  ].flat();
}
