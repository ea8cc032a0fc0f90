import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { HOOKS, IngestStand } from "./ingest-stand.js";
import { listedStreams } from "./listing-watch.js";
import { MediaMtxStand } from "./mediamtx-stand.js";
import { runningProcesses } from "./running-process.js";

const SOURCE_ID = "5d1f0f0e-7c3b-4b7e-9a51-1f1b2f0f6c11";

/** The words that ffmpeg was started with. */
function ladderOf({ folder }: MediaMtxStand): string {
  const ladder = runningProcesses().find(
    ({ commandLine }) => commandLine.startsWith("ffmpeg") && commandLine.includes(folder),
  );
  return ladder?.commandLine ?? "";
}

for (const isBusybox of [false, true]) {
  test(`as MediaMTX starts it, in the shell of ${isBusybox ? "busybox" : "Debian"}`, async (t) => {
    const stand = await IngestStand.start(t);
    const listing = await stand.watchListing(t);
    const { stateApiPort } = stand;
    const mediaMtx = await MediaMtxStand.start(t, { stateApiPort, isBusybox, sourceId: SOURCE_ID });
    await listing.until("added");
    assert.equal((await listedStreams(stateApiPort))[0]?.clientIp, "2001:db8::7");
    assert.deepEqual(mediaMtx.files.rungs(), ["240p", "144p", "audio"]);
    assert.deepEqual(mediaMtx.asked, [`/v3/rtmpconns/get/${SOURCE_ID}`, "/v3/paths/get/live/demo"]);
    // Trap (a): the group has the signal, so ffmpeg has it too, and a second one would leave empty playlists.
    mediaMtx.signalGroup("SIGINT");
    await listing.until("removed");
    assert.equal(await mediaMtx.untilEnded(), 0);
    for (const rung of mediaMtx.files.rungs()) {
      const playlist = mediaMtx.files.playlist(rung);
      assert.ok(playlist.segments.length > 0 && playlist.hasEnded, `${rung}: ${playlist.text}`);
    }
    assert.match(mediaMtx.log, /demo ended/);
  });
}

test("a signal to the hook alone, and a second one: the playlists are whole", async (t) => {
  const stand = await IngestStand.start(t);
  const listing = await stand.watchListing(t);
  const mediaMtx = await MediaMtxStand.start(t, { stateApiPort: stand.stateApiPort });
  await listing.until("added");
  mediaMtx.signalHook("SIGINT");
  await listing.until("removed");
  mediaMtx.signalHook("SIGTERM");
  assert.equal(await mediaMtx.untilEnded(), 0);
  for (const rung of mediaMtx.files.rungs()) {
    const playlist = mediaMtx.files.playlist(rung);
    assert.ok(playlist.segments.length > 0 && playlist.hasEnded, `${rung}: ${playlist.text}`);
  }
  assert.equal(
    runningProcesses().filter(({ commandLine }) => commandLine.includes(mediaMtx.folder)).length,
    0,
  );
});

test("the end of an earlier broadcaster does not un-list the next one", async (t) => {
  const stand = await IngestStand.start(t);
  const listing = await stand.watchListing(t);
  const { stateApiPort } = stand;
  await MediaMtxStand.start(t, { stateApiPort, sourceId: SOURCE_ID });
  await listing.until("added");
  const unpublish = (sourceId: string) =>
    execFileSync(join(HOOKS, "hls-ladder.sh"), ["unpublish"], {
      env: {
        PATH: process.env["PATH"],
        STATE_API_URL: `http://127.0.0.1:${stateApiPort}`,
        HLS_ROOT: stand.hlsRoot,
        MTX_PATH: "live/demo",
        MTX_SOURCE_ID: sourceId,
      },
    });
  unpublish("11111111-7c3b-4b7e-9a51-1f1b2f0f6c11");
  assert.equal((await listedStreams(stateApiPort)).length, 1);
  unpublish(SOURCE_ID);
  await listing.until("removed");
});

// MediaMTX lets the second one in and sends the first one away.
test("another broadcaster takes the key over: listed anew, from its own ladder", async (t) => {
  const stand = await IngestStand.start(t);
  const listing = await stand.watchListing(t);
  const { stateApiPort } = stand;
  const first = await MediaMtxStand.start(t, { stateApiPort, sourceId: SOURCE_ID });
  await listing.until("added");
  first.signalGroup("SIGINT");
  const second = await MediaMtxStand.start(t, {
    stateApiPort,
    beside: first,
    sourceId: "22222222-7c3b-4b7e-9a51-1f1b2f0f6c11",
  });
  await listing.until("removed");
  await listing.until("added");
  assert.equal(await first.untilEnded(), 0);
  const [earlier = 0, later = 0] = [...second.log.matchAll(/demo (?:ended|listed)/g)]
    .slice(-2)
    .map(({ index }) => index);
  assert.ok(earlier < later && second.log.slice(later).startsWith("demo listed"), second.log);
  const ladders = runningProcesses().filter(
    ({ commandLine }) => commandLine.startsWith("ffmpeg") && commandLine.includes(second.folder),
  );
  assert.equal(ladders.length, 1);
  assert.ok(!second.files.playlist("240p").hasEnded);
});

test("a picture whose size MediaMTX does not tell is looked at", async (t) => {
  const stand = await IngestStand.start(t);
  const listing = await stand.watchListing(t);
  const mediaMtx = await MediaMtxStand.start(t, {
    stateApiPort: stand.stateApiPort,
    tracks: [{ codec: "VP8", codecProps: null }],
  });
  await listing.until("added");
  assert.deepEqual(mediaMtx.files.resolutions(), ["320x240", "192x144"]);
  assert.match(mediaMtx.log, /: 320x240 h264 aac, session/);
});

// Traps (d) and (e): a copied rung is left out of the master without a rate, and its first segment is two groups long.
test("passthrough: the broadcaster's own picture is the top rung", async (t) => {
  const stand = await IngestStand.start(t);
  const listing = await stand.watchListing(t);
  const mediaMtx = await MediaMtxStand.start(t, {
    stateApiPort: stand.stateApiPort,
    hook: { PASSTHROUGH: "1" },
  });
  await listing.until("added");
  assert.deepEqual(mediaMtx.files.rungs(), ["240p", "144p", "audio"]);
  assert.match(mediaMtx.files.master(), /BANDWIDTH=\d+,RESOLUTION=320x240/);
  const [firstSec = 9] = mediaMtx.files.playlist("240p").durationsSec;
  assert.ok(firstSec < 1.5, `${firstSec} s, of groups of 1 s`);
  assert.match(ladderOf(mediaMtx), / -c:v:0 copy .* -c:v:1 libx264 /);
  const { mediaSequence } = mediaMtx.files.playlist("144p");
  const top = await mediaMtx.files.untilAbove("240p", mediaSequence + 2);
  const next = await mediaMtx.files.untilAbove("144p", mediaSequence + 2);
  // Players change between rungs at segments: the ends have to be the same.
  for (const [place, lengthSec] of top.durationsSec.slice(1, 3).entries()) {
    const otherSec = next.durationsSec[place + 1] ?? 0;
    assert.ok(Math.abs(lengthSec - otherSec) < 0.1, `${lengthSec} s and ${otherSec} s`);
  }
});

test("sound that HLS in MPEG-TS does not carry is encoded", async (t) => {
  const stand = await IngestStand.start(t);
  const listing = await stand.watchListing(t);
  const mediaMtx = await MediaMtxStand.start(t, {
    stateApiPort: stand.stateApiPort,
    tracks: [
      { codec: "H264", codecProps: { width: 320, height: 240 } },
      { codec: "Opus", codecProps: {} },
    ],
  });
  await listing.until("added");
  assert.match(ladderOf(mediaMtx), / -c:a:0 aac /);
});

test("a wrong setting ends the hook with the setting's name", async (t) => {
  const mediaMtx = await MediaMtxStand.start(t, {
    stateApiPort: 9,
    hook: { SEGMENT_SECONDS: "5", LADDER: "720:lots", PRESET: "; rm -rf /" },
  });
  assert.equal(await mediaMtx.untilEnded(), 78);
  assert.match(mediaMtx.log, /setting SEGMENT_SECONDS must be a whole number from 1 to 2, not '5'/);
  assert.match(mediaMtx.log, /setting LADDER must hold/);
  assert.match(mediaMtx.log, /setting PRESET must be one of x264's/);
});

for (const path of ["live/../etc", "live/a b", "live/$(id)", "live/", `live/${"k".repeat(65)}`]) {
  test(`the path ${path} ends the hook`, async (t) => {
    const mediaMtx = await MediaMtxStand.start(t, { stateApiPort: 9, hook: { MTX_PATH: path } });
    assert.equal(await mediaMtx.untilEnded(), 64);
    assert.match(mediaMtx.log, /refused a stream key: expected 1 to 64 of/);
  });
}

test("the hooks have nothing that shellcheck finds", () => {
  const programs = ["hls-ladder.sh", "hls-janitor.sh"].map((name) => join(HOOKS, name));
  execFileSync("shellcheck", programs, { cwd: HOOKS, stdio: ["ignore", "inherit", "inherit"] });
});
