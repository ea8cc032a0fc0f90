import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import {
  RECORDINGS_MAX,
  RecordingArchive,
  type RemuxToMp4,
  type ShelfSettings,
} from "../../../../api/livestream/transcoder/recording/recording-archive.js";
import { StreamFolder } from "../../../../api/livestream/transcoder/stream-folder.js";
import { RecordingLogger } from "../../../doubles/recording-logger.js";
import { VirtualClock } from "../../../doubles/virtual-clock.js";

const SEGMENT_BYTES = 1_000;
const HOUR_MS = 3_600_000;
const OWNER = { userId: undefined, groupId: undefined };

/** An archive in its own folder, and a broadcast whose renditions the test writes. */
class Desk {
  readonly clock = new VirtualClock();
  readonly log = new RecordingLogger();
  readonly folder = mkdtempSync(join(tmpdir(), "parley-recording-"));
  readonly root = join(this.folder, "recordings");
  readonly #t: TestContext;

  constructor(t: TestContext) {
    this.#t = t;
    mkdirSync(this.root);
    t.after(() => rmSync(this.folder, { recursive: true, force: true }));
  }

  shelf(settings: Partial<ShelfSettings> = {}, remuxToMp4?: RemuxToMp4): RecordingArchive {
    const some = { root: this.root, keepMs: HOUR_MS, bytesMax: 1_000_000, freeMinBytes: 0 };
    const shelf = new RecordingArchive({ ...some, ...settings }, this.clock, this.log, remuxToMp4);
    this.#t.after(() => shelf.close());
    return shelf;
  }

  /** As ffmpeg leaves a rung whose segments have these numbers. */
  rung(
    name: string,
    numbers: readonly number[],
    lengthSec = 1,
  ): ReturnType<StreamFolder["recordable"]> {
    const stream = new StreamFolder(this.folder, "alice", OWNER);
    mkdirSync(join(stream.path, name), { recursive: true });
    for (const number of numbers) {
      writeFileSync(join(stream.path, name, `${number}.ts`), `${number}`.padEnd(SEGMENT_BYTES));
    }
    const lines = numbers.map((number) => `#EXTINF:${lengthSec.toFixed(6)},\n${number}.ts\n`);
    writeFileSync(join(stream.path, name, "index.m3u8"), `#EXTM3U\n${lines.join("")}`);
    return stream.recordable(name);
  }

  /** A recording of an earlier transcoder, last changed this long ago. */
  found(streamKey: string, start: string, agoMs: number): string {
    const folder = join(this.root, streamKey, start);
    mkdirSync(folder, { recursive: true });
    const changedSec = (this.clock.epochMs() - agoMs) / 1_000;
    for (const [name, text] of [
      ["1.ts", " ".repeat(SEGMENT_BYTES)],
      ["index.m3u8", "#EXTM3U\n#EXTINF:1.4,\n1.ts\n#EXTINF:1."],
    ] as const) {
      writeFileSync(join(folder, name), text);
      utimesSync(join(folder, name), changedSec, changedSec);
    }
    return folder;
  }
}

function playlist(folder: string): readonly string[] {
  const lines = readFileSync(join(folder, "index.m3u8"), "utf8").split("\n");
  return lines.filter((line) => /^\d|DISCONTINUITY|ENDLIST|TYPE|TARGET/.test(line));
}

test("a recording grows with its broadcast, says where it does not join, and ends as a mp4", async (t) => {
  const desk = new Desk(t);
  const recording = desk.shelf().record("alice", Date.UTC(2026, 0, 31, 12));
  assert.equal(recording.folder, join(desk.root, "alice/2026-01-31T12-00-00-000Z"));
  await recording.take(desk.rung("720p", [7, 8], 2.2));
  await recording.take(desk.rung("720p", [7, 8, 9]));
  const growing = [
    "#EXT-X-TARGETDURATION:10",
    "#EXT-X-PLAYLIST-TYPE:EVENT",
    "7.ts",
    "8.ts",
    "9.ts",
  ];
  assert.deepEqual(playlist(recording.folder), growing);
  await recording.take(desk.rung("720p", [9, 12]));
  await recording.end(desk.rung("480p", [11, 12, 13]));
  assert.deepEqual(playlist(recording.folder), [
    "#EXT-X-TARGETDURATION:3",
    "#EXT-X-PLAYLIST-TYPE:VOD",
    "7.ts",
    "8.ts",
    "9.ts",
    "#EXT-X-DISCONTINUITY",
    "12.ts",
    "#EXT-X-DISCONTINUITY",
    "13.ts",
    "#EXT-X-ENDLIST",
  ]);
  assert.match(readFileSync(join(recording.folder, "12.ts"), "utf8"), /^12 /);
});

test("a broadcast without a segment leaves nothing", async (t) => {
  const desk = new Desk(t);
  const recording = desk.shelf().record("alice", 0);
  await recording.end(desk.rung("720p", []));
  while (existsSync(recording.folder)) await new Promise(setImmediate);
});

test("a killed transcoder's recording continues with its broadcast, and others are completed", async (t) => {
  const desk = new Desk(t);
  const left = desk.found("bob", "2026-01-30T00-00-00-000Z", 1_000);
  mkdirSync(join(desk.root, "bob/notes"));
  await desk
    .shelf()
    .record("alice", 0)
    .take(desk.rung("720p", [7, 8]));
  const next = desk.shelf();
  const recording = next.record("alice", 0);
  await recording.take(desk.rung("720p", [8, 9]));
  await next.sweep();
  assert.deepEqual(playlist(recording.folder).slice(2), ["7.ts", "8.ts", "9.ts"]);
  assert.deepEqual(playlist(left), [
    "#EXT-X-TARGETDURATION:2",
    "#EXT-X-PLAYLIST-TYPE:VOD",
    "1.ts",
    "#EXT-X-ENDLIST",
  ]);
  assert.ok(existsSync(join(desk.root, "bob/notes")), "what is no recording is left alone");
});

test("recordings are removed when they are too old, and the oldest when one that grows needs their room", async (t) => {
  const desk = new Desk(t);
  const [older, old, newer] = [
    desk.found("alice", "2026-01-01T00-00-00-000Z", 2 * HOUR_MS),
    desk.found("alice", "2026-01-02T00-00-00-000Z", 50_000),
    desk.found("alice", "2026-01-03T00-00-00-000Z", 40_000),
  ];
  const shelf = desk.shelf({ bytesMax: 4 * SEGMENT_BYTES });
  await shelf.sweep();
  assert.deepEqual([older, old, newer].map(existsSync), [false, true, true]);
  const recording = shelf.record("bob", 0);
  await recording.take(desk.rung("720p", [1, 2]));
  assert.deepEqual([old, newer].map(existsSync), [false, true]);
  await recording.take(desk.rung("720p", [1, 2, 3, 4]));
  assert.equal(existsSync(newer), false);
  assert.equal(recording.problem, undefined);
});

test("when growing recordings use all space, that is logged once and further segments are skipped; then it continues", async (t) => {
  const desk = new Desk(t);
  const shelf = desk.shelf({ bytesMax: 3 * SEGMENT_BYTES });
  const [alice, bob] = [shelf.record("alice", 0), shelf.record("bob", 0)];
  await alice.take(desk.rung("720p", [1, 2]));
  await bob.take(desk.rung("720p", [1, 2, 3]));
  await bob.take(desk.rung("720p", [2, 3, 4]));
  assert.match(bob.problem ?? "", /RECORD_MAX_MB/);
  assert.equal(desk.log.ofLevel("error").length, 1);
  await alice.end(desk.rung("720p", [1, 2]));
  await bob.take(desk.rung("720p", [3, 4]));
  assert.equal(bob.problem, undefined);
  assert.equal(existsSync(alice.folder), false);
  assert.deepEqual(playlist(bob.folder).slice(2), ["1.ts", "#EXT-X-DISCONTINUITY", "3.ts", "4.ts"]);
});

test("a full disk is logged, and no recording is removed because of other files", async (t) => {
  const desk = new Desk(t);
  const other = desk.found("alice", "2026-01-01T00-00-00-000Z", 1_000);
  const recording = desk.shelf({ freeMinBytes: Number.MAX_SAFE_INTEGER }).record("bob", 0);
  await recording.take(desk.rung("720p", [1]));
  assert.match(recording.problem ?? "", /^disk full/);
  assert.ok(existsSync(other));
  assert.deepEqual(readdirSync(recording.folder), ["index.m3u8"]);
});

test("an unwritable folder is logged, and the broadcast continues", async (t) => {
  const desk = new Desk(t);
  writeFileSync(join(desk.root, "bob"), "no folder");
  const recording = desk.shelf().record("bob", 0);
  await recording.take(desk.rung("720p", [1]));
  assert.match(recording.problem ?? "", /ENOTDIR|EEXIST/);
  await recording.end(desk.rung("720p", [1]));
});

/** Leaves a folder as one does that has become a film of half its size. */
const remuxed = async (folder: string): Promise<void> => {
  for (const name of readdirSync(folder)) rmSync(join(folder, name));
  writeFileSync(join(folder, "film-1.mp4"), " ".repeat(SEGMENT_BYTES / 2));
};

test("finished recordings become MP4s, one after another, and finished MP4s are left alone", async (t) => {
  const desk = new Desk(t);
  const left = desk.found("bob", "2026-01-30T00-00-00-000Z", 1_000);
  const made: string[] = [];
  let working = 0;
  const shelf = desk.shelf({ bytesMax: 2.5 * SEGMENT_BYTES }, async (folder) => {
    made.push(folder);
    working += 1;
    assert.equal(working, 1);
    await new Promise(setImmediate);
    await remuxed(folder);
    working -= 1;
  });
  const recording = shelf.record("alice", 0);
  await recording.take(desk.rung("720p", [7]));
  await shelf.sweep();
  assert.deepEqual(made, [left], "alice's grows");
  await recording.end(desk.rung("720p", [7]));
  await shelf.sweep();
  assert.deepEqual(made, [left, recording.folder]);
  await shelf.sweep();
  const keepMs = Number.POSITIVE_INFINITY;
  await desk.shelf({ keepMs }, () => Promise.reject(new Error("made again"))).sweep();
  assert.equal(desk.log.ofLevel("error").length, 0);
  // Beside two films of 500 bytes there is room for one segment more, and not for two.
  const next = shelf.record("carol", 0);
  await next.take(desk.rung("720p", [8]));
  assert.deepEqual([left, recording.folder].map(existsSync), [true, true]);
  await next.take(desk.rung("720p", [8, 9]));
  assert.deepEqual([left, recording.folder].map(existsSync), [false, true]);
});

test("a recording that cannot become an MP4 stays unchanged, and is logged once", async (t) => {
  const desk = new Desk(t);
  const left = desk.found("bob", "2026-01-30T00-00-00-000Z", 1_000);
  let tries = 0;
  const shelf = desk.shelf({}, () => {
    tries += 1;
    return Promise.reject(new Error("ffmpeg ended with 1"));
  });
  await shelf.sweep();
  await shelf.sweep();
  assert.equal(tries, 1);
  assert.deepEqual(playlist(left).at(-1), "#EXT-X-ENDLIST");
  assert.equal(desk.log.ofLevel("error").length, 1);
});

test("a recording that is deleted during its remux does not stop the others", async (t) => {
  const desk = new Desk(t);
  const deleted = desk.found("alice", "2026-01-29T00-00-00-000Z", 2_000);
  const other = desk.found("bob", "2026-01-30T00-00-00-000Z", 1_000);
  const shelf = desk.shelf({}, async (folder) => {
    if (folder !== deleted) return remuxed(folder);
    rmSync(folder, { recursive: true });
    throw new Error("ffmpeg ended with 1");
  });
  await shelf.sweep();
  assert.deepEqual(readdirSync(other), ["film-1.mp4"]);
});

test("an MP4 waits for room on the disk, which is logged once", async (t) => {
  const desk = new Desk(t);
  desk.found("bob", "2026-01-30T00-00-00-000Z", 1_000);
  let tries = 0;
  const shelf = desk.shelf({ freeMinBytes: Number.MAX_SAFE_INTEGER }, () => {
    tries += 1;
    return Promise.resolve();
  });
  await shelf.sweep();
  await shelf.sweep();
  assert.equal(tries, 0);
  assert.match(JSON.stringify(desk.log.ofLevel("error")), /disk full: no mp4/);
  assert.equal(desk.log.ofLevel("error").length, 1);
});

test("the number of recordings is limited, however small they are", async (t) => {
  const desk = new Desk(t);
  for (let number = 0; number <= RECORDINGS_MAX; number += 1) {
    const start = new Date(number).toISOString().replaceAll(/[:.]/g, "-");
    mkdirSync(join(desk.root, "alice", start), { recursive: true });
  }
  await desk.shelf({ keepMs: Number.POSITIVE_INFINITY }).sweep();
  assert.equal(readdirSync(join(desk.root, "alice")).length, RECORDINGS_MAX);
});
