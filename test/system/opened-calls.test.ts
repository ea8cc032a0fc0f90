import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { OpenedCall } from "../../engine/calls/call-opener.js";
import { CallRefusedError, type RefusalReason } from "../../engine/calls/call-refused-error.js";
import type { LiveConversation } from "../../engine/conversation/actor.js";
import { WEB_AUDIO } from "../../engine/conversation/leg-audio.js";
import { RecordingCaller } from "../doubles/recording-caller.js";
import { VirtualClock } from "../doubles/virtual-clock.js";
import { callRecord, METRICS, usageRecord } from "../storage/sample-records.js";
import { type Customer, TestServer } from "./test-server.js";

let server: TestServer;
before(async () => {
  server = await TestServer.start();
});
after(() => server.close());

/** Opens one call without a socket. */
class Opening {
  readonly caller = new RecordingCaller();
  readonly left = new AbortController();
  readonly announced: OpenedCall[] = [];
  readonly result: Promise<LiveConversation>;

  constructor({ tenant }: Customer, historyKey?: string) {
    this.result = server.parley.calls.opener.open(
      { tenant, agentId: undefined, historyKey, channel: "web", audio: WEB_AUDIO },
      this.caller,
      (line) => this.announced.push(line),
      this.left.signal,
    );
  }
}

function refused(reason: RefusalReason) {
  return (error: unknown) => error instanceof CallRefusedError && error.reason === reason;
}

test("a call is announced before it is connected, and is alive until it ends", async () => {
  const customer = await server.customer();
  await server.agent(customer);
  const opening = new Opening(customer);
  const session = await opening.result;
  assert.equal(opening.announced.length, 1);
  assert.equal(opening.announced[0]?.agentName, "Reception");
  assert.deepEqual(opening.caller.messages, [{ type: "connected" }]);
  const { liveCalls, slots } = server.parley.calls;
  assert.ok(liveCalls.has(session.callId));
  assert.equal(slots.count, 1);
  session.hangUp();
  session.hangUp();
  assert.equal(liveCalls.has(session.callId), false);
  assert.equal(slots.count, 0);
  assert.equal(opening.caller.endings.length, 1);
});

test("a conversation of the last day is continued, and an older one starts anew", async () => {
  const customer = await server.customer();
  await server.agent(customer);
  const orgId = customer.tenant.organization.id;
  const said = [{ role: "user", content: "hi" }] as const;
  const hour = 60 * 60 * 1_000;
  await server.database.history.replace(
    { orgId, key: "recent" },
    [],
    [...said],
    Date.now() - 23 * hour,
  );
  await server.database.history.replace(
    { orgId, key: "old" },
    [],
    [...said],
    Date.now() - 25 * hour,
  );
  for (const [key, isContinued] of [
    ["recent", true],
    ["old", false],
  ] as const) {
    const opening = new Opening(customer, key);
    (await opening.result).hangUp();
    assert.equal(opening.announced[0]?.historyKey === key, isContinued, key);
  }
});

test("accepted calls and refused calls are measured", async () => {
  const told = async (line: RegExp) =>
    Number(line.exec(await server.parley.calls.metrics.text())?.[1] ?? 0);
  const readyCount = () => told(/^parley_call_setup_seconds_count (\d+)$/m);
  const refusedCount = () => told(/^parley_calls_refused_total\{reason="agentNotFound"\} (\d+)$/m);
  const before = [await readyCount(), await refusedCount()];
  const customer = await server.customer();
  await assert.rejects(new Opening(customer).result, refused("agentNotFound"));
  await server.agent(customer);
  (await new Opening(customer).result).hangUp();
  assert.deepEqual(
    [await readyCount(), await refusedCount()],
    before.map((count) => count + 1),
  );
});

test("a refused call leaves neither a slot nor a live call, and announces nothing", async () => {
  const customer = await server.customer();
  const opening = new Opening(customer);
  await assert.rejects(opening.result, refused("agentNotFound"));
  assert.deepEqual(opening.announced, []);
  await server.settled();
});

test("an STT vendor that refuses releases the call's resources and leaves a failed call", async () => {
  const customer = await server.customer();
  await server.agent(customer);
  server.sandbox.faults.deepgram = { fault: "serverError" };
  const opening = new Opening(customer);
  await opening.result;
  server.sandbox.faults.deepgram = {};
  await server.settled();
  assert.equal((await server.endedCall(customer)).status, "failed");
});

test("a caller who hangs up while the call is opened causes no failure", async () => {
  const customer = await server.customer();
  await server.agent(customer);
  const opening = new Opening(customer);
  opening.left.abort();
  await assert.rejects(opening.result, refused("callerLeft"));
  await server.settled();
  assert.equal((await server.endedCall(customer)).status, "completed");
});

test("a call that cannot be stored is not begun, and releases its slot", async () => {
  const alone = await TestServer.start();
  try {
    const customer = await alone.customer();
    await alone.agent(customer);
    const { opener, slots, liveCalls } = alone.parley.calls;
    const { calls } = alone.database;
    const start = calls.start.bind(calls);
    calls.start = () => Promise.reject(new Error("disk full"));
    const request = { tenant: customer.tenant, agentId: undefined, historyKey: undefined };
    const opened = opener.open(
      { ...request, channel: "web", audio: WEB_AUDIO },
      new RecordingCaller(),
      () => undefined,
      new AbortController().signal,
    );
    await assert.rejects(opened, /disk full/);
    assert.deepEqual([slots.count, liveCalls.count], [0, 0]);
    calls.start = start;
  } finally {
    await alone.close();
  }
});

test("a call that gets its slot while the server is stopping is not begun", async () => {
  const alone = await TestServer.start();
  try {
    const customer = await alone.customer();
    await alone.agent(customer);
    const { opener, slots, liveCalls } = alone.parley.calls;
    const acquire = slots.acquire.bind(slots);
    slots.acquire = (...slot) => {
      opener.stop();
      return acquire(...slot);
    };
    const request = { tenant: customer.tenant, agentId: undefined, historyKey: undefined };
    const opened = opener.open(
      { ...request, channel: "web", audio: WEB_AUDIO },
      new RecordingCaller(),
      () => undefined,
      new AbortController().signal,
    );
    await assert.rejects(opened, refused("serverStopping"));
    assert.deepEqual([slots.count, liveCalls.count], [0, 0]);
  } finally {
    await alone.close();
  }
});

/** Creates a customer whose plan has 60 minutes, with calls of the given minutes on days of the year 2027. */
async function customerWhoCalled(on: TestServer, minutesByDate: Readonly<Record<string, number>>) {
  const customer = await on.customer("free");
  assert.equal(customer.tenant.plan.limits.maxMonthlyMinutes, 60);
  await on.agent(customer);
  const orgId = customer.tenant.organization.id;
  for (const [date, minutes] of Object.entries(minutesByDate)) {
    const id = crypto.randomUUID();
    await on.database.calls.start(callRecord({ id, orgId }), "an earlier run");
    await on.database.calls.finish(id, {
      status: "completed",
      endedAtMs: Date.parse(`${date}T12:00:00Z`),
      durationSec: minutes * 60,
      metrics: METRICS,
      metadata: {},
      messages: [],
      usage: usageRecord({ orgId, date, minutes }),
    });
  }
  return customer;
}

test("the plan's minutes count from the first of the month, and can be used to the last one", async () => {
  const clock = new VirtualClock(Date.parse("2027-03-31T23:00:00Z"));
  const inMarch = await TestServer.start({ clock });
  const refusalOf = ({ tenant }: Customer) =>
    inMarch.parley.calls.opener.refusal({ tenant, agentId: undefined });
  try {
    const before = { "2027-01-01": 60, "2027-02-01": 60, "2027-02-28": 60 };
    const sparing = await customerWhoCalled(inMarch, {
      ...before,
      "2027-03-01": 30,
      "2027-03-31": 29.9,
      "2027-04-01": 60,
    });
    assert.equal(await refusalOf(sparing), undefined);
    const early = await customerWhoCalled(inMarch, { "2027-03-01": 60 });
    assert.equal((await refusalOf(early))?.reason, "limitReached");
    const today = await customerWhoCalled(inMarch, { "2027-03-31": 60 });
    assert.equal((await refusalOf(today))?.reason, "limitReached");
    clock.advance(60 * 60 * 1_000);
    assert.equal(await refusalOf(today), undefined);
  } finally {
    await inMarch.close();
  }
});
