import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { eventually } from "../system/eventually.js";
import { untilThere } from "./folder-watch.js";
import { IngestStand } from "./ingest-stand.js";

test("a broadcast is recorded as a playable MP4, across a restart of its ffmpeg, and another one is not recorded", async (t) => {
  const stand = await IngestStand.start(t, {
    hook: (hlsRoot) => {
      const root = join(hlsRoot, "../recordings");
      mkdirSync(root);
      return { RECORD_DIR: root, RECORD_KEYS: "show,other", RECORD_FREE_MIN_MB: "0" };
    },
  });
  const root = join(stand.folder, "recordings");
  const listing = await stand.watchListing(t);
  const broadcaster = stand.broadcast(t, "show");
  await listing.until("added");
  stand.broadcast(t, "private", { size: "none" });
  await listing.until("added");
  await untilThere(root, "show");
  const [start = ""] = readdirSync(join(root, "show"));
  const folder = join(root, "show", start);
  const recorded = () => readdirSync(folder).filter((name) => name.endsWith(".ts")).length;
  await eventually("two segments", () => recorded() >= 2 || undefined);
  const [ladder] = stand.ladders("show");
  assert.ok(ladder !== undefined);
  process.kill(ladder.id, "SIGKILL");
  const before = recorded();
  await stand.untilLogged(/the ladder starts again/);
  await eventually("more segments", () => recorded() >= before + 2 || undefined);
  await broadcaster.leave();
  const playlist = () => readFileSync(join(folder, "index.m3u8"), "utf8");
  await eventually("the end", () => playlist().includes("#EXT-X-ENDLIST") || undefined);
  const segments = playlist().match(/^\d+\.ts$/gm) ?? [];
  assert.equal(segments.length, recorded());
  const mp4 = join(folder, "index.m3u8");
  const args = `-v error -i ${mp4} -map 0:v -c copy -f framecrc -`.split(" ");
  const frames = execFileSync("ffmpeg", args).toString("utf8");
  const count = frames.split("\n").filter((line) => line.startsWith("0,")).length;
  assert.ok(count >= segments.length * 10, `${count} frames in ${segments.length} segments`);
  assert.deepEqual(readdirSync(root), ["show"]);
});

test("with the setting for MP4, an ended recording is one MP4 that plays without its playlist, across a restart of its ffmpeg", async (t) => {
  const stand = await IngestStand.start(t, {
    hook: (hlsRoot) => {
      const root = join(hlsRoot, "../recordings");
      mkdirSync(root);
      return { RECORD_DIR: root, RECORD_AS: "mp4", RECORD_FREE_MIN_MB: "0" };
    },
  });
  const root = join(stand.folder, "recordings/show");
  const listing = await stand.watchListing(t);
  const broadcaster = stand.broadcast(t, "show");
  await listing.until("added");
  await untilThere(join(stand.folder, "recordings"), "show");
  const folder = join(root, readdirSync(root)[0] ?? "");
  const segments = () => readdirSync(folder).filter((name) => name.endsWith(".ts")).length;
  await eventually("two segments", () => segments() >= 2 || undefined);
  const [ladder] = stand.ladders("show");
  assert.ok(ladder !== undefined);
  process.kill(ladder.id, "SIGKILL");
  await stand.untilLogged(/the ladder starts again/);
  const before = segments();
  await eventually("more segments", () => segments() >= before + 2 || undefined);
  await broadcaster.leave();
  await stand.untilLogged(/remuxed a recording to one MP4/);
  assert.deepEqual(readdirSync(folder), ["film-1.mp4"]);
  const mp4 = join(folder, "film-1.mp4");
  const args = `-v error -i ${mp4} -map 0:v -map 0:a -c copy -f framecrc -`.split(" ");
  const pieces = execFileSync("ffmpeg", args).toString("utf8").split("\n");
  const countOf = (track: number) => pieces.filter((line) => line.startsWith(`${track},`)).length;
  assert.ok(countOf(0) >= (before + 2) * 10, `${countOf(0)} frames`);
  assert.ok(countOf(1) > countOf(0), `${countOf(1)} pieces of sound`);
});
