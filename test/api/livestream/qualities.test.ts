import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { PLAYLIST_BYTES_MAX } from "../../../api/livestream/playlist-reader.js";
import { WATCH_PERIOD_MS } from "../../../api/livestream/playlist-watch.js";
import { StateApi } from "./state-api.js";

const LADDER = `#EXTM3U
#EXT-X-VERSION:6
#EXT-X-STREAM-INF:BANDWIDTH=3220800,RESOLUTION=1280x720,CODECS="avc1.4d401f,mp4a.40.2"
720p/index.m3u8

#EXT-X-STREAM-INF:BANDWIDTH=140800,CODECS="mp4a.40.2"
audio/index.m3u8
`;
const QUALITIES = [
  {
    name: "720p",
    width: 1280,
    height: 720,
    bandwidth: 3_220_800,
    url: "/hls/alice/720p/index.m3u8",
  },
  { name: "audio", width: 0, height: 0, bandwidth: 140_800, url: "/hls/alice/audio/index.m3u8" },
];

async function hlsFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "parley-hls-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function writePlaylist(hlsRoot: string, streamKey: string, text: string): Promise<void> {
  await mkdir(join(hlsRoot, streamKey), { recursive: true });
  await writeFile(join(hlsRoot, streamKey, "master.m3u8"), text);
}

async function qualitiesOf(api: StateApi, streamKey: string): Promise<unknown> {
  return (await api.streams()).find((stream) => stream["streamKey"] === streamKey)?.["qualities"];
}

/** The check of all playlists, which runs next to the requests. */
async function watched(api: StateApi, holds: () => Promise<boolean>): Promise<void> {
  api.clock.advance(WATCH_PERIOD_MS);
  while (!(await holds())) await nextTurn();
}

test("a reader of the go-live event can list the stream's qualities", async (t) => {
  const hlsRoot = await hlsFolder(t);
  await writePlaylist(hlsRoot, "alice", LADDER);
  const api = await StateApi.start(t, { hlsRoot });
  await api.publish("alice");
  assert.deepEqual(await qualitiesOf(api, "alice"), QUALITIES);
});

test("their addresses are whole where the playlist's is", async (t) => {
  const hlsRoot = await hlsFolder(t);
  await writePlaylist(hlsRoot, "alice", LADDER);
  const api = await StateApi.start(t, { hlsRoot, publicBaseUrl: "https://live.example.com" });
  await api.publish("alice");
  assert.match(
    JSON.stringify(await qualitiesOf(api, "alice")),
    /"url":"https:\/\/live\.example\.com\/hls\/alice\/720p\/index\.m3u8"/,
  );
});

test("without a playlist there are no qualities; a new one is noticed and published", async (t) => {
  const hlsRoot = await hlsFolder(t);
  const api = await StateApi.start(t, { hlsRoot });
  const listener = await api.listen(t);
  await listener.next();
  await api.publish("alice");
  assert.deepEqual(await qualitiesOf(api, "alice"), []);
  await writePlaylist(hlsRoot, "alice", LADDER);
  assert.deepEqual(await qualitiesOf(api, "alice"), []);
  await watched(api, async () => JSON.stringify(await qualitiesOf(api, "alice")) !== "[]");
  assert.deepEqual(await qualitiesOf(api, "alice"), QUALITIES);
  await writePlaylist(hlsRoot, "alice", LADDER.replaceAll("720", "480"));
  await watched(api, async () => /480p/.test(JSON.stringify(await qualitiesOf(api, "alice"))));
  await rm(join(hlsRoot, "alice"), { recursive: true });
  await watched(api, async () => JSON.stringify(await qualitiesOf(api, "alice")) === "[]");
  api.clock.advance(20);
  for (const name of ["added", "replaced", "replaced", "replaced"]) {
    assert.equal((await listener.next()).name, name);
  }
});

test("a stream's picture is listed while there is one, and a link out of the folder is none", async (t) => {
  const hlsRoot = await hlsFolder(t);
  await writePlaylist(hlsRoot, "alice", LADDER);
  const api = await StateApi.start(t, { hlsRoot, publicBaseUrl: "https://live.example.com" });
  await api.publish("alice");
  const listed = async () => (await api.streams())[0]?.["thumbnailUrl"];
  assert.equal(await listed(), undefined);
  const path = join(hlsRoot, "alice", "thumbnail.jpg");
  await writeFile(path, "a picture");
  await watched(api, async () => (await listed()) !== undefined);
  assert.equal(await listed(), "https://live.example.com/hls/alice/thumbnail.jpg");
  await rm(path);
  await symlink("/etc/hostname", path);
  await watched(api, async () => (await listed()) === undefined);
});

test("a stream that is replaced keeps no qualities of the one before", async (t) => {
  const hlsRoot = await hlsFolder(t);
  await writePlaylist(hlsRoot, "alice", LADDER);
  const api = await StateApi.start(t, { hlsRoot });
  await api.publish("alice", { session: "one" });
  await rm(join(hlsRoot, "alice"), { recursive: true });
  await api.publish("alice", { session: "two" });
  assert.deepEqual(await qualitiesOf(api, "alice"), []);
});

test("neither links nor folders nor giants are read", async (t) => {
  const hlsRoot = await hlsFolder(t);
  const elsewhere = await hlsFolder(t);
  await writePlaylist(elsewhere, "secret", LADDER);
  await symlink(join(elsewhere, "secret"), join(hlsRoot, "link"));
  await mkdir(join(hlsRoot, "inner"));
  await symlink(join(elsewhere, "secret", "master.m3u8"), join(hlsRoot, "inner", "master.m3u8"));
  await mkdir(join(hlsRoot, "folder", "master.m3u8"), { recursive: true });
  await writeFile(join(hlsRoot, "file"), LADDER);
  await writePlaylist(hlsRoot, "giant", LADDER.padEnd(PLAYLIST_BYTES_MAX + 1, "\n"));
  await writePlaylist(hlsRoot, "largest", LADDER.padEnd(PLAYLIST_BYTES_MAX, "\n"));
  await writePlaylist(hlsRoot, "empty", "");
  const api = await StateApi.start(t, { hlsRoot });
  for (const key of ["link", "inner", "folder", "file", "giant", "empty", "none"]) {
    assert.equal((await api.publish(key)).status, 200);
    assert.deepEqual(await qualitiesOf(api, key), [], key);
  }
  await api.publish("largest");
  assert.match(JSON.stringify(await qualitiesOf(api, "largest")), /720p/);
  assert.deepEqual(api.logger.ofLevel("warn"), []);
});

test("a failing disk is logged once, and streams stay live", async (t) => {
  const api = await StateApi.start(t, { hlsRoot: `/${"x".repeat(5_000)}` });
  for (const name of ["alice", "bob"]) assert.equal((await api.publish(name)).status, 200);
  assert.deepEqual(await api.keys(), ["alice", "bob"]);
  assert.deepEqual(
    api.logger.ofLevel("warn").map(({ message }) => message),
    ["failed to read a playlist"],
  );
});
