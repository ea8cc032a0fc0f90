import assert from "node:assert/strict";
import { test } from "node:test";
import { parseMasterPlaylist, QUALITIES_MAX } from "../../../api/livestream/playlist-reader.js";

const rung = (attributes: string, path: string) => `#EXT-X-STREAM-INF:${attributes}\n${path}\n`;

test("rungs are read in the order of the playlist", () => {
  const text = `#EXTM3U\r\n${rung("BANDWIDTH=2,RESOLUTION=640x360", "360p/index.m3u8")}${rung("AVERAGE-BANDWIDTH=9,BANDWIDTH=3", "sound/index.m3u8")}`;
  assert.deepEqual(parseMasterPlaylist(text), [
    { name: "360p", width: 640, height: 360, bandwidth: 2, path: "360p/index.m3u8" },
    { name: "sound", width: 0, height: 0, bandwidth: 3, path: "sound/index.m3u8" },
  ]);
});

test("a rung without a folder is named for its height", () => {
  const names = [
    rung("BANDWIDTH=1,RESOLUTION=1920x1080", "high.m3u8"),
    rung("BANDWIDTH=1", "sound.m3u8"),
  ].flatMap((text) => parseMasterPlaylist(text).map(({ name }) => name));
  assert.deepEqual(names, ["1080p", "audio"]);
});

test("commas and names within quotes are not attributes", () => {
  const text = rung('CODECS="a,BANDWIDTH=7",BANDWIDTH=5,RESOLUTION=2x1', "a.m3u8");
  assert.equal(parseMasterPlaylist(text)[0]?.bandwidth, 5);
});

test("paths outside the folder, or without a rendition, are skipped", () => {
  const paths = [
    "../secret.m3u8",
    "a/../../b.m3u8",
    "/etc/passwd",
    "//evil.example/a.m3u8",
    "https://evil.example/a.m3u8",
    "javascript:alert(1)",
    ".hidden/a.m3u8",
    "a b.m3u8",
    "a.m3u8?x=1",
    "#EXT-X-ENDLIST",
    "",
    "a/b/c/d/e.m3u8",
  ];
  for (const path of paths)
    assert.deepEqual(parseMasterPlaylist(rung("BANDWIDTH=1", path)), [], path);
  for (const attributes of ["", "BANDWIDTH=", "BANDWIDTH=-1", "BANDWIDTH=1e9", "RESOLUTION=1x1"]) {
    assert.deepEqual(parseMasterPlaylist(rung(attributes, "a.m3u8")), [], attributes);
  }
});

test("a ladder of more rungs than any has is cut", () => {
  const text = rung("BANDWIDTH=1", "a.m3u8").repeat(1_000);
  assert.equal(parseMasterPlaylist(text).length, QUALITIES_MAX);
});
