import assert from "node:assert/strict";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ALICE, ListedBroadcast } from "./listed-broadcast.js";

const UNLISTED_MS_MAX = 200;

test("a broadcaster that the media server reports as gone is unlisted immediately", async (t) => {
  const broadcast = await ListedBroadcast.start(t);
  broadcast.published = [];
  const ringMs = broadcast.clock.monotonicMs();
  await broadcast.transcoder.poll();
  await broadcast.untilListed(0);
  assert.equal(broadcast.clock.monotonicMs(), ringMs);
});

test("one whose ring is lost is unlisted within 200 ms", async (t) => {
  const broadcast = await ListedBroadcast.start(t);
  broadcast.published = [];
  broadcast.clock.advance(UNLISTED_MS_MAX);
  await broadcast.untilListed(0);
});

test("a broadcast that cannot start is retried and logged at most once a second", async (t) => {
  const broadcast = await ListedBroadcast.start(t);
  rmSync(broadcast.runFolder, { recursive: true });
  broadcast.published = [ALICE, { ...ALICE, streamKey: "bob", session: "s2" }];
  await broadcast.transcoder.poll();
  broadcast.clock.advance(5_000);
  const count = broadcast.log.ofLevel("error").length;
  assert.ok(count >= 4 && count <= 6, `told ${count} times`);
  mkdirSync(broadcast.runFolder);
  broadcast.clock.advance(1_100);
  assert.ok(existsSync(join(broadcast.runFolder, "bob.json")));
});
