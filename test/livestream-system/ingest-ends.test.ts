import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { eventually } from "../system/eventually.js";
import { untilThere } from "./folder-watch.js";
import { IngestStand } from "./ingest-stand.js";
import { listedStreams } from "./listing-watch.js";

test("if all processes of the ingest are killed, the stream is unlisted when its lease ends", async (t) => {
  const stand = await IngestStand.start(t, { hook: { LEASE_SECONDS: "8" } });
  const listing = await stand.watchListing(t);
  stand.broadcast(t, "demo");
  await listing.until("added");
  const killedMs = performance.now();
  stand.transcoder.kill();
  stand.ingest.kill();
  await listing.until("removed");
  const afterMs = performance.now() - killedMs;
  assert.ok(
    afterMs > 2_000,
    `a lease of 8 s that was renewed within 1 s ended after ${afterMs} ms`,
  );
  assert.doesNotMatch(stand.log, /unlisted|broadcast ended/);
});

test("if the media server is killed, its streams are unlisted at once", async (t) => {
  const stand = await IngestStand.start(t, { hook: { LEASE_SECONDS: "3600" } });
  const listing = await stand.watchListing(t);
  stand.broadcast(t, "demo");
  await listing.until("added");
  const id = stand.processIdOf("ingest");
  for (const { id: workerId } of stand.childrenOf(id)) process.kill(workerId, "SIGKILL");
  await listing.until("removed");
  await stand.untilLogged(/"msg":"broadcast ended"/);
});

test("a starting ingest unlists and removes the streams that an earlier one left", async (t) => {
  const stand = await IngestStand.start(t, {
    onFolders(hlsRoot) {
      for (const name of ["left_over", "not.ours"]) {
        mkdirSync(join(hlsRoot, name, "240p"), { recursive: true });
        writeFileSync(join(hlsRoot, name, "240p", "index.m3u8"), "#EXTM3U\n");
      }
    },
    async onStateApi(url) {
      const answer = await fetch(`${url}/webhook/on-publish`, {
        method: "POST",
        body: new URLSearchParams({ name: "left_over", remoteAddr: "192.0.2.1", session: "old" }),
      });
      assert.equal(answer.status, 200);
    },
  });
  await untilThere(stand.hlsRoot, "left_over", false);
  assert.deepEqual(await listedStreams(stand.stateApiPort), []);
  assert.ok(existsSync(join(stand.hlsRoot, "not.ours")), "files that belong to no stream are kept");
});

test("if the disk is full, that is logged and the stream unlisted, and listed again when there is room", async (t) => {
  // Other programs write to this disk, too.
  const spareBytes = 1024 * 1024 * 1024;
  const ballast = (stand: IngestStand) => join(stand.folder, "ballast");
  const stand = await IngestStand.start(t, {
    hook: (hlsRoot) => ({
      DISK_FREE_MIN_KB: String(Math.floor((freeBytes(hlsRoot) - spareBytes) / 1024)),
    }),
  });
  const listing = await stand.watchListing(t);
  stand.broadcast(t, "demo");
  await listing.until("added");
  execFileSync("fallocate", ["-l", String(spareBytes * 2), ballast(stand)]);
  await listing.until("removed");
  await stand.untilLogged(/disk full/);
  await eventually("the end of ffmpeg", () => stand.ladders("demo").length === 0 || undefined);
  rmSync(ballast(stand));
  await listing.until("added");
  assert.match(stand.log, /has room again/);
  assert.equal(stand.ladders("demo").length, 1);
});

test("a stream whose segments cannot be written in spite of room on the disk is unlisted until they can", async (t) => {
  const stand = await IngestStand.start(t, { hook: { DEAD_SECONDS: "3" } });
  const listing = await stand.watchListing(t);
  stand.broadcast(t, "demo");
  await listing.until("added");
  const [ladder] = stand.ladders("demo");
  assert.ok(ladder !== undefined);
  const transcoderId = stand.processIdOf("transcoder");
  // A segment is larger than this limit, so ffmpeg fails at once, and so does each later one.
  for (const id of [transcoderId, ladder.id]) limitFileBytes(id, "8000:unlimited");
  await stand.untilLogged(/unlisted: no new segment/);
  await listing.until("removed");
  await stand.untilLogged(/"reason":"ffmpeg [^"]+","afterSec":1/);
  limitFileBytes(transcoderId, "unlimited");
  await listing.until("added");
});

function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

function limitFileBytes(id: number, limits: string): void {
  execFileSync("prlimit", ["--pid", String(id), `--fsize=${limits}`]);
}
