import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import type { BreakerNews } from "../../../../engine/vendors/chain/breaker-news.js";
import { Breakers } from "../../../../engine/vendors/chain/breakers.js";
import { VirtualClock } from "../../../doubles/virtual-clock.js";

const CREDENTIAL = { id: "a", version: 2, category: "llm", vendor: "openai" } as const;
const NEWS: BreakerNews = {
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

test("of a credential that nobody has used since it was changed nothing is known", () => {
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
  assert.equal(breaker.news.lastFault, undefined);
});

test("news of what was a credential before say nothing, and news of a later one make it known", () => {
  const breaker = breakers.of(CREDENTIAL);
  breakers.heard({ ...NEWS, version: 1 });
  assert.equal(breakers.of(CREDENTIAL), breaker);
  assert.deepEqual(breaker.health, UNUSED);
  breakers.heard(NEWS);
  assert.equal(breaker.phase, "open");
  breakers.heard({ ...NEWS, version: 3 });
  assert.equal(breakers.healthOf({ id: "a", version: 3 }).phase, "open");
  assert.deepEqual(breakers.healthOf(CREDENTIAL), UNUSED);
});

test("that one was closed which nobody uses here is not kept", () => {
  breakers.heard({ ...NEWS, phase: "closed", changeCount: 7 });
  assert.equal(breakers.of(CREDENTIAL).news.changeCount, 0);
  breakers.heard({ ...NEWS, phase: "closed", changeCount: 7 });
  assert.equal(breakers.of(CREDENTIAL).news.changeCount, 7);
});

test("what is told once more changes nothing, nor does the fault that comes with it", () => {
  breakers.heard(NEWS);
  clock.advance(1_000);
  breakers.heard({ ...NEWS, lastFault: { fault: "unauthorized", agoMs: 0 } });
  assert.deepEqual(breakers.of(CREDENTIAL).news, {
    ...NEWS,
    leftMs: 4_000,
    lastFault: { fault: "timeout", agoMs: 1_100 },
  });
});

test("those that are not closed are in trouble, and are told with all that is known", () => {
  breakers.of({ ...CREDENTIAL, id: "well" }).answered();
  breakers.heard(NEWS);
  assert.deepEqual(
    breakers.troubled().map(({ category, vendor }) => [category, vendor]),
    [["llm", "openai"]],
  );
  assert.deepEqual(breakers.news(), [NEWS]);
});
