import assert from "node:assert/strict";
import { test } from "node:test";
import { isBrokenOff, onceEnded } from "../../../engine/calls/broken-call.js";
import type { CallRecord } from "../../../storage/records.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";
import { callRecord } from "../../storage/sample-records.js";

const ACTIVE: CallRecord = { ...callRecord(), status: "active" };
const ENDED: CallRecord = { ...ACTIVE, status: "completed" };

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

test("a call without an end broke off", () => {
  const isBroken = (metadata: CallRecord["metadata"]) => isBrokenOff({ ...ENDED, metadata });
  for (const endReason of ["callerLeft", "serverStopping", "server stopped during the call"]) {
    assert.equal(isBroken({ endReason }), true, endReason);
  }
  for (const endReason of ["agentHungUp", "", 7]) {
    assert.equal(isBroken({ endReason }), false, String(endReason));
  }
  assert.equal(isBroken({}), false);
  assert.equal(isBrokenOff(ACTIVE), true);
});

test("the end of a call that is not stored yet is looked for ten times in a second", async () => {
  for (const [endedAtLook, looksMax] of [
    [1, 1],
    [4, 4],
    [99, 11],
  ] as const) {
    const clock = new VirtualClock();
    let looks = 0;
    const find = () => Promise.resolve(++looks >= endedAtLook ? ENDED : ACTIVE);
    const journal = { stored: () => Promise.resolve() };
    const found = onceEnded(ACTIVE, find, journal, clock);
    for (let look = 0; look < 15; look += 1) {
      await turn();
      assert.equal(looks, Math.min(look + 1, looksMax));
      clock.advance(99);
      await turn();
      assert.equal(looks, Math.min(look + 1, looksMax), "a tenth of a second lies between");
      clock.advance(1);
    }
    assert.equal(await found, endedAtLook === 99 ? ACTIVE : ENDED);
    assert.equal(clock.pendingTimerCount, 0);
  }
});

test("what is on its way to the store is waited for, a second at most, and a call that is not there not at all", async () => {
  const clock = new VirtualClock();
  let looks = 0;
  const find = () => {
    looks += 1;
    return Promise.resolve(looks > 1 ? undefined : ACTIVE);
  };
  const found = onceEnded(ACTIVE, find, { stored: () => new Promise(() => {}) }, clock);
  clock.advance(999);
  await turn();
  assert.equal(looks, 0);
  clock.advance(1);
  assert.equal(await found, ACTIVE, "the second is over");
  const none = onceEnded(ACTIVE, find, { stored: () => Promise.resolve() }, clock);
  assert.equal(await none, undefined);
});

test("a call that has followed meanwhile is returned at once, though it is active", async () => {
  const clock = new VirtualClock();
  const next: CallRecord = { ...ACTIVE, id: "next" };
  let found = ACTIVE;
  const journal = { stored: () => Promise.resolve() };
  const looking = onceEnded(ACTIVE, () => Promise.resolve(found), journal, clock);
  await turn();
  found = next;
  clock.advance(100);
  assert.equal(await looking, next);
  assert.equal(clock.pendingTimerCount, 0);
});
