import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { eventually } from "../system/eventually.js";
import { untilThere } from "./folder-watch.js";
import { IngestStand } from "./ingest-stand.js";
import { listedStreams } from "./listing-watch.js";

/** Whether the segments have consecutive numbers. */
function areInOrder(segments: readonly number[]): boolean {
  return segments.every(
    (number, place) => place === 0 || number === (segments[place - 1] ?? 0) + 1,
  );
}

function assertStayedListed({ log }: IngestStand, transcoders = 1): void {
  assert.equal(log.match(/"msg":"listed"/g)?.length, transcoders, log);
  assert.doesNotMatch(log, /unlisted/);
}

// Traps (b) and (c): a restart with another first number makes players hang.
test("if ffmpeg is killed, the same playlists continue, and the stream stays listed as it was", async (t) => {
  const stand = await IngestStand.start(t, { hook: { THUMBNAIL_SECONDS: "1" } });
  const listing = await stand.watchListing(t);
  const broadcaster = stand.broadcast(t, "demo");
  await listing.until("added");
  const [listed] = await listedStreams(stand.stateApiPort);
  const files = stand.files("demo");
  const first = files.playlist("240p").mediaSequence;
  const before = await files.untilAbove("240p", first + 1);
  // A restarted ladder finds the thumbnail of the previous one.
  await untilThere(files.folder, "thumbnail.jpg");
  const [ladder] = stand.ladders("demo");
  assert.ok(ladder !== undefined, stand.log);
  process.kill(ladder.id, "SIGKILL");
  await stand.untilLogged(/"reason":"ffmpeg was ended by SIGKILL","afterSec":0/);
  const after = await files.untilAbove("240p", (before.segments.at(-1) ?? 0) + 2);
  assert.equal(after.discontinuities, 1);
  assert.ok(areInOrder(after.segments), after.text);
  assert.equal(after.segments[0], after.mediaSequence);
  assert.ok(
    after.mediaSequence <= (before.segments.at(-1) ?? 0) + 1,
    "no segment number is skipped",
  );
  assert.ok(!after.hasEnded);
  assert.deepEqual(
    after.segments.filter((segment) => !files.isWhole("240p", segment)),
    [],
  );
  const [still] = await listedStreams(stand.stateApiPort);
  assert.equal(still?.startedAt, listed?.startedAt);
  await broadcaster.leave();
  assertStayedListed(stand);
});

test("if ffmpeg stalls, it is restarted with the same playlists", async (t) => {
  const stand = await IngestStand.start(t, {
    hook: { STALL_SECONDS: "2", DEAD_SECONDS: "20" },
  });
  const listing = await stand.watchListing(t);
  const broadcaster = stand.broadcast(t, "demo");
  await listing.until("added");
  const files = stand.files("demo");
  const before = files.playlist("240p");
  const [ladder] = stand.ladders("demo");
  assert.ok(ladder !== undefined, stand.log);
  process.kill(ladder.id, "SIGSTOP");
  await stand.untilLogged(/"reason":"produced no segment for 2 s","afterSec":0/);
  const after = await files.untilAbove("240p", (before.segments.at(-1) ?? 0) + 1);
  assert.ok(areInOrder(after.segments), after.text);
  assert.equal(stand.ladders("demo").length, 1);
  await broadcaster.leave();
  assertStayedListed(stand);
});

test("if the transcoder is killed, the next one takes over session, start and playlists", async (t) => {
  const stand = await IngestStand.start(t, { hook: { LEASE_SECONDS: "20" } });
  const listing = await stand.watchListing(t);
  const broadcaster = stand.broadcast(t, "demo");
  await listing.until("added");
  const [listed] = await listedStreams(stand.stateApiPort);
  const files = stand.files("demo");
  const before = files.playlist("240p");
  // The list has the stream before the client has read the response to its request.
  await stand.untilLogged(/"msg":"listed"/);
  const killed = stand.processIdOf("transcoder");
  const [orphan] = stand.ladders("demo");
  process.kill(killed, "SIGKILL");
  const after = await files.untilAbove("240p", (before.segments.at(-1) ?? 0) + 2);
  assert.ok(areInOrder(after.segments), after.text);
  const [ladder, ...more] = stand.ladders("demo");
  assert.ok(ladder !== undefined && more.length === 0, "one ladder is left");
  assert.notEqual(ladder.id, orphan?.id, "ffmpeg ends with the transcoder that started it");
  assert.notEqual(stand.processIdOf("transcoder"), killed);
  const [still] = await listedStreams(stand.stateApiPort);
  assert.deepEqual([still?.startedAt, still?.clientIp], [listed?.startedAt, listed?.clientIp]);
  await broadcaster.leave();
  assertStayedListed(stand, 2);
});

test("if the transcoder is killed and its broadcaster leaves, the next transcoder unlists the stream and removes its files", async (t) => {
  const stand = await IngestStand.start(t, { hook: { LEASE_SECONDS: "3600" } });
  const listing = await stand.watchListing(t);
  const broadcaster = stand.broadcast(t, "demo");
  await listing.until("added");
  process.kill(stand.processIdOf("transcoder"), "SIGKILL");
  const isLeft = broadcaster.leave();
  await listing.until("removed");
  await isLeft;
  await untilThere(stand.hlsRoot, "demo", false);
  assert.equal(stand.ladders("demo").length, 0);
});

test("a returning broadcaster gets a new session that reuses no segment's name", async (t) => {
  const stand = await IngestStand.start(t);
  const listing = await stand.watchListing(t);
  const first = stand.broadcast(t, "demo");
  await listing.until("added");
  const [earlier] = await listedStreams(stand.stateApiPort);
  const files = stand.files("demo");
  const isLeft = first.leave();
  await listing.until("removed");
  await isLeft;
  await stand.untilLogged(/"msg":"broadcast ended"/);
  const last = files.playlist("240p").segments.at(-1) ?? 0;
  stand.broadcast(t, "demo");
  await listing.until("added");
  const [later] = await listedStreams(stand.stateApiPort);
  assert.ok(Date.parse(later?.startedAt ?? "") > Date.parse(earlier?.startedAt ?? ""));
  const playlist = files.playlist("240p");
  assert.ok(playlist.mediaSequence > last, `${playlist.mediaSequence} after ${last}`);
  assert.ok(
    !existsSync(`${files.folder}/240p/${last}.ts`),
    "files of the earlier session are removed",
  );
});

test("if the state API is killed, streams are listed again as they were", async (t) => {
  const stand = await IngestStand.start(t);
  const listing = await stand.watchListing(t);
  stand.broadcast(t, "demo");
  await listing.until("added");
  const [listed] = await listedStreams(stand.stateApiPort);
  const killed = stand.processIdOf("state API");
  process.kill(killed, "SIGKILL");
  await eventually(
    "the next state API",
    () => stand.processIdOf("state API") !== killed || undefined,
  );
  await stand.untilStateApi();
  const again = await stand.watchListing(t);
  if (again.countAtOpen === 0) await again.until("added");
  const [relearned] = await listedStreams(stand.stateApiPort);
  assert.deepEqual(
    [relearned?.startedAt, relearned?.clientIp],
    [listed?.startedAt, listed?.clientIp],
  );
});
