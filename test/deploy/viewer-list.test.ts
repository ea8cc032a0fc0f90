import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type LiveStream,
  readListAnswer,
  readRemovedKey,
  readSnapshot,
  readStream,
} from "../../deploy/livestream/front/site/live-stream.js";
import { StreamBoard } from "../../deploy/livestream/front/site/stream-board.js";
import {
  bestQuality,
  countText,
  hueOf,
  initialsOf,
  liveForText,
  titleOf,
} from "../../deploy/livestream/front/site/wording.js";

const SESSION = {
  streamKey: "evening-news",
  startedAt: "2026-01-02T03:04:05.000Z",
  clientIp: "192.0.2.1",
  masterPlaylistUrl: "/hls/evening-news/master.m3u8",
  qualities: [
    { name: "audio", width: 0, height: 0, bandwidth: 64_000, url: "/a" },
    { name: "720p", width: 1_280, height: 720, bandwidth: 3_000_000, url: "/b" },
  ],
};

function streamOf(changes: Readonly<Record<string, unknown>>): LiveStream | undefined {
  return readStream(JSON.stringify({ ...SESSION, ...changes }));
}

test("the page reads the fields of a session that it shows, and sorts the largest quality first", () => {
  assert.deepEqual(streamOf({}), {
    streamKey: "evening-news",
    startedMs: Date.UTC(2026, 0, 2, 3, 4, 5),
    playlistPath: "/hls/evening-news/master.m3u8",
    qualities: [
      { name: "720p", height: 720 },
      { name: "audio", height: 0 },
    ],
    thumbnailPath: undefined,
    isPrivate: false,
    viewers: undefined,
  });
});

test("the page loads a playlist from its own site, whatever site the list names", () => {
  const stream = streamOf({ masterPlaylistUrl: "https://elsewhere.example/hls/a/master.m3u8?x=1" });
  assert.equal(stream?.playlistPath, "/hls/a/master.m3u8");
});

for (const [what, changes] of Object.entries({
  "a script for a playlist": { masterPlaylistUrl: "javascript:alert(1)" },
  "a playlist outside of /hls/": { masterPlaylistUrl: "/api/streams" },
  "a path that leaves /hls/": { masterPlaylistUrl: "/hls/../api/master.m3u8" },
  "a key with a slash": { streamKey: "a/b" },
  "no start": { startedAt: undefined },
  "a start that is not a time": { startedAt: "yesterday" },
  "invalid qualities": { qualities: "720p" },
})) {
  test(`a stream with ${what} is left out, and the others stay`, () => {
    assert.equal(streamOf(changes), undefined);
    const answer = {
      success: true,
      data: { count: 2, streams: [{ ...SESSION, ...changes }, SESSION] },
    };
    assert.deepEqual(
      readListAnswer(answer).map(({ streamKey }) => streamKey),
      ["evening-news"],
    );
  });
}

test("a thumbnail from another site is ignored, but its stream is shown", () => {
  assert.equal(streamOf({ viewers: 12 })?.viewers, 12);
  for (const viewers of [-1, 1.5, "12", null])
    assert.equal(streamOf({ viewers })?.viewers, undefined);
  assert.equal(streamOf({ thumbnailUrl: "data:text/html,x" })?.thumbnailPath, undefined);
  assert.equal(
    streamOf({ thumbnailUrl: "/hls/a/thumbnail.jpg" })?.thumbnailPath,
    "/hls/a/thumbnail.jpg",
  );
});

test("an invalid response is not taken for an empty list", () => {
  for (const value of [undefined, null, {}, { data: {} }, { success: false, error: "down" }]) {
    assert.throws(() => readListAnswer(value));
  }
  assert.throws(() => readSnapshot("<html>"));
  assert.throws(() => readRemovedKey(`{"streamKey":1}`));
});

test("the board applies events and lists streams in the order of their start", () => {
  const board = new StreamBoard();
  const early = streamOf({ streamKey: "early", startedAt: "2026-01-01T00:00:00Z" });
  const late = streamOf({ streamKey: "late", startedAt: "2026-01-03T00:00:00Z" });
  assert.ok(early !== undefined && late !== undefined);
  board.reset([late]);
  board.put(early);
  assert.deepEqual(board.all(), [early, late]);
  const { version } = board;
  board.put({ ...early, qualities: [] });
  board.remove("late");
  board.remove("never there");
  assert.deepEqual(board.all(), [{ ...early, qualities: [] }]);
  assert.ok(
    board.version > version,
    "a response to a request from before an event is recognized as outdated",
  );
});

test("stream keys are shown as readable names", () => {
  assert.equal(titleOf("evening-news_2"), "Evening news 2");
  assert.equal(titleOf("--"), "--");
  assert.equal(initialsOf("evening-news_2"), "EN");
  assert.equal(initialsOf("alpha"), "A");
  assert.equal(hueOf("alpha"), hueOf("alpha"));
  assert.ok(new Set(["cam-1", "cam-2", "cam-3", "cam-4"].map(hueOf)).size === 4);
});

test("the time that a stream has been live is shown in words, even if the viewer's clock is behind", () => {
  const minutes = (count: number) => liveForText(0, count * 60_000);
  assert.equal(liveForText(60_000, 0), "Started just now");
  assert.equal(minutes(0.9), "Started just now");
  assert.equal(minutes(59.9), "Live for 59 min");
  assert.equal(minutes(60), "Live for 1 h");
  assert.equal(minutes(125), "Live for 2 h 5 min");
  assert.equal(minutes(60 * 24), "Live for 1 day");
  assert.equal(minutes(60 * 72), "Live for 3 days");
});

test("counts and qualities are shown as text", () => {
  assert.deepEqual([0, 1, 2].map(countText), [
    "No live streams",
    "1 live stream",
    "2 live streams",
  ]);
  const stream = streamOf({});
  assert.ok(stream !== undefined);
  assert.equal(bestQuality(stream), "720p");
  assert.equal(bestQuality({ ...stream, qualities: [{ name: "audio", height: 0 }] }), "Sound only");
  assert.equal(bestQuality({ ...stream, qualities: [] }), undefined);
});
