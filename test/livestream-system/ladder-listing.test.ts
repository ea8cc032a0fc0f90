import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { eventually } from "../system/eventually.js";
import { untilThere } from "./folder-watch.js";
import { WAIT_MAX_MS } from "./in-time.js";
import { IngestStand } from "./ingest-stand.js";
import { type ListedStream, listedStreams } from "./listing-watch.js";

/** Less than the lease. On an idle machine it takes 20 to 60 ms, and bench:livestream requires at most 100. */
const UNLISTED_WITHIN_MS = 10_000;

test("a stream is listed once every rung has a segment, until its broadcaster leaves", async (t) => {
  const stand = await IngestStand.start(t, { hook: { LEASE_SECONDS: "3600" } });
  const listing = await stand.watchListing(t);
  const broadcaster = stand.broadcast(t, "demo-1_A");
  await listing.until("added");
  const listedMs = performance.now() - broadcaster.startedMs;
  const files = stand.files("demo-1_A");
  assert.deepEqual(files.rungs(), ["240p", "144p", "audio"]);
  assert.deepEqual(files.resolutions(), ["320x240", "192x144"]);
  for (const rung of files.rungs()) {
    const { segments } = files.playlist(rung);
    assert.ok(
      segments.length > 0 && segments.every((segment) => files.isWhole(rung, segment)),
      rung,
    );
  }
  await untilThere(files.folder, "thumbnail.jpg");
  assert.equal(jpegSize(readFileSync(join(files.folder, "thumbnail.jpg"))), "320x240");
  const [listed] = await listedStreams(stand.stateApiPort);
  assert.equal(listed?.streamKey, "demo-1_A");
  assert.equal(listed.clientIp, "127.0.0.1");
  assert.equal(listed.masterPlaylistUrl, "/hls/demo-1_A/master.m3u8");
  const agoMs = Date.now() - Date.parse(listed.startedAt);
  assert.ok(agoMs >= 0 && agoMs < WAIT_MAX_MS, listed.startedAt);
  await listedWithQualities(stand);
  const leftMs = performance.now();
  const isLeft = broadcaster.leave();
  await listing.until("removed");
  const unlistedMs = performance.now() - leftMs;
  await isLeft;
  t.diagnostic(
    `listed after ${listedMs.toFixed(0)} ms, unlisted after ${unlistedMs.toFixed(0)} ms`,
  );
  assert.ok(unlistedMs < UNLISTED_WITHIN_MS, `${unlistedMs} ms`);
  await stand.untilLogged(/"msg":"broadcast ended"/);
  assert.ok(
    files.playlist("240p").hasEnded,
    "the playlist tells players that the stream has ended",
  );
  // The files of an ended stream are removed.
  await untilThere(stand.hlsRoot, "demo-1_A", false);
});

/** A stream may be listed before its qualities, which are then read from its playlist. */
async function listedWithQualities(stand: IngestStand): Promise<readonly ListedStream[]> {
  return eventually("the qualities", async () => {
    const listed = await listedStreams(stand.stateApiPort);
    return listed[0]?.qualities.length === 3 ? listed : undefined;
  });
}

/** Read from the frame header, after two bytes of length and one of precision. */
function jpegSize(picture: Buffer): string {
  const header = picture.indexOf(Buffer.from([0xff, 0xc0])) + 5;
  return `${picture.readUInt16BE(header + 2)}x${picture.readUInt16BE(header)}`;
}

const SOURCES = {
  "without sound": {
    picture: { hasSound: false },
    rungs: ["240p", "144p"],
    sizes: ["320x240", "192x144"],
  },
  "with audio only": { picture: { size: "none" }, rungs: ["audio"], sizes: [] },
  upright: {
    picture: { size: "240x320" },
    rungs: ["240p", "144p", "audio"],
    sizes: ["240x320", "144x192"],
  },
  // Trap (f): x264 does not support odd sizes, and the short side determines the rung.
  "of an odd size": {
    picture: { size: "427x241", pixelFormat: "yuv444p" },
    rungs: ["240p", "144p", "audio"],
    sizes: ["426x240", "256x144"],
  },
  "smaller than every rung": {
    picture: { size: "160x90" },
    rungs: ["90p", "audio"],
    sizes: ["160x90"],
  },
};

for (const [which, { picture, rungs, sizes }] of Object.entries(SOURCES)) {
  test(`a source ${which}`, async (t) => {
    const stand = await IngestStand.start(t);
    const listing = await stand.watchListing(t);
    const broadcaster = stand.broadcast(t, "demo", picture);
    await listing.until("added");
    const files = stand.files("demo");
    assert.deepEqual(files.rungs(), rungs, stand.log);
    assert.deepEqual(files.resolutions(), sizes, broadcaster.words);
    if (sizes.length > 0) await untilThere(files.folder, "thumbnail.jpg");
    else assert.equal(existsSync(join(files.folder, "thumbnail.jpg")), false);
    const [first = ""] = rungs;
    assert.ok(files.playlist(first).segments.length > 0);
  });
}

test("rungs larger than the source, and more rungs than allowed, are left out", async (t) => {
  const stand = await IngestStand.start(t, {
    hook: {
      LADDER: "480:400:64 240:200:48 180:150:48 144:100:32",
      RUNGS_MAX: "2",
      AUDIO_RUNG: "0",
    },
  });
  const listing = await stand.watchListing(t);
  stand.broadcast(t, "demo");
  await listing.until("added");
  assert.deepEqual(stand.files("demo").rungs(), ["240p", "180p"]);
});

for (const key of ["..%2Fup", "a.b", "a%20b", "a%2Fb", "k".repeat(65)]) {
  test(`a broadcaster under the key ${key} is disconnected`, async (t) => {
    const stand = await IngestStand.start(t);
    const broadcaster = stand.broadcast(t, key);
    await broadcaster.untilRefused();
    assert.notEqual(broadcaster.words, "");
    assert.deepEqual(readdirSync(stand.hlsRoot), []);
    assert.deepEqual(await listedStreams(stand.stateApiPort), []);
    assert.doesNotMatch(stand.log, /broadcast begins/);
  });
}

test("a second broadcaster under a live key is refused and the first continues", async (t) => {
  const stand = await IngestStand.start(t);
  const listing = await stand.watchListing(t);
  stand.broadcast(t, "demo");
  await listing.until("added");
  const before = await listedWithQualities(stand);
  const second = stand.broadcast(t, "demo");
  await second.untilRefused();
  const files = stand.files("demo");
  const seen = files.playlist("240p").segments.at(-1) ?? 0;
  await files.untilAbove("240p", seen + 1);
  assert.deepEqual(await listedStreams(stand.stateApiPort), before);
  assert.equal(stand.ladders("demo").length, 1);
  assert.equal(stand.log.match(/"msg":"listed"/g)?.length, 1, stand.log);
  assert.doesNotMatch(stand.log, /unlisted|broadcast ended/);
});
