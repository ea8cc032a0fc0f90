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
import type {
  PublishedStream,
  Tracks,
} from "../../../../api/livestream/transcoder/published-stream.js";
import { SessionRecords } from "../../../../api/livestream/transcoder/session-records.js";
import { StateApiClient } from "../../../../api/livestream/transcoder/state-api-client.js";
import { Transcoder } from "../../../../api/livestream/transcoder/transcoder.js";
import { parseTranscoderConfig } from "../../../../api/livestream/transcoder/transcoder-config.js";
import { RecordingLogger } from "../../../doubles/recording-logger.js";
import { VirtualClock } from "../../../doubles/virtual-clock.js";
import { StateApi } from "../state-api.js";

const LOOK_MS = 200;
const MEGAPIXELS_MAX = 1_000;
const Health = v.object({
  streams: v.optional(
    v.array(
      v.object({
        streamKey: v.string(),
        state: v.string(),
        rungs: v.array(v.string()),
        reason: v.optional(v.string()),
      }),
    ),
    [],
  ),
});
export type Unwell = v.InferOutput<typeof Health>["streams"][number];
/** Maximum concurrent broadcasts. */
export const BROADCASTS_MAX = 2;
export const ALICE: PublishedStream = {
  streamKey: "alice",
  session: "s1",
  clientIp: "192.0.2.1",
  tracks: { video: { codec: "h264", width: 320, height: 240 }, audioCodec: "aac" },
};

export interface BroadcastOptions {
  readonly tracks?: Tracks;
  readonly ladder?: string;
  /** How busy the machine is, from 0 to 1. */
  readonly busy?: () => number;
}

/** A transcoder with a stopped clock, whose one broadcaster is listed. */
export class ListedBroadcast {
  readonly clock = new VirtualClock();
  readonly log = new RecordingLogger();
  readonly runFolder: string;
  readonly #startsFile: string;
  readonly transcoder: Transcoder;
  readonly api: StateApi;
  readonly #hlsFolder: string;
  #segment = 0;
  published: readonly PublishedStream[] = [ALICE];

  static async start(t: TestContext, options: BroadcastOptions = {}): Promise<ListedBroadcast> {
    const folder = mkdtempSync(join(tmpdir(), "parley-unlisting-"));
    const broadcast = new ListedBroadcast(folder, await StateApi.start(t), options);
    t.after(async () => {
      const stopped = broadcast.transcoder.stop();
      await broadcast.#passUntil(stopped);
      rmSync(folder, { recursive: true, force: true });
    });
    broadcast.clock.advance(1_000);
    await broadcast.transcoder.poll();
    broadcast.clock.advance(100);
    broadcast.makeSegments();
    broadcast.clock.advance(100);
    await broadcast.untilListed(1);
    return broadcast;
  }

  private constructor(
    folder: string,
    api: StateApi,
    { tracks = ALICE.tracks, ladder = "240:200:48", busy = () => 0 }: BroadcastOptions,
  ) {
    this.api = api;
    this.published = [{ ...ALICE, tracks }];
    this.#hlsFolder = join(folder, "hls/alice");
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
      LADDER: ladder,
      AUDIO_RUNG: "0",
    });
    this.transcoder = new Transcoder({
      config,
      api: new StateApiClient(`http://127.0.0.1:${api.port}`),
      records: new SessionRecords(this.runFolder),
      mediaServer: { published: async () => this.published },
      budget: this.#budget(busy),
      broadcastsMax: BROADCASTS_MAX,
      record: () => undefined,
      path: `${join(folder, "bin")}:/usr/bin:/bin`,
      clock: this.clock,
      log: this.log,
    });
  }

  /** As if ffmpeg had made the next segment of each rung. */
  makeSegments(): void {
    this.#segment += 1;
    const [ladder] = this.transcoder.ladders;
    for (const name of ladder?.report.rungs ?? []) {
      const rung = join(this.#hlsFolder, name);
      mkdirSync(rung, { recursive: true });
      writeFileSync(join(rung, `${this.#segment}.ts`), "a segment");
      const playlist = `#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:${this.#segment}\n#EXTINF:1,\n${this.#segment}.ts\n`;
      writeFileSync(join(rung, "index.m3u8"), playlist);
    }
  }

  /** The number of the first segment of each ffmpeg so far, once there are this many. No time passes. */
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

  #budget(busy: () => number): EncodingBudget {
    let busyMs = 0;
    let idleMs = 0;
    const load = new MachineLoad(() => {
      busyMs += busy() * 1_000;
      idleMs += (1 - busy()) * 1_000;
      return { busyMs, idleMs };
    });
    const budget = new EncodingBudget(MEGAPIXELS_MAX, load);
    budget.measured = MEGAPIXELS_MAX;
    return budget;
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
