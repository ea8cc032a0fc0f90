import assert from "node:assert/strict";
import { test } from "node:test";
import { EncodingBudget } from "../../../../api/livestream/transcoder/encoding-budget.js";
import { ladderPlans } from "../../../../api/livestream/transcoder/ladder-plan.js";
import { RealtimeFactorMonitor } from "../../../../api/livestream/transcoder/ladder-run.js";
import { MachineLoad } from "../../../../api/livestream/transcoder/machine-load.js";
import { parseTranscoderConfig } from "../../../../api/livestream/transcoder/transcoder-config.js";

const VIDEO = { codec: "h264", width: 1280, height: 720 };
const PLANS = ladderPlans({ video: VIDEO, audioCodec: "aac" }, parseTranscoderConfig({}));

/** A machine that is busy to the given part between any two looks. */
function machine(busy: () => number): MachineLoad {
  let looks = 0;
  let busyMs = 0;
  return new MachineLoad(() => {
    looks += 1;
    busyMs += busy() * 1_000;
    return { busyMs, idleMs: looks * 1_000 - busyMs };
  });
}

/** Speeds at one progress line every half second. */
function watched(seconds: number, speed: number): RealtimeFactorMonitor {
  const watch = new RealtimeFactorMonitor(0.92);
  for (let atMs = 0; atMs <= seconds * 1_000; atMs += 500) watch.note(atMs * speed, atMs);
  return watch;
}

test("a ladder's speed is known after some seconds, and a ladder that falls behind is slow", () => {
  assert.equal(watched(2, 1).speed(2_000), undefined);
  assert.equal(watched(4, 1).speed(4_000), 1);
  assert.equal(watched(8, 1).isSlow(8_000), false);
  assert.equal(watched(8, 0.97).isSlow(8_000), false);
  assert.equal(watched(8, 0.8).isSlow(8_000), true);
});

test("an ffmpeg that hangs gets slower by the second and is not called slow: it has to be started again", () => {
  const watch = watched(8, 1);
  assert.ok((watch.speed(12_000) ?? 1) < 0.7);
  assert.equal(watch.isSlow(12_000), false);
});

test("only the last seconds count", () => {
  const watch = watched(60, 0.2);
  for (let atMs = 60_500; atMs <= 70_000; atMs += 500) watch.note(12_000 + (atMs - 60_000), atMs);
  assert.equal(watch.isSlow(70_000), false);
});

test("broadcasts are admitted as long as there is room, then passed on", () => {
  const budget = new EncodingBudget(
    80,
    machine(() => 0),
  );
  const admitted: { megapixels: number; names: string }[] = [];
  for (let number = 0; number < 5; number += 1) {
    const plan = PLANS[budget.admit(PLANS, admitted, 0)];
    assert.ok(plan !== undefined);
    admitted.push({ megapixels: plan.megapixels, names: plan.names.join(" ") });
  }
  assert.deepEqual(
    admitted.map(({ names }) => names),
    ["720p 480p 360p audio", "480p 360p audio", "720p audio", "720p audio", "720p audio"],
  );
});

test("a machine that other work keeps busy passes on what comes, unless its operator has said what it can", () => {
  const budget = new EncodingBudget(
    80,
    machine(() => 0.95),
  );
  budget.mayRelieve(0, false);
  assert.equal(budget.admit(PLANS, [], 1_000), 0);
  budget.measured = 80;
  assert.equal(budget.admit(PLANS, [], 2_000), PLANS.length - 1);
});

test("a machine that has time to spare does not make ladders slow, and a busy one relieves one after another", () => {
  let busy = 0.5;
  const budget = new EncodingBudget(
    80,
    machine(() => busy),
  );
  for (let nowMs = 0; nowMs < 6_000; nowMs += 500) {
    assert.equal(budget.mayRelieve(nowMs, true), false);
  }
  busy = 0.99;
  const relieved: number[] = [];
  for (let nowMs = 6_000; nowMs < 20_000; nowMs += 500) {
    if (budget.mayRelieve(nowMs, true)) relieved.push(nowMs);
  }
  assert.ok(relieved.length >= 3, relieved.join(" "));
  for (const [place, atMs] of relieved.entries()) {
    assert.ok(place === 0 || atMs - (relieved[place - 1] ?? 0) >= 3_000, relieved.join(" "));
  }
  assert.equal(budget.mayRelieve(60_000, false), false);
});
