import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { type BreakerEvent, Breakers } from "../../../../engine/vendors/chain/breakers.js";
import { VirtualClock } from "../../../doubles/virtual-clock.js";

const CREDENTIAL = { id: "a", version: 2, category: "llm", vendor: "openai" } as const;
const NEWS: BreakerEvent = {
  ...CREDENTIAL,
  phase: "open",
  changeCount: 1,
  pauseMs: 5_000,
  leftMs: 5_000,
  lastFault: { fault: "timeout", agoMs: 100 },
};
const UNUSED = { phase: "closed", recentFailures: 0, lastFault: undefined };

let clock: VirtualClock;
let breakers: Breakers;

beforeEach(() => {
  clock = new VirtualClock();
  breakers = new Breakers(clock);
});

test("for a credential without requests since its change the state is empty", () => {
  assert.deepEqual(breakers.healthOf(CREDENTIAL), UNUSED);
  breakers.of({ ...CREDENTIAL, version: 1 }).failed({ fault: "timeout", retryAfterMs: undefined });
  assert.deepEqual(breakers.healthOf(CREDENTIAL), UNUSED);
  assert.deepEqual(breakers.healthOf({ id: "a", version: 1 }), {
    phase: "closed",
    recentFailures: 1,
    lastFault: { fault: "timeout", atMs: clock.epochMs() },
  });
});

test("what one request has done wrong is no fault of the vendor", () => {
  const breaker = breakers.of(CREDENTIAL);
  for (const fault of ["refused", "notFound", "aborted"] as const) {
    breaker.failed({ fault, retryAfterMs: undefined });
  }
  assert.deepEqual(breaker.health, UNUSED);
  assert.equal(breaker.lastEvent.lastFault, undefined);
});

test("news of what was a credential before say nothing, and news of a later one make it known", () => {
  const breaker = breakers.of(CREDENTIAL);
  breakers.applyReport({ ...NEWS, version: 1 });
  assert.equal(breakers.of(CREDENTIAL), breaker);
  assert.deepEqual(breaker.health, UNUSED);
  breakers.applyReport(NEWS);
  assert.equal(breaker.phase, "open");
  breakers.applyReport({ ...NEWS, version: 3 });
  assert.equal(breakers.healthOf({ id: "a", version: 3 }).phase, "open");
  assert.deepEqual(breakers.healthOf(CREDENTIAL), UNUSED);
});

test("the closing of an unused breaker is not kept", () => {
  breakers.applyReport({ ...NEWS, phase: "closed", changeCount: 7 });
  assert.equal(breakers.of(CREDENTIAL).lastEvent.changeCount, 0);
  breakers.applyReport({ ...NEWS, phase: "closed", changeCount: 7 });
  assert.equal(breakers.of(CREDENTIAL).lastEvent.changeCount, 7);
});

test("a repeated report changes nothing, nor does its fault", () => {
  breakers.applyReport(NEWS);
  clock.advance(1_000);
  breakers.applyReport({ ...NEWS, lastFault: { fault: "unauthorized", agoMs: 0 } });
  assert.deepEqual(breakers.of(CREDENTIAL).lastEvent, {
    ...NEWS,
    leftMs: 4_000,
    lastFault: { fault: "timeout", agoMs: 1_100 },
  });
});

test("breakers that are not closed are listed, and published with their full state", () => {
  breakers.of({ ...CREDENTIAL, id: "well" }).answered();
  breakers.applyReport(NEWS);
  assert.deepEqual(
    breakers.failing().map(({ category, vendor }) => [category, vendor]),
    [["llm", "openai"]],
  );
  assert.deepEqual(breakers.events(), [NEWS]);
});

test("one organization's failures close a provider of the platform to none of the others", () => {
  const own = (orgId: string) => breakers.of({ ...CREDENTIAL, orgId });
  for (const quiet of ["b", "c"]) own(quiet).answered();
  for (const fault of ["timeout", "badAnswer", "unauthorized"] as const) {
    own("a").failed({ fault, retryAfterMs: undefined });
  }
  assert.deepEqual(
    ["a", "b", "c", "new"].map((orgId) => own(orgId).isSkipped),
    [true, false, false, false],
  );
  assert.deepEqual(breakers.failing(), []);
  const { id, version } = CREDENTIAL;
  assert.equal(breakers.healthOf({ id, version, orgId: "a" }).phase, "open");
  assert.equal(breakers.healthOf({ id, version, orgId: "b" }).phase, "closed");
});

test("what half of the organizations find out of a provider of the platform holds for all", () => {
  const own = (orgId: string) => breakers.of({ ...CREDENTIAL, orgId });
  for (const quiet of ["c", "d", "e"]) own(quiet).answered();
  const fail = (orgId: string) => own(orgId).failed({ fault: "quotaExceeded", retryAfterMs: 0 });
  fail("a");
  fail("b");
  assert.equal(own("c").isSkipped, false, "two of five");
  fail("e");
  assert.deepEqual([own("c").isSkipped, own("new").isSkipped], [true, true], "three of five");
  assert.equal(breakers.failing().length, 1);
  clock.advance(5_000);
  assert.equal(own("c").isSkipped, false, "their pause is over: each may try");
});

test("of too many breakers a closed one is dropped before an open one", () => {
  breakers.of(CREDENTIAL).failed({ fault: "unauthorized", retryAfterMs: undefined });
  for (let n = 0; n < 10_100; n += 1) breakers.of({ ...CREDENTIAL, id: `other ${n}` });
  assert.equal(breakers.of(CREDENTIAL).isSkipped, true);
});
