import assert from "node:assert/strict";
import { test } from "node:test";
import { EncodingBudget } from "../../../../api/livestream/transcoder/encoding-budget.js";
import {
  GROWTH_PAUSE_MAX_MS,
  GROWTH_PAUSE_MIN_MS,
  GrowthPause,
  REDUCTIONS_FORGOTTEN_MS,
} from "../../../../api/livestream/transcoder/ladder.js";
import { ladderPlans } from "../../../../api/livestream/transcoder/ladder-plan.js";
import { MachineLoad } from "../../../../api/livestream/transcoder/machine-load.js";
import { parseTranscoderConfig } from "../../../../api/livestream/transcoder/transcoder-config.js";
import { ListedBroadcast } from "./listed-broadcast.js";

const VP8 = { codec: "vp8", width: 640, height: 480 };
const TRACKS = { video: VP8, audioCodec: "opus" };
const LADDER = "480:800:96 240:200:48";
const GROWN = "there is room again: rungs are added";

function grownAt(broadcast: ListedBroadcast): number {
  return broadcast.log.lines.filter(({ message }) => message === GROWN).length;
}

/** Seconds in which ffmpeg makes a segment each; ends sooner when the ladder has grown so often. */
function live(broadcast: ListedBroadcast, seconds: number, growths = 1): number {
  for (let second = 0; second < seconds; second += 1) {
    if (grownAt(broadcast) >= growths) return second;
    broadcast.makeSegments();
    broadcast.clock.advance(1_000);
  }
  return seconds;
}

test("a VP8 broadcast that began on a busy machine keeps one small rung, and grows back when there has been room for a while", async (t) => {
  let busy = 0.95;
  const broadcast = await ListedBroadcast.start(t, {
    tracks: TRACKS,
    ladder: LADDER,
    busy: () => busy,
  });
  const [reduced] = await broadcast.untilHealth((streams) => streams[0]?.state === "reduced");
  assert.deepEqual(reduced?.rungs, ["240p"]);
  live(broadcast, 120);
  assert.equal(grownAt(broadcast), 0);
  // Less busy than overloaded, and not calm.
  busy = 0.8;
  live(broadcast, 120);
  assert.equal(grownAt(broadcast), 0);
  busy = 0.2;
  const seconds = live(broadcast, 60);
  assert.ok(seconds >= 15 && seconds < 30, `grown after ${seconds} s`);
  await broadcast.untilStarts(2);
  broadcast.makeSegments();
  broadcast.clock.advance(3_000);
  await broadcast.untilHealth((streams) => streams.length === 0);
  const [ladder] = broadcast.transcoder.ladders;
  assert.deepEqual(ladder?.report.rungs, ["480p", "240p"]);
  assert.equal(ladder?.report.reason, undefined);
  await broadcast.untilListed(1);
});

test("a ladder grows to what its machine has room for, one ladder at a time", () => {
  const plans = ladderPlans(TRACKS, parseTranscoderConfig({ LADDER }));
  const [whole, small] = plans;
  assert.ok(whole !== undefined && small !== undefined && plans.length === 3);
  let busy = 0.1;
  let busyMs = 0;
  let looks = 0;
  const load = new MachineLoad(() => {
    looks += 1;
    busyMs += busy * 1_000;
    return { busyMs, idleMs: looks * 1_000 - busyMs };
  });
  const budget = new EncodingBudget(whole.megapixels * 2, load);
  let nowMs = 0;
  const pass = (ms: number) => {
    for (const endMs = nowMs + ms; nowMs < endMs; nowMs += 500) budget.mayRelieve(nowMs, false);
  };
  pass(14_000);
  assert.equal(budget.growth(plans, 2, [], nowMs), undefined);
  pass(3_000);
  // Half of the machine for the whole ladder beside a tenth that is used.
  assert.equal(budget.growth(plans, 2, [], nowMs), 0);
  assert.equal(budget.growth(plans, 2, [], nowMs), undefined, "the next one waits");
  pass(17_000);
  const other = { megapixels: whole.megapixels * 2 - small.megapixels };
  assert.equal(budget.growth(plans, 2, [other], nowMs), 1, "beside the others");
  pass(17_000);
  busy = 0.65;
  pass(17_000);
  assert.equal(budget.growth(plans, 2, [], nowMs), 1, "as far as it keeps time to spare");
  pass(17_000);
  assert.equal(budget.growth(plans, 0, [], nowMs), undefined, "whole already");
});

test("after each reduction the pause before a ladder grows doubles, up to half an hour, and an hour of calm ends that", () => {
  const pause = new GrowthPause();
  let nowMs = 0;
  assert.equal(pause.isOver(nowMs), true);
  let expectedMs = GROWTH_PAUSE_MIN_MS;
  for (let reductions = 0; reductions < 10; reductions += 1) {
    pause.noteReduced(nowMs);
    assert.equal(pause.isOver(nowMs + expectedMs - 1), false);
    nowMs += expectedMs;
    assert.equal(pause.isOver(nowMs), true);
    expectedMs = Math.min(expectedMs * 2, GROWTH_PAUSE_MAX_MS);
  }
  assert.equal(expectedMs, GROWTH_PAUSE_MAX_MS);
  nowMs += REDUCTIONS_FORGOTTEN_MS;
  pause.noteReduced(nowMs);
  assert.equal(pause.isOver(nowMs + GROWTH_PAUSE_MIN_MS), true);
});
