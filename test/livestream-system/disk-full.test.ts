import assert from "node:assert/strict";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { ladderPlans } from "../../api/livestream/transcoder/ladder-plan.js";
import { folderOf, LadderRun } from "../../api/livestream/transcoder/ladder-run.js";
import { parseTranscoderConfig } from "../../api/livestream/transcoder/transcoder-config.js";
import { RecordingLogger } from "../doubles/recording-logger.js";
import { VirtualClock } from "../doubles/virtual-clock.js";
import { untilThere } from "./folder-watch.js";

const DISK_BYTES = 22_000;
const FREE_MIN_BYTES = 8_000;
const STREAM_BYTES = 5_000;
const VIDEO = { codec: "h264", width: 640, height: 360 };
const TRACKS = { video: VIDEO, audioCodec: "aac" };
/** Takes the place of a broadcast's segments. */
const SEGMENT = "segment.ts";

/** The space that the files of all streams leave on a small disk. */
function freeBytesOf(root: string): number {
  const files = readdirSync(root, { recursive: true, withFileTypes: true });
  const sizes = files
    .filter((file) => file.isFile())
    .map(({ parentPath, name }) => statSync(join(parentPath, name)).size);
  return DISK_BYTES - sizes.reduce((sum, size) => sum + size, 0);
}

test("if the streams themselves fill the disk, one of them stops, and continues when there is room for it", async (t) => {
  const root = mkdtempSync(join(tmpdir(), "parley-disk-"));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const hlsRoot = join(root, "hls");
  const programs = join(root, "bin");
  for (const folder of [hlsRoot, programs]) mkdirSync(folder);
  writeFileSync(join(programs, "ffmpeg"), "#!/bin/sh\nexec sleep 1000\n");
  chmodSync(join(programs, "ffmpeg"), 0o755);
  const config = {
    ...parseTranscoderConfig({}),
    hlsRoot,
    diskFreeMinBytes: FREE_MIN_BYTES,
    userId: undefined,
    groupId: undefined,
  };
  const [plan] = ladderPlans(TRACKS, config);
  assert.ok(plan !== undefined);
  const clock = new VirtualClock();
  const log = new RecordingLogger();
  const freeBytes = () => freeBytesOf(hlsRoot);
  const path = `${programs}:${process.env["PATH"] ?? ""}`;
  const segmentEpochMs = () => clock.epochMs();
  const begin = (streamKey: string) => {
    const folder = folderOf(config, streamKey);
    const parts = { streamKey, folder, config, path, clock, log, freeBytes, segmentEpochMs };
    const run = new LadderRun(parts, { plan, tracks: TRACKS, watched: [] });
    t.after(() => run.finish(false));
    run.start(false);
    writeFileSync(join(folder.path, SEGMENT), Buffer.alloc(STREAM_BYTES));
    return { run, folder };
  };
  const ladders = [begin("one"), begin("two"), begin("three")];
  const [first, second, third] = ladders;
  assert.ok(first !== undefined && second !== undefined && third !== undefined);
  const mend = () => {
    for (const { run } of ladders) run.checkProgress(clock.monotonicMs());
    return ladders.map(({ run }) => run.isFailing(clock.monotonicMs()));
  };

  first.run.checkProgress(clock.monotonicMs());
  await untilThere(first.folder.path, SEGMENT, false);
  assert.deepEqual(mend(), [true, false, false]);
  assert.deepEqual(
    mend(),
    [true, false, false],
    "the room that it has freed itself is not enough to continue",
  );

  third.folder.remove();
  assert.deepEqual(mend(), [false, false, false]);
  const told = log.lines.map(({ message }) => message);
  assert.deepEqual(told, ["disk full: stopped until there is room", "has room again"]);
});
