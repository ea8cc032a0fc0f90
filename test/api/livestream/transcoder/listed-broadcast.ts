import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import * as v from "valibot";
import { EncodingBudget } from "../../../../api/livestream/transcoder/encoding-budget.js";
import { MachineLoad } from "../../../../api/livestream/transcoder/machine-load.js";
import type { PublishedStream } from "../../../../api/livestream/transcoder/published-stream.js";
import { SessionRecords } from "../../../../api/livestream/transcoder/session-records.js";
import { StateApiClient } from "../../../../api/livestream/transcoder/state-api-client.js";
import { Transcoder } from "../../../../api/livestream/transcoder/transcoder.js";
import { parseTranscoderConfig } from "../../../../api/livestream/transcoder/transcoder-config.js";
import { RecordingLogger } from "../../../doubles/recording-logger.js";
import { VirtualClock } from "../../../doubles/virtual-clock.js";
import { StateApi } from "../state-api.js";

const LOOK_MS = 200;
const Health = v.object({
  streams: v.optional(
    v.array(v.object({ streamKey: v.string(), state: v.string(), reason: v.optional(v.string()) })),
    [],
  ),
});
export type Unwell = v.InferOutput<typeof Health>["streams"][number];
/** Broadcasts that are taken at once. */
export const BROADCASTS_MAX = 2;
export const ALICE: PublishedStream = {
  streamKey: "alice",
  session: "s1",
  clientIp: "192.0.2.1",
  tracks: { video: { codec: "h264", width: 320, height: 240 }, audioCodec: "aac" },
};

/** A transcoder under a clock that stands still, whose one broadcaster is listed. */
export class ListedBroadcast {
  readonly clock = new VirtualClock();
  readonly log = new RecordingLogger();
  readonly runFolder: string;
  readonly #startsFile: string;
  readonly transcoder: Transcoder;
  readonly api: StateApi;
  published: readonly PublishedStream[] = [ALICE];

  static async start(t: TestContext): Promise<ListedBroadcast> {
    const folder = mkdtempSync(join(tmpdir(), "parley-unlisting-"));
    const broadcast = new ListedBroadcast(folder, await StateApi.start(t));
    t.after(async () => {
      const stopped = broadcast.transcoder.stop();
      await broadcast.#passUntil(stopped);
      rmSync(folder, { recursive: true, force: true });
    });
    broadcast.clock.advance(1_000);
    await broadcast.transcoder.look();
    // From here on it is as if ffmpeg had made a segment.
    broadcast.clock.advance(100);
    const rung = join(folder, "hls/alice/240p");
    mkdirSync(rung, { recursive: true });
    writeFileSync(join(rung, "1.ts"), "a segment");
    writeFileSync(join(rung, "index.m3u8"), "#EXTM3U\n#EXTINF:1,\n1.ts\n");
    broadcast.clock.advance(100);
    await broadcast.untilListed(1);
    return broadcast;
  }

  private constructor(folder: string, api: StateApi) {
    this.api = api;
    this.runFolder = join(folder, "run");
    this.#startsFile = join(folder, "starts");
    for (const name of ["hls", "bin"]) mkdirSync(join(folder, name));
    // What runs does not matter here, only that something does, and with what it was started.
    writeFileSync(
      join(folder, "bin/ffmpeg"),
      `#!/bin/sh\necho "$*" >>'${this.#startsFile}'\nexec sleep 600\n`,
    );
    chmodSync(join(folder, "bin/ffmpeg"), 0o755);
    const config = parseTranscoderConfig({
      HLS_ROOT: join(folder, "hls"),
      LADDER: "240:200:48",
      AUDIO_RUNG: "0",
    });
    this.transcoder = new Transcoder({
      config,
      api: new StateApiClient(`http://127.0.0.1:${api.port}`),
      records: new SessionRecords(this.runFolder),
      mediaServer: { published: async () => this.published },
      budget: new EncodingBudget(1_000, new MachineLoad(() => ({ busyMs: 0, idleMs: 0 }))),
      broadcastsMax: BROADCASTS_MAX,
      record: () => undefined,
      path: `${join(folder, "bin")}:/usr/bin:/bin`,
      clock: this.clock,
      log: this.log,
    });
  }

  /** The number of the first segment of each ffmpeg so far, once there are so many. Lets no time pass. */
  async untilStarts(count: number): Promise<readonly number[]> {
    for (;;) {
      const text = existsSync(this.#startsFile) ? readFileSync(this.#startsFile, "utf8") : "";
      const numbers = [...text.matchAll(/ -start_number (\d+) /g)].map(([, number]) =>
        Number(number),
      );
      if (numbers.length >= count) return numbers;
      await nextTurn();
    }
  }

  /** Lets no time pass on the transcoder's clock. */
  async untilListed(count: number): Promise<void> {
    while ((await this.api.keys()).length !== count) await nextTurn();
  }

  /** Those that run, by name. */
  ladders(): readonly string[] {
    return Array.from(this.transcoder.ladders, ({ streamKey }) => streamKey).sort();
  }

  /** Lets time pass, which what has ended takes to finish. */
  async untilLadders(keys: readonly string[]): Promise<void> {
    while (this.ladders().join() !== keys.join()) {
      this.clock.advance(LOOK_MS);
      await nextTurn();
    }
  }

  /** How /health names the stream; lets no time pass until `isNamed` holds. */
  async untilHealth(isNamed: (streams: readonly Unwell[]) => boolean): Promise<readonly Unwell[]> {
    for (;;) {
      const { text } = await this.api.client.get("/health");
      const { streams } = v.parse(Health, JSON.parse(text));
      if (isNamed(streams)) return streams;
      await nextTurn();
    }
  }

  async #passUntil(done: Promise<void>): Promise<void> {
    const progress = { isDone: false };
    void done.then(() => {
      progress.isDone = true;
    });
    while (!progress.isDone) {
      this.clock.advance(1_000);
      await nextTurn();
    }
  }
}
