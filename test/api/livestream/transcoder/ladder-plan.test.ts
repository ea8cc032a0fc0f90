import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type LadderSettings,
  ladderPlans,
  levelBelow,
} from "../../../../api/livestream/transcoder/ladder-plan.js";
import type { Tracks } from "../../../../api/livestream/transcoder/published-stream.js";
import { parseTranscoderConfig } from "../../../../api/livestream/transcoder/transcoder-config.js";

const SETTINGS = parseTranscoderConfig({});

function broadcast(width: number, height: number, codec = "h264", audioCodec?: string): Tracks {
  return { video: { codec, width, height }, audioCodec };
}

function names(tracks: Tracks, settings: Partial<LadderSettings> = {}): readonly string[] {
  return ladderPlans(tracks, { ...SETTINGS, ...settings }).map((plan) => plan.names.join(" "));
}

test("one rendition less from the top each time, down to the source", () => {
  assert.deepEqual(names(broadcast(1920, 1080, "h264", "aac")), [
    "1080p 720p 480p audio",
    "720p 480p audio",
    "480p audio",
    "1080p audio",
  ]);
  assert.deepEqual(names(broadcast(1280, 720), { rungsMax: 2 }), ["720p 480p", "480p", "720p"]);
});

test("what is not H.264 cannot be passed on: the smallest rung is kept, and sound alone is the last resort", () => {
  assert.deepEqual(names(broadcast(1920, 1080, "vp8", "opus")), [
    "1080p 720p 480p audio",
    "720p 480p audio",
    "480p audio",
    "240p audio",
    "audio",
  ]);
  assert.deepEqual(names(broadcast(640, 360, "vp8", "opus")), [
    "360p 240p audio",
    "240p audio",
    "audio",
  ]);
  assert.deepEqual(names(broadcast(640, 360, "vp8")), ["360p 240p", "240p"]);
});

test("sound alone, and nothing at all", () => {
  assert.deepEqual(names({ video: undefined, audioCodec: "aac" }), ["audio"]);
  assert.deepEqual(names({ video: undefined, audioCodec: undefined }), []);
});

test("the short side counts, and a source below all renditions has one of its own even size", () => {
  assert.deepEqual(names(broadcast(720, 1280))[0], "720p 480p 360p");
  assert.deepEqual(names(broadcast(161, 91)), ["90p", "91p"]);
});

test("with passthrough the broadcaster's own picture is the top rung of all of them", () => {
  assert.deepEqual(names(broadcast(1280, 720), { isPassthrough: true }), [
    "720p 480p 360p",
    "720p 360p",
    "720p",
  ]);
});

test("what it costs: its rungs and a part of the source; nothing when it is passed on", () => {
  const plans = ladderPlans(broadcast(1280, 720), SETTINGS);
  const costs = plans.map(({ megapixels }) => Math.round(megapixels * 10) / 10);
  // 720p30 has 27.6 megapixels a second, 480p30 12.3, 360p30 6.9, and decoding 720p30 costs as much as 4.1.
  assert.deepEqual(costs, [51, 23.3, 11.1, 0]);
});

test("a slow ladder is reduced to what it could make, in one step, and to sound alone only from its least picture", () => {
  const plans = ladderPlans(broadcast(1280, 720, "h264", "aac"), SETTINGS);
  // 720p 480p 360p, 480p 360p, 360p, what came: 51, 23, 11 and 0 megapixels a second.
  assert.deepEqual(
    [0.9, 0.5, 0.4, 0.2, 0].map((speed) => levelBelow(plans, 0, speed)),
    [1, 1, 2, 3, 3],
  );
  assert.equal(levelBelow(plans, 3, 0.5), 4, "there is nothing below");
  const unpassable = ladderPlans(broadcast(640, 360, "vp8", "opus"), SETTINGS);
  assert.deepEqual([levelBelow(unpassable, 0, 0.1), levelBelow(unpassable, 1, 0.9)], [1, 2]);
});
