import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually } from "../system/eventually.js";
import { IngestStand } from "./ingest-stand.js";
import { listedStreams } from "./listing-watch.js";
import { MediaMtxStand } from "./mediamtx-stand.js";

const FIRST = "5d1f0f0e-7c3b-4b7e-9a51-1f1b2f0f6c11";
const SECOND = "22222222-7c3b-4b7e-9a51-1f1b2f0f6c11";

test("with MediaMTX, a stream is listed with the broadcaster's address, has complete playlists, and is unlisted when the broadcaster leaves", async (t) => {
  const stand = await IngestStand.start(t);
  const { stateApiPort } = stand;
  const listing = await stand.watchListing(t);
  const mediaMtx = await MediaMtxStand.start(t, { stateApiPort });
  await mediaMtx.publish(FIRST);
  await listing.until("added");
  assert.equal((await listedStreams(stateApiPort))[0]?.clientIp, "2001:db8::7");
  assert.deepEqual(mediaMtx.files.rungs(), ["240p", "144p", "audio"]);
  const addresses = mediaMtx.asked.filter((path) => !path.startsWith("/v3/paths/list"));
  assert.deepEqual(addresses, [`/v3/rtmpconns/get/${FIRST}`], "asked once");
  await mediaMtx.publish(undefined);
  await listing.until("removed");
  await mediaMtx.stop();
  for (const rung of mediaMtx.files.rungs()) {
    const playlist = mediaMtx.files.playlist(rung);
    assert.ok(playlist.segments.length > 0 && playlist.hasEnded, `${rung}: ${playlist.text}`);
  }
  assert.deepEqual(mediaMtx.ladders(), []);
});

test("a broadcaster who takes over the key is listed anew, with its own ladder", async (t) => {
  const stand = await IngestStand.start(t);
  const { stateApiPort } = stand;
  const listing = await stand.watchListing(t);
  const mediaMtx = await MediaMtxStand.start(t, { stateApiPort });
  await mediaMtx.publish(FIRST);
  await listing.until("added");
  const [ladder] = mediaMtx.ladders();
  await mediaMtx.publish(SECOND);
  await listing.until("removed");
  await listing.until("added");
  assert.equal(mediaMtx.ladders().length, 1);
  assert.ok(ladder !== undefined && !mediaMtx.files.playlist("240p").hasEnded);
});

test("video whose size MediaMTX does not report is probed, and audio that HLS in MPEG-TS cannot carry is encoded", async (t) => {
  const stand = await IngestStand.start(t);
  const listing = await stand.watchListing(t);
  const mediaMtx = await MediaMtxStand.start(t, { stateApiPort: stand.stateApiPort });
  await mediaMtx.publish(FIRST, [{ codec: "VP8", codecProps: null }, { codec: "Opus" }]);
  await listing.until("added");
  assert.deepEqual(mediaMtx.files.resolutions(), ["320x240", "192x144"]);
  await mediaMtx.publish(undefined);
  await listing.until("removed");
  const tracks = [{ codec: "H264", codecProps: { width: 320, height: 240 } }, { codec: "Opus" }];
  await mediaMtx.publish(SECOND, tracks);
  await listing.until("added");
  assert.match(mediaMtx.ladders()[0] ?? "", / -c:a:0 aac /);
});

// Traps (d) and (e): a copied rung is left out of the master if it has no bit rate, and its first segment is two groups
// long.
test("with passthrough, the broadcaster's own video is the top rung", async (t) => {
  const stand = await IngestStand.start(t);
  const listing = await stand.watchListing(t);
  const mediaMtx = await MediaMtxStand.start(t, {
    stateApiPort: stand.stateApiPort,
    settings: { PASSTHROUGH: "1" },
  });
  await mediaMtx.publish(FIRST);
  await listing.until("added");
  assert.deepEqual(mediaMtx.files.rungs(), ["240p", "144p", "audio"]);
  assert.match(mediaMtx.files.master(), /BANDWIDTH=\d+,RESOLUTION=320x240/);
  const [firstSec = 9] = mediaMtx.files.playlist("240p").durationsSec;
  assert.ok(firstSec < 1.5, `${firstSec} s, of groups of 1 s`);
  assert.match(mediaMtx.ladders()[0] ?? "", / -c:v:0 copy .* -c:v:1 libx264 /);
  const { mediaSequence } = mediaMtx.files.playlist("144p");
  const top = await mediaMtx.files.untilAbove("240p", mediaSequence + 2);
  const next = await mediaMtx.files.untilAbove("144p", mediaSequence + 2);
  // Players switch rungs at segments, so the segments of all rungs must end at the same time.
  for (const [place, lengthSec] of top.durationsSec.slice(1, 3).entries()) {
    const otherSec = next.durationsSec[place + 1] ?? 0;
    assert.ok(Math.abs(lengthSec - otherSec) < 0.1, `${lengthSec} s and ${otherSec} s`);
  }
});

test("if the media server is unreachable, its broadcasters are unlisted", async (t) => {
  const stand = await IngestStand.start(t);
  const listing = await stand.watchListing(t);
  const mediaMtx = await MediaMtxStand.start(t, { stateApiPort: stand.stateApiPort });
  await mediaMtx.publish(FIRST);
  await listing.until("added");
  mediaMtx.closeControlApi();
  await listing.until("removed");
  await eventually("the end of ffmpeg", () => mediaMtx.ladders().length === 0 || undefined);
});
