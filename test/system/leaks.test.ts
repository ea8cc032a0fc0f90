import assert from "node:assert/strict";
import { test } from "node:test";
import type { Caller } from "../../engine/sandbox/caller.js";
import { closeOf, spoke, understood } from "./events.js";
import { eventually } from "./eventually.js";
import { type Customer, TestServer } from "./test-server.js";

const CALLS = 250;
const AT_ONCE = 20;
const WARM_UP = 40;
/** Connections to vendors that stay open for later calls: at most as many as concurrent calls can use. */
const POOLED_MAX = AT_ONCE * 3;

/** The ways in which a short call can end, one after another. */
const CALL_STORIES: readonly ((caller: Caller) => Promise<unknown>)[] = [
  async (caller) => caller.hangUp(),
  async (caller) => {
    await caller.until(spoke);
    await caller.hangUp();
  },
  async (caller) => {
    caller.drop();
    await closeOf(caller);
  },
  async (caller) => {
    caller.send(Buffer.alloc(70_000));
    await closeOf(caller);
  },
  async (caller) => {
    await caller.say("hi");
    await caller.until(understood);
    await caller.hangUp();
  },
];

async function callManyTimes(server: TestServer, customer: Customer, count: number): Promise<void> {
  let begun = 0;
  async function callOneAfterAnother(): Promise<void> {
    while (begun < count) {
      const story = CALL_STORIES[begun % CALL_STORIES.length];
      begun += 1;
      const caller = await server.call(customer, { keepsAudio: false });
      await story?.(caller);
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, callOneAfterAnother));
  await server.settled();
}

/** Counts what keeps the process alive, by kind. */
function resources(): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo()) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

test(`${CALLS} short calls leave no timer, socket or stream behind`, async (context) => {
  const server = await TestServer.start();
  context.after(() => server.close());
  const customer = await server.customer();
  await server.agent(customer, { persona: { greeting: "Hi." } });
  await callManyTimes(server, customer, WARM_UP);
  const before = resources();
  await callManyTimes(server, customer, CALLS);

  const { liveCalls, slots } = server.parley.calls;
  assert.equal(liveCalls.count, 0);
  assert.equal(slots.count, 0);
  await server.changes.until("the recognizer's streams to be closed", () => {
    const entries = server.sandbox.journal.filter(({ vendor }) => vendor === "deepgram");
    const count = (kind: string) => entries.filter((entry) => entry.kind === kind).length;
    return count("opened") === count("closed") ? true : undefined;
  });
  assert.ok(server.sandbox.openConnections <= POOLED_MAX, `${server.sandbox.openConnections} open`);
  await eventually("timers to be cleared", () => {
    const timers = resources()["Timeout"] ?? 0;
    // Each idle connection in the pool has a timer of its own.
    return timers <= (before["Timeout"] ?? 0) + server.sandbox.openConnections ? true : undefined;
  });
  const { total } = await server.database.calls.list(customer.tenant.organization.id, {
    skip: 0,
    limit: 1,
  });
  assert.ok(total >= CALLS);
  const active = await server.database.calls.count(customer.tenant.organization.id, {
    status: "active",
  });
  assert.equal(active, 0);
});
