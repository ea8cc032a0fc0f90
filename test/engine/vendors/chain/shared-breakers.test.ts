import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { type BreakerEvent, Breakers } from "../../../../engine/vendors/chain/breakers.js";
import type { VendorFault } from "../../../../engine/vendors/contracts.js";
import { VirtualClock } from "../../../doubles/virtual-clock.js";

const PAUSE_MS = 5_000;
const TRIAL_MS = 15_000;
const BREAKERS_MAX = 10_000;
const CREDENTIAL = { id: "a", version: 1, category: "llm", vendor: "openai" } as const;

/** Processes whose clocks have nothing in common but their pace, and letters that wait until they are delivered. */
function newProcesses(count: number, credential = CREDENTIAL) {
  const letters: (readonly [from: number, news: BreakerEvent])[] = [];
  const processes = Array.from({ length: count }, (_, name) => {
    const clock = new VirtualClock(name * 7_777_777);
    const receivers: ((news: BreakerEvent) => void)[] = [];
    const breakers = new Breakers(clock, {
      publish: (news) => letters.push([name, news]),
      onEvent: (receive) => receivers.push(receive),
    });
    const hear = (news: BreakerEvent) => {
      for (const receive of receivers) receive(news);
    };
    const breaker = () => breakers.of(credential);
    const fail = (fault: VendorFault) => breaker().failed({ fault, retryAfterMs: undefined });
    return { breakers, clock, hear, breaker, fail };
  });
  const deliver = (taken = letters.splice(0)) => {
    for (const [from, news] of taken) {
      for (const [name, { hear }] of processes.entries()) if (name !== from) hear(news);
    }
  };
  const advance = (ms: number) => {
    for (const { clock } of processes) clock.advance(ms);
  };
  const phases = () => processes.map(({ breakers }) => breakers.healthOf(credential).phase);
  const skips = () => processes.map(({ breaker }) => breaker().isSkipped);
  const [one, other, third] = processes;
  assert.ok(one && other);
  return { letters, processes, one, other, third: third ?? other, deliver, advance, phases, skips };
}

test("what opens in one process is skipped in all, one call of all tries, and its success closes it for all", () => {
  const { one, other, third, deliver, advance, phases, skips } = newProcesses(3);
  one.fail("unauthorized");
  deliver();
  assert.deepEqual(skips(), [true, true, true]);
  assert.deepEqual(other.breakers.healthOf(CREDENTIAL).lastFault, {
    fault: "unauthorized",
    atMs: other.clock.epochMs(),
  });
  assert.deepEqual(other.breakers.failing(), [CREDENTIAL]);
  advance(PAUSE_MS - 1);
  assert.deepEqual(skips(), [true, true, true]);
  advance(1);
  assert.deepEqual(skips(), [false, false, false]);
  other.breaker().onRequest();
  deliver();
  assert.deepEqual(phases(), ["halfOpen", "halfOpen", "halfOpen"]);
  assert.deepEqual(skips(), [true, true, true]);
  third.breaker().abandoned();
  assert.deepEqual(skips(), [true, true, true], "only who tries can give it up");
  other.breaker().answered();
  deliver();
  assert.deepEqual(phases(), ["closed", "closed", "closed"]);
  assert.deepEqual(skips(), [false, false, false]);
  assert.deepEqual([other.breakers.failing(), other.breakers.events()], [[], []]);
});

test("a failed probe doubles the pause for all, and an aborted one leaves the probe to any of them", () => {
  const { one, other, deliver, advance, skips } = newProcesses(2);
  one.fail("unauthorized");
  deliver();
  advance(PAUSE_MS);
  other.breaker().onRequest();
  other.fail("timeout");
  deliver();
  advance(2 * PAUSE_MS - 1);
  assert.deepEqual(skips(), [true, true]);
  advance(1);
  one.breaker().onRequest();
  deliver();
  assert.deepEqual(skips(), [true, true]);
  one.breaker().abandoned();
  deliver();
  assert.deepEqual(skips(), [false, false]);
});

test("two concurrent probes end in the same state, in whatever order they are reported", () => {
  for (const isTurned of [false, true]) {
    const { letters, one, other, deliver, advance, phases } = newProcesses(3);
    one.fail("unauthorized");
    deliver();
    advance(PAUSE_MS);
    one.breaker().onRequest();
    other.breaker().onRequest();
    one.breaker().answered();
    other.fail("timeout");
    const all = letters.splice(0);
    deliver(isTurned ? all.toReversed() : all);
    deliver(all);
    assert.deepEqual(phases(), ["open", "open", "open"], "the failure is believed");
  }
});

test("a process that missed the closing finds out by its own call, and one that missed the opening by a failure", () => {
  const { letters, one, other, third, deliver, advance, phases } = newProcesses(3);
  one.fail("unauthorized");
  const [opened] = letters.splice(0);
  assert.ok(opened);
  other.hear(opened[1]);
  assert.deepEqual(phases(), ["open", "open", "closed"]);
  third.fail("unauthorized");
  deliver();
  advance(PAUSE_MS);
  one.breaker().onRequest();
  one.breaker().answered();
  letters.splice(0);
  assert.deepEqual(phases(), ["closed", "open", "open"]);
  for (const { breaker } of [other, third]) {
    assert.equal(breaker().isSkipped, false);
    breaker().onRequest();
    breaker().answered();
  }
  deliver();
  assert.deepEqual(phases(), ["closed", "closed", "closed"]);
});

test("a late message of a frozen process blocks the vendor no longer than it says", () => {
  const { letters, one, other, deliver, advance, skips } = newProcesses(2);
  one.fail("unauthorized");
  const late = letters.splice(0);
  other.fail("unauthorized");
  deliver();
  advance(PAUSE_MS);
  other.breaker().onRequest();
  other.breaker().answered();
  deliver();
  deliver(late);
  assert.deepEqual(skips(), [false, true]);
  advance(PAUSE_MS);
  assert.deepEqual(skips(), [false, false]);
});

test("a late report of a probe does not undo the closing", () => {
  const { letters, one, other, deliver, advance, phases } = newProcesses(2);
  one.fail("unauthorized");
  deliver();
  advance(PAUSE_MS);
  other.breaker().onRequest();
  const tries = letters.splice(0);
  one.breaker().onRequest();
  one.breaker().answered();
  deliver();
  deliver(tries);
  assert.deepEqual(phases(), ["closed", "closed"]);
});

test("a process that started meanwhile learns what is open, and otherwise counts from zero", () => {
  const { one, other, third, letters, deliver, advance, phases } = newProcesses(3);
  for (let round = 0; round < 3; round += 1) {
    one.fail("unauthorized");
    advance(PAUSE_MS);
    one.breaker().onRequest();
    one.breaker().answered();
  }
  letters.splice(0);
  third.fail("unauthorized");
  deliver();
  assert.deepEqual(phases(), ["open", "open", "open"]);
  const late = newProcesses(2).one;
  advance(1_000);
  for (const news of other.breakers.events()) late.hear(news);
  assert.equal(late.breaker().isSkipped, true);
  late.clock.advance(PAUSE_MS - 1_000);
  assert.equal(late.breaker().isSkipped, false);
});

test("a flood of failures is one letter, and answers while all is well are none", () => {
  const { letters, one } = newProcesses(2);
  for (let count = 0; count < 1_000; count += 1) one.breaker().answered();
  for (let count = 0; count < 1_000; count += 1) one.fail("unavailable");
  for (let count = 0; count < 1_000; count += 1) one.breaker().onRequest();
  assert.equal(letters.length, 1);
});

test("results of calls from before a credential's change are neither published nor accepted", () => {
  const { letters, one, other, deliver } = newProcesses(2);
  const before = one.breaker();
  const changed = { ...CREDENTIAL, version: 2 };
  one.breakers.of(changed);
  before.failed({ fault: "unauthorized", retryAfterMs: undefined });
  assert.deepEqual(letters, []);
  other.fail("unauthorized");
  deliver();
  assert.equal(one.breakers.of(changed).isSkipped, false);
  one.breakers.of(changed).failed({ fault: "quotaExceeded", retryAfterMs: undefined });
  deliver();
  assert.equal(other.breakers.of(changed).isSkipped, true);
});

test("others' reports are kept for a limited number of credentials, and for an unused closed one not at all", () => {
  const { one, other } = newProcesses(2);
  one.fail("unauthorized");
  const { lastEvent: news } = one.breaker();
  other.hear({ ...news, id: "unused", phase: "closed" });
  for (let index = 0; index <= BREAKERS_MAX; index += 1) other.hear({ ...news, id: `${index}` });
  assert.equal(other.breakers.events().length, BREAKERS_MAX);
  assert.equal(other.breakers.healthOf({ id: "0", version: 1 }).phase, "closed");
  assert.equal(other.breakers.healthOf({ id: "1", version: 1 }).phase, "open");
});

test("whatever happens, is reported, repeated or lost: a minute after the last failure the vendor is tried, and is soon closed for all", () => {
  const act = fc.constantFrom("fail", "ask", "answer", "abandon", "deliver", "deliverLate", "lose");
  const step = fc.record({ act, name: fc.nat(2), ms: fc.nat(20_000) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const { letters, processes, deliver, advance, phases, skips } = newProcesses(3);
      const past: (readonly [number, BreakerEvent])[] = [];
      for (const { act: what, name, ms } of steps) {
        const breaker = processes[name]?.breaker();
        past.push(...letters);
        if (what === "fail") breaker?.failed({ fault: "unauthorized", retryAfterMs: undefined });
        else if (what === "ask") breaker?.onRequest();
        else if (what === "answer") breaker?.answered();
        else if (what === "abandon") breaker?.abandoned();
        else if (what === "deliver") deliver();
        else if (what === "deliverLate") deliver(past);
        else letters.splice(0);
        advance(ms);
      }
      deliver();
      advance(60_000);
      assert.deepEqual(skips(), [false, false, false]);
      for (const { breaker } of processes) {
        breaker().onRequest();
        deliver();
        breaker().answered();
        deliver();
        advance(TRIAL_MS);
      }
      assert.deepEqual(phases(), ["closed", "closed", "closed"]);
    }),
  );
});
