import assert from "node:assert/strict";
import { test } from "node:test";
import {
  abandoned,
  answered,
  applyReport,
  type BreakerState,
  CLOSED_BREAKER,
  failed,
  isSkipped,
  reportOf,
  withProbe,
} from "../../../../engine/vendors/chain/breakers.js";
import type { VendorFault } from "../../../../engine/vendors/contracts.js";

const PAUSE_MS = 5_000;

function afterFailures(count: number, fault: VendorFault = "unavailable", nowMs = 0): BreakerState {
  let state = CLOSED_BREAKER;
  for (let left = count; left > 0; left--) state = failed(state, fault, undefined, nowMs);
  return state;
}

test("three failures in a row open a breaker, two do not", () => {
  assert.equal(isSkipped(afterFailures(2), 0), false);
  assert.equal(isSkipped(afterFailures(3), 0), true);
  assert.equal(isSkipped(failed(answered(afterFailures(2)), "timeout", undefined, 0), 0), false);
});

test("a refused credential opens it at once, and what one request has done wrong never does", () => {
  for (const fault of ["unauthorized", "quotaExceeded"] as const) {
    assert.equal(afterFailures(1, fault).phase, "open");
  }
  for (const fault of ["refused", "notFound", "aborted"] as const) {
    assert.equal(afterFailures(50, fault), CLOSED_BREAKER);
  }
});

test("every other answer a failure opens it, although there are never three in a row", () => {
  let state = CLOSED_BREAKER;
  const phases = Array.from({ length: 6 }, () => {
    state = failed(state, "unavailable", undefined, 0);
    const { phase } = state;
    state = answered(state);
    return phase;
  });
  assert.deepEqual(phases, [...Array(5).fill("closed"), "open"], "a few failures are no rate");
});

test("after the pause one call probes, and the others wait for its result", () => {
  const open = afterFailures(3);
  assert.equal(isSkipped(open, PAUSE_MS - 1), true);
  assert.equal(isSkipped(open, PAUSE_MS), false);
  const tried = withProbe(open, PAUSE_MS);
  assert.equal(tried.phase, "halfOpen");
  assert.equal(isSkipped(tried, PAUSE_MS), true, "a second call does not try");
  assert.deepEqual(answered(tried), { ...CLOSED_BREAKER, changeCount: 3 });
});

test("a try that fails doubles the pause, up to a minute", () => {
  let state = afterFailures(3);
  const pauses: number[] = [];
  for (let round = 0; round < 6; round++) {
    const nowMs = state.untilMs;
    state = failed(withProbe(state, nowMs), "timeout", undefined, nowMs);
    pauses.push(state.untilMs - nowMs);
  }
  assert.deepEqual(pauses, [10_000, 20_000, 40_000, 60_000, 60_000, 60_000]);
});

test("an aborted probe leaves it to the next call", () => {
  const tried = withProbe(afterFailures(3), PAUSE_MS);
  assert.equal(isSkipped(abandoned(tried, PAUSE_MS), PAUSE_MS), false);
  assert.equal(abandoned(tried, PAUSE_MS).changeCount, tried.changeCount + 1);
});

test("a probe without a result does not block the vendor for good", () => {
  const tried = withProbe(afterFailures(3), PAUSE_MS);
  assert.equal(isSkipped(tried, PAUSE_MS + 14_999), true);
  assert.equal(isSkipped(tried, PAUSE_MS + 15_000), false);
});

test("the pause that a vendor asks for is kept, but no longer than a minute", () => {
  assert.equal(failed(CLOSED_BREAKER, "rateLimited", 20_000, 0).untilMs, 20_000);
  assert.equal(failed(CLOSED_BREAKER, "rateLimited", 3_600_000, 0).untilMs, 60_000);
});

test("one response to a request from before the opening does not close it", () => {
  const open = afterFailures(3);
  assert.equal(answered(open), open);
});

/** `f` is a failure and `s` an answer. */
function after(answers: string): BreakerState {
  let state = CLOSED_BREAKER;
  for (const each of answers) {
    state = each === "f" ? failed(state, "unavailable", undefined, 0) : answered(state);
  }
  return state;
}

test("half of ten answers that fail open a breaker, and fewer or fewer than half do not", () => {
  assert.equal(after("fsfsfssf").phase, "closed");
  assert.equal(after("fsfsfssfs").phase, "closed");
  assert.equal(after("fsfsfssfsf").phase, "open");
  assert.equal(after("fsfsfsssfs").phase, "closed");
  assert.equal(after("fsfsfssfss").phase, "closed");
});

test("of the responses the newest twenty count, and those before the first failure do not", () => {
  const dense = "fs".repeat(9);
  assert.equal(after(`f${"s".repeat(12)}${dense}`).phase, "closed");
  assert.equal(after(`f${"s".repeat(12)}${dense}f`).phase, "open");
  assert.equal(after(`${"s".repeat(40)}fsfsfssfsf`).phase, "open");
});

test("a pause that a vendor asks for is not shorter than the usual one", () => {
  assert.equal(failed(CLOSED_BREAKER, "rateLimited", 100, 0).untilMs, PAUSE_MS);
  assert.equal(failed(CLOSED_BREAKER, "rateLimited", 5_001, 0).untilMs, 5_001);
  assert.equal(afterFailures(3, "unavailable", 40).untilMs, PAUSE_MS + 40);
});

test("the state with more changes wins, and of two with equal counts the worse one", () => {
  const table = [
    ["closed", "closed", 0, false],
    ["closed", "halfOpen", -1, false],
    ["closed", "halfOpen", 0, true],
    ["closed", "open", -1, true],
    ["halfOpen", "closed", 0, false],
    ["halfOpen", "closed", 1, true],
    ["halfOpen", "halfOpen", 0, false],
    ["halfOpen", "open", -1, false],
    ["halfOpen", "open", 0, true],
    ["open", "closed", 1, true],
    ["open", "halfOpen", 0, false],
    ["open", "halfOpen", 1, true],
    ["open", "open", 0, false],
  ] as const;
  for (const [phase, told, more, isNews] of table) {
    const state = { ...CLOSED_BREAKER, phase, changeCount: 4, untilMs: 90 };
    const news = { phase: told, changeCount: 4 + more, pauseMs: 10_000, leftMs: 700 };
    const { untilMs, isProbedByAnotherNode, ...known } = applyReport(state, news, 50);
    const name = `${phase}, told ${told} with ${more}`;
    assert.deepEqual(
      [known.phase, known.changeCount],
      isNews ? [told, 4 + more] : [phase, 4],
      name,
    );
    assert.equal(untilMs, !isNews ? 90 : told === "closed" ? 0 : 750, name);
    assert.equal(isProbedByAnotherNode, isNews && told === "halfOpen", name);
    assert.equal(known.pauseMs, isNews && told !== "closed" ? 10_000 : PAUSE_MS, name);
  }
});

test("others learn its remaining pause", () => {
  const open = { phase: "open", changeCount: 1, pauseMs: PAUSE_MS } as const;
  assert.deepEqual(reportOf(afterFailures(3), 1_000), { ...open, leftMs: 4_000 });
  assert.deepEqual(reportOf(afterFailures(3), 6_000), { ...open, leftMs: 0 });
  assert.equal(reportOf(CLOSED_BREAKER, 0).leftMs, 0);
});

test("a request from before the opening changes nothing, whatever its outcome", () => {
  const open = afterFailures(3);
  assert.equal(failed(open, "unauthorized", 60_000, 1_000), open);
  assert.equal(answered(open), open);
});

test("an answer ends a row of failures: it takes three more", () => {
  const state = answered(afterFailures(2));
  const again = failed(failed(state, "timeout", undefined, 0), "timeout", undefined, 0);
  assert.equal(again.phase, "closed");
  assert.equal(failed(again, "timeout", undefined, 0).phase, "open");
});

test("the newest twenty answers are remembered", () => {
  let state = afterFailures(1);
  for (let n = 0; n < 19; n += 1) state = answered(state);
  assert.deepEqual(state.recent, [true, ...Array(19).fill(false)]);
  for (let n = 0; n < 11; n += 1) state = answered(state);
  assert.deepEqual(state.recent, Array(20).fill(false));
});

test("a try that came to nothing leaves it open, for the next call to try at once", () => {
  const tried = withProbe(afterFailures(3), PAUSE_MS);
  const left = abandoned(tried, PAUSE_MS + 10);
  assert.deepEqual([left.phase, left.untilMs], ["open", PAUSE_MS + 10]);
  assert.equal(left.changeCount, tried.changeCount + 1);
});

test("a request to a closed breaker, or to an open one that still waits, changes nothing", () => {
  assert.equal(withProbe(CLOSED_BREAKER, 100), CLOSED_BREAKER);
  const early = { ...CLOSED_BREAKER, untilMs: 200 };
  assert.equal(withProbe(early, 100), early);
  const open = afterFailures(3);
  assert.equal(withProbe(open, PAUSE_MS - 1), open);
});

test("only the call that tries can leave a try", () => {
  assert.equal(abandoned(CLOSED_BREAKER, 100), CLOSED_BREAKER);
  const open = afterFailures(3);
  assert.equal(abandoned(open, 100), open);
  const elsewhere = applyReport(open, reportOf(withProbe(open, PAUSE_MS), PAUSE_MS), PAUSE_MS);
  assert.equal(elsewhere.phase, "halfOpen");
  assert.equal(abandoned(elsewhere, PAUSE_MS), elsewhere);
});
