import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
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

const UNLISTED_MS_MAX = 200;
const ALICE: PublishedStream = {
  streamKey: "alice",
  session: "s1",
  clientIp: "192.0.2.1",
  tracks: { video: { codec: "h264", width: 320, height: 240 }, audioCodec: "aac" },
};

/** A transcoder under a clock that stands still, whose one broadcaster is listed. */
class ListedBroadcast {
  readonly clock = new VirtualClock();
  readonly log = new RecordingLogger();
  readonly runFolder: string;
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
    for (const name of ["hls", "bin"]) mkdirSync(join(folder, name));
    // What runs does not matter here, only that something does.
    writeFileSync(join(folder, "bin/ffmpeg"), "#!/bin/sh\nexec sleep 600\n");
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
      record: () => undefined,
      path: `${join(folder, "bin")}:/usr/bin:/bin`,
      clock: this.clock,
      log: this.log,
    });
  }

  /** Lets no time pass on the transcoder's clock. */
  async untilListed(count: number): Promise<void> {
    while ((await this.api.keys()).length !== count) await nextTurn();
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

test("a broadcaster whom the media server rings for is un-listed before any time passes", async (t) => {
  const broadcast = await ListedBroadcast.start(t);
  broadcast.published = [];
  const ringMs = broadcast.clock.monotonicMs();
  await broadcast.transcoder.look();
  await broadcast.untilListed(0);
  assert.equal(broadcast.clock.monotonicMs(), ringMs);
});

test("one whose ring is lost is un-listed within 200 ms", async (t) => {
  const broadcast = await ListedBroadcast.start(t);
  broadcast.published = [];
  broadcast.clock.advance(UNLISTED_MS_MAX);
  await broadcast.untilListed(0);
});

test("a broadcast that cannot be begun is tried again, and told of, each second and not more often", async (t) => {
  const broadcast = await ListedBroadcast.start(t);
  rmSync(broadcast.runFolder, { recursive: true });
  broadcast.published = [ALICE, { ...ALICE, streamKey: "bob", session: "s2" }];
  await broadcast.transcoder.look();
  broadcast.clock.advance(5_000);
  const count = broadcast.log.ofLevel("error").length;
  assert.ok(count >= 4 && count <= 6, `told ${count} times`);
  mkdirSync(broadcast.runFolder);
  broadcast.clock.advance(1_100);
  assert.ok(existsSync(join(broadcast.runFolder, "bob.json")));
});
