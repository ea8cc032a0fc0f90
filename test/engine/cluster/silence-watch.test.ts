import assert from "node:assert/strict";
import { test } from "node:test";
import { SilenceDetector } from "../../../engine/cluster/node-registry.js";

const MAX_MS = 15_000;
const BEAT_MS = 2_000;

/** Checks every two seconds from `fromMs` on, for this long; returns when the first was too silent. */
function firstSilence(watch: SilenceDetector, fromMs: number, forMs: number): number | undefined {
  const nodes = [{ startId: "silent", heartbeatAtMs: 1 }];
  for (let nowMs = fromMs; nowMs <= fromMs + forMs; nowMs += BEAT_MS) {
    const living = { startId: "living", heartbeatAtMs: nowMs };
    const silent = watch.silentOf([...nodes, living], nowMs);
    if (silent.length === 0) continue;
    assert.deepEqual(silent, nodes);
    return nowMs;
  }
  return undefined;
}

test("a node with the same heartbeat for fifteen seconds is silent, and no other", () => {
  assert.equal(firstSilence(new SilenceDetector(MAX_MS), 0, 60_000), 16_000);
});

test("a look every five seconds is often enough, and fifteen seconds are too many", () => {
  const watch = new SilenceDetector(MAX_MS);
  const nodes = [{ startId: "silent", heartbeatAtMs: 1 }];
  const silent = [0, 5_000, 10_000, 15_000].map((nowMs) => watch.silentOf(nodes, nowMs).length);
  assert.deepEqual(silent, [0, 0, 0, 1]);
});

test("after a pause of the checks, every node has the full time again", () => {
  const watch = new SilenceDetector(MAX_MS);
  assert.equal(firstSilence(watch, 0, 14_000), undefined);
  assert.equal(firstSilence(watch, 20_000, 60_000), 36_000);
});

test("after a look that failed, everybody has all of the time again", () => {
  const watch = new SilenceDetector(MAX_MS);
  assert.equal(firstSilence(watch, 0, 12_000), undefined);
  watch.interrupt();
  assert.equal(firstSilence(watch, 14_000, 60_000), 30_000);
});
