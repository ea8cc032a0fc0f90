import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { eventually } from "../system/eventually.js";
import { IngestStand } from "./ingest-stand.js";
import { listedStreams } from "./listing-watch.js";
import { RtmpClient } from "./rtmp-client.js";

const FLAPS = 50;
/**
 * On an idle machine it takes 20 to 60 ms, and bench:livestream requires at most 100; here other tests run on the same
 * cores.
 */
const UNLISTED_WITHIN_MS = 5_000;

/** No stream, no ladder and no record of a session may be left. */
async function assertNothingIsLeft(stand: IngestStand): Promise<void> {
  await eventually("the end of all ladders", () => {
    const isLeft = stand.processes().some(({ commandLine }) => commandLine.startsWith("ffmpeg"));
    return (!isLeft && readdirSync(join(stand.folder, "run")).length === 0) || undefined;
  });
  assert.deepEqual(await listedStreams(stand.stateApiPort), []);
}

/** The listed streams with their start times, without qualities, which become known a moment later. */
async function broadcastsOf({ stateApiPort }: IngestStand): Promise<readonly unknown[]> {
  const streams = await listedStreams(stateApiPort);
  return streams.map(({ streamKey, startedAt, clientIp }) => ({ streamKey, startedAt, clientIp }));
}

test("broadcasters who leave immediately leave nothing behind, and the next one is listed and unlisted as usual", async (t) => {
  const stand = await IngestStand.start(t);
  const listing = await stand.watchListing(t);
  for (let flap = 0; flap < FLAPS; flap += 1) {
    // Every third client leaves before it is publishing; the others leave while publishing.
    const client =
      flap % 3 === 0
        ? await RtmpClient.ask(stand.rtmpPort, "demo")
        : await RtmpClient.publish(stand.rtmpPort, "demo");
    await client.leave();
  }
  await assertNothingIsLeft(stand);
  const broadcaster = stand.broadcast(t, "demo");
  await listing.until("added");
  assert.equal(stand.ladders("demo").length, 1);
  const leftMs = performance.now();
  const isLeft = broadcaster.leave();
  await listing.until("removed");
  const unlistedMs = performance.now() - leftMs;
  await isLeft;
  t.diagnostic(`unlisted after ${unlistedMs.toFixed(0)} ms`);
  assert.ok(unlistedMs < UNLISTED_WITHIN_MS, `${unlistedMs} ms`);
  await assertNothingIsLeft(stand);
});

test("second publishers of a live key, who are refused and leave quickly, do not affect the first", async (t) => {
  const stand = await IngestStand.start(t);
  const listing = await stand.watchListing(t);
  const broadcaster = stand.broadcast(t, "demo");
  await listing.until("added");
  const before = await broadcastsOf(stand);
  for (let twin = 0; twin < FLAPS; twin += 1) {
    const client = await RtmpClient.ask(stand.rtmpPort, "demo");
    // Some wait until they are refused; the others leave before.
    if (twin % 10 === 0) await client.untilRefused();
    await client.leave();
  }
  assert.deepEqual(await broadcastsOf(stand), before);
  assert.equal(stand.ladders("demo").length, 1);
  const isLeft = broadcaster.leave();
  await listing.until("removed");
  await isLeft;
  await assertNothingIsLeft(stand);
});
