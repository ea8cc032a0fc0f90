import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import * as v from "valibot";
import { eventually } from "../system/eventually.js";
import { ChangingBroadcast, type Scene } from "./changing-broadcast.js";
import { whenFolderChanges } from "./folder-watch.js";
import type { HlsFiles } from "./hls-files.js";
import { IngestStand, type Settings } from "./ingest-stand.js";
import { listedStreams } from "./listing-watch.js";

const CHANGES_MAX_MS = 40_000;

/** The time limits of a real ingest. */
const PATIENT: Settings = { STALL_SECONDS: "15", DEAD_SECONDS: "20", LEASE_SECONDS: "20" };

/** Starts a broadcast with one scene and waits until it is listed. */
async function listed(t: TestContext, scene: Scene, hook: Settings = {}) {
  const stand = await IngestStand.start(t, { hook: { ...PATIENT, ...hook } });
  const listing = await stand.watchListing(t);
  const broadcast = await ChangingBroadcast.start(t, stand.rtmpPort, "demo");
  void broadcast.play(scene);
  await listing.until("added");
  return { stand, broadcast, files: stand.files("demo") };
}

const Content = v.object({
  streams: v.array(
    v.object({
      codec_type: v.string(),
      width: v.optional(v.number(), 0),
      height: v.optional(v.number(), 0),
      sample_rate: v.optional(v.string(), ""),
    }),
  ),
});

/** The tracks of one segment, as a player finds them. */
function contentOf(files: HlsFiles, rung: string, segment: number): string {
  const path = join(files.folder, rung, `${segment}.ts`);
  const fields = "stream=codec_type,width,height,sample_rate,nb_read_packets";
  const args = ["-v", "error", "-count_packets", "-show_entries", fields, "-of", "json", path];
  const { streams } = v.parse(
    Content,
    JSON.parse(execFileSync("ffprobe", args, { encoding: "utf8" })),
  );
  return streams
    .map((stream) =>
      stream.codec_type === "video"
        ? `${stream.width}x${stream.height}`
        : `${stream.sample_rate} Hz`,
    )
    .sort()
    .join(" ");
}

/** Resolves when the newest segment of the rung has these tracks. */
function untilContent(files: HlsFiles, rung: string, content: string): Promise<unknown> {
  return eventually(
    `${rung} to hold ${content}`,
    () => {
      try {
        const newest = files.playlist(rung).segments.at(-1) ?? 0;
        const found = contentOf(files, rung, newest);
        return found === content || undefined;
      } catch {
        return undefined;
      }
    },
    CHANGES_MAX_MS,
  );
}

/**
 * Resolves when the master names these rungs. Until then, every rung that it names must have a playlist, because
 * players request it.
 */
function untilRungs(files: HlsFiles, rungs: string): Promise<unknown> {
  return whenFolderChanges(files.folder, `the rungs ${rungs}: ${files.rungs().join(" ")}`, () => {
    const named = files.rungs();
    for (const rung of named) assert.ok(files.playlist(rung).segments.length > 0, rung);
    return named.join(" ") === rungs ? true : undefined;
  });
}

/** The stream must be listed once and never unlisted, and its playlists must be ones that players can continue with. */
async function assertGoesOn(stand: IngestStand, files: HlsFiles): Promise<void> {
  assert.equal(stand.log.match(/"msg":"listed"/g)?.length, 1, stand.log);
  assert.doesNotMatch(stand.log, /unlisted/);
  assert.equal((await listedStreams(stand.stateApiPort)).length, 1);
  for (const rung of files.rungs()) {
    const { text, segments, mediaSequence, durationsSec } = files.playlist(rung);
    assert.equal(segments[0], mediaSequence, text);
    assert.deepEqual(
      segments,
      segments.map((_, place) => mediaSequence + place),
      text,
    );
    const target = Number(/^#EXT-X-TARGETDURATION:(\d+)$/m.exec(text)?.[1]);
    assert.ok(target >= 1 && target >= Math.round(Math.max(...durationsSec)), text);
  }
}

test("audio that ends does not affect the video, and is served again whenever it returns", async (t) => {
  const { stand, broadcast, files } = await listed(t, {});
  assert.deepEqual(files.rungs(), ["240p", "144p", "audio"]);
  for (let round = 0; round < 2; round += 1) {
    void broadcast.play({ sampleRate: 0 });
    await untilRungs(files, "240p 144p");
    await untilContent(files, "240p", "320x240");
    await assertGoesOn(stand, files);
    void broadcast.play({});
    await untilRungs(files, "240p 144p audio");
    await untilContent(files, "144p", "192x144 48000 Hz");
    await assertGoesOn(stand, files);
  }
});

test("video that ends does not affect the audio, and is served again when it returns", async (t) => {
  const { stand, broadcast, files } = await listed(t, {});
  void broadcast.play({ size: "none" });
  await untilRungs(files, "audio");
  const { mediaSequence } = files.playlist("audio");
  await files.untilAbove("audio", mediaSequence + 6);
  await assertGoesOn(stand, files);
  void broadcast.play({});
  await untilRungs(files, "240p 144p audio");
  await untilContent(files, "240p", "320x240 48000 Hz");
  await assertGoesOn(stand, files);
});

test("audio that ends is noticed without a rendition of its own, too", async (t) => {
  const { stand, broadcast, files } = await listed(t, {}, { AUDIO_RUNG: "0" });
  void broadcast.play({ sampleRate: 0 });
  await untilContent(files, "240p", "320x240");
  await stand.untilLogged(/tracks of a broadcast have changed/);
  await assertGoesOn(stand, files);
});

test("a late track is added", async (t) => {
  const { stand, broadcast, files } = await listed(t, { sampleRate: 0 });
  assert.deepEqual(files.rungs(), ["240p", "144p"]);
  void broadcast.play({});
  await untilRungs(files, "240p 144p audio");
  await untilContent(files, "240p", "320x240 48000 Hz");
  await assertGoesOn(stand, files);
});

test("video that begins after the audio is added", async (t) => {
  const { stand, broadcast, files } = await listed(t, { size: "none" });
  assert.deepEqual(files.rungs(), ["audio"]);
  void broadcast.play({});
  await untilRungs(files, "240p 144p audio");
  await untilContent(files, "240p", "320x240 48000 Hz");
  await assertGoesOn(stand, files);
});

test("video of a phone that is turned keeps its aspect ratio", async (t) => {
  const { stand, broadcast, files } = await listed(t, {});
  void broadcast.play({ size: "240x320" });
  await untilContent(files, "240p", "240x320 48000 Hz");
  await untilContent(files, "144p", "144x192 48000 Hz");
  assert.deepEqual(files.resolutions(), ["240x320", "144x192"]);
  await assertGoesOn(stand, files);
});

test("video of an odd size that is turned keeps its aspect ratio", async (t) => {
  const { stand, broadcast, files } = await listed(t, { size: "427x241", pixels: "yuv444p" });
  await untilContent(files, "240p", "426x240 48000 Hz");
  void broadcast.play({ size: "241x427", pixels: "yuv444p" });
  await untilContent(files, "240p", "240x426 48000 Hz");
  await untilContent(files, "144p", "144x256 48000 Hz");
  assert.deepEqual(files.resolutions(), ["240x426", "144x256"]);
  await assertGoesOn(stand, files);
});

test("audio whose sample rate changes is declared with the new rate", async (t) => {
  const { stand, broadcast, files } = await listed(t, { sampleRate: 44_100 });
  void broadcast.play({ sampleRate: 48_000 });
  await untilContent(files, "240p", "320x240 48000 Hz");
  await assertGoesOn(stand, files);
});

for (const [which, jumpMs] of [
  ["a minute ahead", 60_000],
  ["an hour ahead", 3_600_000],
  ["back", -2_500],
] as const) {
  test(`timestamps that jump ${which} are declared as a discontinuity and add no content`, async (t) => {
    const { stand, broadcast, files } = await listed(t, {});
    await files.untilAbove("240p", files.playlist("240p").mediaSequence + 2);
    const before = files.playlist("240p").segments.at(-1) ?? 0;
    const jumpedMs = performance.now();
    void broadcast.play({ jumpMs });
    await stand.untilLogged(/timestamps have jumped/);
    for (const rung of files.rungs()) await files.untilAbove(rung, before + 3);
    await untilContent(files, "240p", "320x240 48000 Hz");
    const passedSec = (performance.now() - jumpedMs) / 1_000;
    for (const rung of files.rungs()) {
      const { segments, durationsSec, discontinuities, text } = files.playlist(rung);
      const made = (segments.at(-1) ?? 0) - before;
      assert.ok(made <= passedSec + 4, `${made} segments in ${passedSec} s: ${text}`);
      assert.ok(Math.max(...durationsSec) < 5, text);
      assert.equal(discontinuities, 1, text);
    }
    assert.deepEqual(files.rungs(), ["240p", "144p", "audio"]);
    await assertGoesOn(stand, files);
  });
}
