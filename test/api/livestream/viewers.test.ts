import assert from "node:assert/strict";
import { test } from "node:test";
import {
  COUNT_PERIOD_MS,
  VIEWER_LIFETIME_MS,
  VIEWERS_MAX,
  ViewerCounts,
} from "../../../api/livestream/viewer-counts.js";
import { RecordingLogger } from "../../doubles/recording-logger.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";
import { StateApi } from "./state-api.js";

const FIREFOX = { "user-agent": "Firefox" };

async function shown(api: StateApi, streamKey: string): Promise<unknown> {
  api.clock.advance(COUNT_PERIOD_MS);
  return (await api.streams()).find((stream) => stream["streamKey"] === streamKey)?.["viewers"];
}

test("a viewer counts once, by address and user agent or by the player's id", async (t) => {
  const api = await StateApi.start(t);
  await api.publish("alice");
  assert.equal(await shown(api, "alice"), undefined, "nobody counts");
  const view = { name: "alice", remoteAddr: "198.51.100.7" };
  await api.hook("on-view", view, FIREFOX);
  await api.hook("on-view", view, FIREFOX);
  await api.hook("on-view", view, { "user-agent": "VLC" });
  await api.hook("on-view", { ...view, remoteAddr: "2001:db8::1" }, FIREFOX);
  await api.hook("on-view", { ...view, viewer: "0123456789ab" }, FIREFOX);
  await api.hook("on-view", { ...view, viewer: "0123456789ab" }, { "user-agent": "VLC" });
  assert.equal(await shown(api, "alice"), 4);
  const { text } = await api.client.get("/metrics");
  assert.match(text, /^parley_livestream_viewers\{stream="alice"\} 4$/m);
});

test("a viewer without further requests is dropped, and a change is one small event", async (t) => {
  const api = await StateApi.start(t);
  await api.publish("alice");
  await api.publish("bob");
  const listener = await api.listen(t);
  await listener.next();
  const hook = (name: string, viewer: string) =>
    api.hook("on-view", { name, remoteAddr: "198.51.100.7", viewer });
  await hook("alice", "viewer-1");
  await hook("bob", "viewer-1");
  api.clock.advance(COUNT_PERIOD_MS + 20);
  assert.deepEqual(await listener.next(), { name: "viewers", data: { alice: 1, bob: 1 } });
  await hook("bob", "viewer-2");
  api.clock.advance(COUNT_PERIOD_MS + 20);
  assert.deepEqual(await listener.next(), { name: "viewers", data: { bob: 2 } });
  api.clock.advance(VIEWER_LIFETIME_MS - COUNT_PERIOD_MS + 20);
  assert.deepEqual(await listener.next(), { name: "viewers", data: { alice: 0, bob: 1 } });
});

test("a stream that returns publishes its current viewers again", async (t) => {
  const api = await StateApi.start(t);
  const view = () => api.hook("on-view", { name: "alice", remoteAddr: "198.51.100.7" });
  assert.deepEqual((await view()).body, { success: true, counted: false });
  await api.publish("alice", { session: "1" });
  assert.deepEqual((await view()).body, { success: true, counted: true });
  assert.equal(await shown(api, "alice"), 1);
  await api.publish("alice", { session: "2" });
  assert.equal((await api.streams())[0]?.["viewers"], undefined);
  assert.equal(await shown(api, "alice"), 1);
});

test("only the front counts, and a made-up name that is no name is refused", async (t) => {
  const api = await StateApi.start(t);
  await api.publish("alice");
  const view = { name: "alice", remoteAddr: "198.51.100.7" };
  const outside = await api.hook("on-view", view, { "x-forwarded-for": "198.51.100.7" });
  assert.equal(outside.status, 403);
  assert.equal((await api.hook("on-view", { ...view, viewer: "a b" })).status, 400);
  assert.equal(await shown(api, "alice"), undefined);
});

test("viewers beyond the limit are not counted, which is said once, and again when there was room", () => {
  const clock = new VirtualClock();
  const log = new RecordingLogger();
  const told: ReadonlyMap<string, number>[] = [];
  const counts = new ViewerCounts({
    isLive: () => true,
    shown: () => undefined,
    clock,
    log,
    onCounts: (viewersByStream) => void told.push(viewersByStream),
  });
  const fill = () => {
    for (let viewer = 0; viewer < VIEWERS_MAX; viewer += 1) counts.note("alice", `v${viewer}`);
  };
  fill();
  assert.equal(counts.note("alice", "one more"), false);
  assert.equal(counts.note("bob", "one more"), false);
  assert.equal(counts.note("alice", "v0"), true, "who is counted already stays so");
  clock.advance(COUNT_PERIOD_MS);
  assert.deepEqual(told, [new Map([["alice", VIEWERS_MAX]])]);
  assert.equal(log.lines.length, 1);
  clock.advance(VIEWER_LIFETIME_MS);
  assert.equal(counts.note("bob", "one more"), true);
  fill();
  assert.equal(log.lines.length, 2);
  counts.close();
});
