import assert from "node:assert/strict";
import { test } from "node:test";
import { EncodingBudget } from "../../../../api/livestream/transcoder/encoding-budget.js";
import { ladderPlans } from "../../../../api/livestream/transcoder/ladder-plan.js";
import { MachineLoad } from "../../../../api/livestream/transcoder/machine-load.js";
import { NO_TRACKS } from "../../../../api/livestream/transcoder/published-stream.js";
import { SourceDescriber } from "../../../../api/livestream/transcoder/source-describer.js";
import { TrackFlow } from "../../../../api/livestream/transcoder/track-flow.js";
import { parseTranscoderConfig } from "../../../../api/livestream/transcoder/transcoder-config.js";
import { RecordingLogger } from "../../../doubles/recording-logger.js";

/** Packets of a track, `everyMs` apart, whose timestamps grow as the time does. */
function send(
  flow: TrackFlow,
  kind: "video" | "audio",
  fromMs: number,
  toMs: number,
  everyMs: number,
) {
  for (let atMs = fromMs; atMs <= toMs; atMs += everyMs) flow.note(kind, packet(atMs), atMs);
}

function packet(timestampMs: number): string {
  return `0,       ${timestampMs},       ${timestampMs},       23,      258, 0x2c5b786a\n`;
}

function watched(): { readonly flow: TrackFlow; readonly jumps: () => number } {
  let jumps = 0;
  const flow = new TrackFlow(["video", "audio"], () => {
    jumps += 1;
  });
  for (const kind of ["video", "audio"] as const) flow.note(kind, "#tb 0: 1/1000\n", 0);
  return { flow, jumps: () => jumps };
}

test("a track that is silent while the other flows has ended; where both are silent neither has", () => {
  const { flow, jumps } = watched();
  send(flow, "audio", 0, 5_000, 20);
  send(flow, "video", 0, 9_000, 1_000);
  assert.equal(flow.hasEnded("audio", 9_000), true);
  assert.equal(flow.hasEnded("video", 9_000), false);
  assert.equal(flow.hasEnded("audio", 20_000), false, "a source that stands still");
  send(flow, "audio", 20_000, 20_600, 20);
  assert.equal(flow.isBack("audio", 20_600), true);
  assert.equal(jumps(), 0);
});

test("a track that falls silent while another flows is unsure until it has ended or flows again", () => {
  const { flow } = watched();
  send(flow, "audio", 0, 5_000, 20);
  send(flow, "video", 0, 5_000, 40);
  assert.equal(flow.isUnsure(5_000), false);
  send(flow, "video", 5_040, 6_000, 40);
  assert.equal(flow.isUnsure(6_000), true);
  send(flow, "audio", 6_020, 6_100, 20);
  assert.equal(flow.isUnsure(6_100), false);
  assert.equal(
    flow.isUnsure(30_000),
    false,
    "a source that stands still is none whose track ended",
  );
});

test("a picture that is sent once in two seconds is none that has ended", () => {
  const { flow } = watched();
  send(flow, "audio", 0, 20_000, 20);
  send(flow, "video", 0, 20_000, 2_000);
  assert.equal(flow.hasEnded("video", 20_000), false);
});

test("timestamps jump when they grow faster than time passes, or stand still", () => {
  for (const [jumpMs, count] of [
    [60_000, 1],
    [3_600_000, 1],
    [500, 0],
  ] as const) {
    const { flow, jumps } = watched();
    send(flow, "video", 0, 1_000, 40);
    flow.note("video", packet(1_040 + jumpMs), 1_040);
    assert.equal(jumps(), count, `${jumpMs}`);
  }
  const late = watched();
  send(late.flow, "video", 0, 1_000, 40);
  late.flow.note("video", packet(9_000), 9_000);
  assert.equal(late.jumps(), 0, "a hole in the upload, which took its time");
  const standing = watched();
  send(standing.flow, "audio", 0, 1_000, 20);
  for (let atMs = 1_020; atMs < 1_400; atMs += 20) standing.flow.note("audio", packet(1_000), atMs);
  assert.ok(standing.jumps() > 0);
});

test("what is cut anywhere is read as if it was whole, and a line that never ends is bounded", () => {
  const { flow } = watched();
  const lines = `${packet(0)}${packet(20)}`;
  for (const letter of lines) flow.note("audio", letter, 20);
  assert.equal(flow.isBack("audio", 520), false);
  flow.note("audio", "x".repeat(1_000_000), 20);
  flow.note("audio", `\n${packet(540)}`, 540);
  assert.equal(flow.isBack("audio", 540), true);
});

test("ffmpeg's own words tell of a track that is new, or not there", () => {
  const { flow } = watched();
  flow.noteLine("New audio stream 0:1 at pos:12345 and DTS:5.2s");
  assert.deepEqual([flow.isBack("audio", 0), flow.isBack("video", 0)], [true, false]);
  flow.noteLine("Stream map '0:v:0' matches no streams.");
  assert.deepEqual([flow.hasEnded("audio", 0), flow.hasEnded("video", 0)], [false, true]);
});

test("without room a picture that cannot be passed on is kept in its smallest rung", () => {
  const tracks = { video: { codec: "vp8", width: 1280, height: 720 }, audioCodec: "opus" };
  const plans = ladderPlans(tracks, parseTranscoderConfig({}));
  const idle = new MachineLoad(() => ({ busyMs: 0, idleMs: 0 }));
  const admitted = new EncodingBudget(1, idle).admit(plans, [], 0);
  assert.deepEqual(plans[admitted]?.names, ["240p", "audio"]);
});

test("a size that is never reported is not awaited", async () => {
  let probes = 0;
  const found = { video: { codec: "vp8", width: 640, height: 480 }, audioCodec: "opus" };
  const probe = async () => {
    probes += 1;
    return { tracks: found, unreadableCodec: undefined };
  };
  const source = new SourceDescriber("demo", probe, new RecordingLogger());
  source.see(NO_TRACKS);
  assert.equal(source.describe(0), undefined);
  source.see({ video: { codec: "vp8", width: 0, height: 0 }, audioCodec: "opus" });
  assert.equal(source.describe(100), undefined);
  await Promise.resolve();
  await Promise.resolve();
  assert.deepEqual(source.describe(200), found);
  assert.equal(probes, 1);
});
