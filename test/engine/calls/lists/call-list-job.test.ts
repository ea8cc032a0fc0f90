import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import {
  CallListJob,
  FAILURES_IN_ROW_MAX,
  HOLD_NOTICE_REFUSALS,
  ORDER_MAX_MS,
  PAUSED_CHECK_MS,
  REFUSALS_MAX,
  VENDOR_REFUSALS_MAX,
  WORKER_ANSWER_MAX_MS,
} from "../../../../engine/calls/lists/call-list-job.js";
import type {
  CallPlacer,
  ListedOrder,
  ListedPlacement,
} from "../../../../engine/calls/lists/listed-calls.js";
import { JobRunner } from "../../../../engine/jobs/job-runner.js";
import { JobMetrics } from "../../../../engine/metrics/job-metrics.js";
import type { CallListRecord } from "../../../../storage/calls/call-list-record.js";
import {
  CONTINUED_WITHIN_MS,
  type StateChange,
} from "../../../../storage/calls/call-list-store.js";
import { placedCallJob } from "../../../../storage/jobs/job-record.js";
import type { RequestErrorCode } from "../../../../storage/parley-error.js";
import { SilentLogger } from "../../../doubles/silent-logger.js";
import { VirtualClock } from "../../../doubles/virtual-clock.js";
import {
  callListEntry,
  callListRecord,
  callListRow,
} from "../../../storage/calls/sample-call-list.js";
import {
  callRecord,
  insertOrganizations,
  METRICS,
  NOON_MS,
  usageRecord,
} from "../../../storage/sample-records.js";
import { temporaryDatabase } from "../../../storage/temporary-file.js";
import { pollIsOver } from "../../jobs/runner-poll.js";

const START: StateChange = { from: ["ready"], to: "running", isDue: true };
const PAUSE: StateChange = { from: ["running"], to: "paused" };
const RESUME: StateChange = { from: ["paused"], to: "running", isDue: true, endsHold: true };
const MINUTE_MS = 60_000;
/** A test that would wait longer fails. */
const WAIT_MAX_STEPS = 5_000;

interface PlacedOrder extends ListedOrder {
  readonly atMs: number;
}

function refusal(
  code: RequestErrorCode,
  retryAfterSec?: number,
  isOfNumber = false,
): ListedPlacement {
  return { kind: "refused", code, message: `refused with ${code}`, retryAfterSec, isOfNumber };
}

/** The vendor cannot be reached, or accepts no orders for a time. */
function outage(retryAfterSec = 10): ListedPlacement {
  const message = "the telephony vendor cannot be reached";
  return {
    kind: "refused",
    code: "telephony_unavailable",
    message,
    retryAfterSec,
    isOfVendor: true,
  };
}

/** A list of `people` on a database, the runner of its job with a virtual clock, and a worker that claims rows as a real one. */
async function stand(context: TestContext, fields: Partial<CallListRecord> = {}, people = 1) {
  const database = await temporaryDatabase(context);
  await insertOrganizations(database);
  const clock = new VirtualClock(NOON_MS);
  const list = callListRecord(fields);
  const rows = Array.from({ length: people }, (_, index) => callListRow(index + 1));
  await database.callLists.insertWithin(list, rows, 9, callListEntry("create"));
  const orders: PlacedOrder[] = [];
  const runners: JobRunner[] = [];
  /** A run that waits for such a worker ends only with time. */
  let isFrozen = false;
  /** What the worker answers in place of placing the call. */
  const refusals = new Map<string, ListedPlacement | "broken" | "frozen" | "frozenBehindClaim">();
  /** The vendor's answer to every order, in place of that. */
  const vendor: { answer: ListedPlacement | undefined } = { answer: undefined };
  /** When the worker was asked, whatever it answered. */
  const asked: number[] = [];
  const frozen = () => {
    isFrozen = true;
    return new Promise<never>(() => undefined);
  };
  const placer: CallPlacer = {
    placeListedCall: async (order) => {
      asked.push(clock.epochMs());
      const refused = vendor.answer ?? refusals.get(order.to);
      if (refused === "broken") throw new Error("the worker has ended");
      if (refused === "frozen") return frozen();
      const isVendors =
        refused === "frozenBehindClaim" ||
        refused?.kind === "placed" ||
        (refused?.kind === "refused" &&
          (refused.code === "call_rejected" ||
            refused.isOfNumber === true ||
            refused.isOfVendor === true));
      if (refused !== undefined && !isVendors) return refused;
      const { orgId, row } = order;
      const { callId } = row;
      const job = placedCallJob({ orgId, callId, runId: "run" }, {}, clock.epochMs());
      if (!(await database.calls.place(job, callId, row))) return refusal("conflict");
      if (refused === "frozenBehindClaim") {
        orders.push({ ...order, atMs: clock.epochMs() });
        return frozen();
      }
      if (refused?.kind === "refused") {
        await database.calls.failPlaced(callId);
        return refused;
      }
      orders.push({ ...order, atMs: clock.epochMs() });
      return refused ?? { kind: "placed" };
    },
  };
  let ids = 0;
  const start = (owner = "me") => {
    const job = new CallListJob({
      store: database.callLists,
      placer: () => placer,
      clock,
      newId: () => `${owner} ${++ids}`,
    });
    const runner = new JobRunner({
      store: database.jobs,
      handlers: { callList: job },
      owner,
      isAlone: true,
      meter: new JobMetrics(),
      clock,
      log: new SilentLogger(),
    });
    const stop = async () => {
      const closing = runner.close(0);
      clock.advance(0);
      await closing;
    };
    context.after(stop);
    runner.start();
    runners.push(runner);
    return stop;
  };
  const change = (to: StateChange) => database.callLists.change(list, to, callListEntry("start"));
  const isRunning = () => !isFrozen && runners.some(({ runningCount }) => runningCount > 0);
  /** Moves the clock step by step until the condition is true; no step falls into a run, which would be late with all it does. */
  const until = async (what: string, holds: () => boolean | Promise<boolean>, stepMs = 1_000) => {
    for (let step = 0; step < WAIT_MAX_STEPS; step += 1) {
      if (await holds()) return;
      await pollIsOver(database);
      while (isRunning()) await database.jobs.nextTimes();
      clock.advance(stepMs);
    }
    assert.fail(`it never came to: ${what}`);
  };
  const isList = async (state: CallListRecord["state"]) =>
    (await database.callLists.find("org", "list"))?.state === state;
  /** The call of an order has ended. */
  const end = async (
    order: PlacedOrder | undefined,
    endReason: string,
    status = "failed",
    metadata: Readonly<Record<string, unknown>> = {},
    durationSec = status === "completed" ? 12.5 : 0,
  ) => {
    assert.ok(order !== undefined);
    const id = order.row.callId;
    const ended = { status: status === "failed" ? "failed" : "completed" } as const;
    const endedAtMs = clock.epochMs();
    const record = callRecord({
      id,
      sessionId: id,
      ...ended,
      durationSec,
      endedAtMs,
      metadata: { endReason, ...metadata },
    });
    await database.calls.start(record, "run");
  };
  const states = async () =>
    (await database.callLists.rows("org", "list", { after: 0, limit: 99 })).map(
      ({ state, attempts, reason }) => [state, attempts, reason],
    );
  const jobs = async () => {
    const inState = (state: "queued" | "running" | "failed") =>
      database.jobs.list("org", { state, skip: 0, limit: 9 });
    const all = await Promise.all([inState("queued"), inState("running"), inState("failed")]);
    return all.flat().filter(({ kind }) => kind === "callList");
  };
  return {
    database,
    clock,
    list,
    orders,
    asked,
    refusals,
    vendor,
    start,
    change,
    until,
    isList,
    end,
    states,
    jobs,
  };
}

test("each person is called once, no more at the same time than the list allows", async (context) => {
  const { start, change, until, isList, orders, end, states, jobs } = await stand(
    context,
    { callsMax: 2 },
    5,
  );
  start();
  await change(START);
  for (let ended = 0; ended < 5; ended += 1) {
    const placed = Math.min(5, ended + 2);
    await until(`${placed} calls`, () => orders.length === placed);
    await end(orders[ended], "agentEnded", "completed");
  }
  await until("the list is completed", () => isList("completed"));
  assert.deepEqual(orders.map(({ to }) => to).toSorted(), [
    "+15550101001",
    "+15550101002",
    "+15550101003",
    "+15550101004",
    "+15550101005",
  ]);
  assert.deepEqual(orders[0]?.variables, { firstName: "Person 1" });
  assert.deepEqual(
    await states(),
    Array.from({ length: 5 }, () => ["completed", 1, "agentEnded"]),
  );
  await until("no job is left", async () => (await jobs()).length === 0);
});

const UNJUDGED = { answerer: { kind: "pending", isGreetingDue: false, screeningAnswers: 0 } };

test("a row follows the last record of a call whose stream broke before its verdict", async (context) => {
  const { database, clock, start, change, until, isList, orders, end, states } =
    await stand(context);
  start();
  await change(START);
  await until("the call", () => orders.length === 1);
  await end(orders[0], "server stopped during the call", "failed", UNJUDGED, 3);
  const endedAtMs = clock.epochMs();
  const isPast = (ms: number) => () => clock.epochMs() >= endedAtMs + ms;
  await until("the vendor asks what follows", isPast(20_000));
  assert.deepEqual(await states(), [["calling", 1, null]]);
  const callId = orders[0]?.row.callId ?? "";
  const later = { id: "later", sessionId: "later" };
  await database.calls.start(callRecord({ ...later, status: "active" }), "run");
  await database.calls.annotate(callId, { continuedBy: "later" });
  await until("the call goes on", isPast(60_000));
  assert.deepEqual(await states(), [["calling", 1, null]]);
  await database.calls.finish("later", {
    metrics: METRICS,
    status: "completed",
    endedAtMs: clock.epochMs(),
    durationSec: 9,
    messages: [],
    metadata: { endReason: "machine", voicemail: { messageLeft: true, text: "Hello." } },
    usage: usageRecord(),
  });
  await until("the list is completed", () => isList("completed"));
  assert.deepEqual(await states(), [["completed", 1, "machine"]]);
});

test("a call whose stream broke before its verdict, and that nothing continues, is waited for a while", async (context) => {
  const { clock, start, change, until, isList, orders, end, states } = await stand(context);
  start();
  await change(START);
  await until("the call", () => orders.length === 1);
  await end(orders[0], "callerLeft", "completed", UNJUDGED);
  const endedAtMs = clock.epochMs();
  await until("the list is completed", () => isList("completed"));
  assert.deepEqual(await states(), [["completed", 1, "callerLeft"]]);
  const waitedMs = clock.epochMs() - endedAtMs;
  assert.ok(waitedMs >= CONTINUED_WITHIN_MS && waitedMs < CONTINUED_WITHIN_MS + 5_000);
});

for (const [end, answerer] of [
  ["callerLeft", "person"],
  ["machine", "machine"],
] as const) {
  test(`a call that ends as ${end} with a ${answerer} is not waited for`, async (context) => {
    const stood = await stand(context);
    stood.start();
    await stood.change(START);
    await stood.until("the call", () => stood.orders.length === 1);
    const endedAtMs = stood.clock.epochMs();
    await stood.end(stood.orders[0], end, "completed", { answerer: { kind: answerer } });
    await stood.until("the list is completed", () => stood.isList("completed"));
    assert.ok(stood.clock.epochMs() - endedAtMs < 10_000);
  });
}

test("a person who was not reached is called again after the rule's minutes, as often as it says", async (context) => {
  const retries = { busy: { times: 2, afterMinutes: 5 }, noAnswer: { times: 1, afterMinutes: 1 } };
  const { start, change, until, isList, orders, end, states } = await stand(context, { retries });
  start();
  await change(START);
  await until("the first call", () => orders.length === 1);
  await end(orders[0], "busy");
  await until("the second call", () => orders.length === 2);
  const [first, second] = orders;
  assert.ok(first !== undefined && second !== undefined);
  assert.ok(second.atMs - first.atMs >= 5 * MINUTE_MS, "five minutes have passed");
  assert.notEqual(first.row.callId, second.row.callId);
  await end(second, "noAnswer");
  await until("the list is completed", () => isList("completed"));
  assert.equal(orders.length, 2, "after two calls, an answer that never came is not tried again");
  assert.deepEqual(await states(), [["failed", 2, "noAnswer"]]);
});

test("a call whose process died is not repeated: the person may have been called", async (context) => {
  const retries = { failed: { times: 5, afterMinutes: 1 } };
  const { database, start, change, until, isList, orders, states } = await stand(context, {
    retries,
  });
  const stop = start("killed");
  await change(START);
  await until("the call", () => orders.length === 1);
  await stop();
  const id = orders[0]?.row.callId ?? "";
  await database.calls.closePlaced(callRecord({ id, sessionId: id }), "next run");
  start("next");
  await until("the list is completed", () => isList("completed"));
  assert.equal(orders.length, 1);
  const lost = "the server stopped before the placed call reached its agent";
  assert.deepEqual(await states(), [["failed", 1, lost]]);
});

test("a call that the vendor was never asked for is placed by the next process", async (context) => {
  const { database, start, change, until, orders, states } = await stand(context);
  await change(START);
  // The process is killed after the vendor has refused, and before the row says so.
  const row = { listId: "list", position: 1, attempts: 0 };
  const job = placedCallJob({ orgId: "org", callId: "refused", runId: "run" }, {}, NOON_MS);
  assert.equal(await database.calls.place(job, "refused", row), true);
  await database.calls.failPlaced("refused");
  start();
  await until("the call", () => orders.length === 1);
  assert.deepEqual(await states(), [["calling", 1, null]]);
});

test("nobody is called outside the windows of their own time", async (context) => {
  // Noon UTC is 21:00 in Tokyo and 13:00 in Berlin, on a Sunday.
  const windows = [{ days: ["sun", "mon"], from: "09:00", to: "20:00" } as const];
  const { database, start, change, until, orders, end } = await stand(context, { windows }, 2);
  start();
  await change(START);
  await until("the call to Berlin", () => orders.length === 1);
  assert.equal(orders[0]?.to, "+15550101001");
  await end(orders[0], "callerLeft", "completed");
  const hourMs = 60 * MINUTE_MS;
  const nextCallAtMs = async () =>
    (await database.callLists.findUncounted("org", "list"))?.nextCallAtMs;
  await until("the list says when it goes on", async () => (await nextCallAtMs()) !== null);
  assert.equal(await nextCallAtMs(), NOON_MS + 12 * hourMs);
  await until("the call to Tokyo", () => orders.length === 2, 10 * MINUTE_MS);
  const waitedMs = (orders[1]?.atMs ?? 0) - NOON_MS;
  assert.ok(waitedMs >= 12 * hourMs, `called after ${waitedMs / hourMs} hours`);
  await until("nothing is waited for", async () => (await nextCallAtMs()) === null);
});

test("a list that waited says no longer when it goes on, even if its worker has not replied that it calls", async (context) => {
  const windows = [{ days: ["sun"], from: "13:30", to: "20:00" } as const];
  const { database, start, change, until, orders, refusals } = await stand(context, { windows });
  refusals.set("+15550101001", "frozenBehindClaim");
  start();
  await change(START);
  const nextCallAtMs = async () =>
    (await database.callLists.findUncounted("org", "list"))?.nextCallAtMs;
  await until("the list says when it goes on", async () => (await nextCallAtMs()) !== null);
  await until("the call", () => orders.length === 1, MINUTE_MS);
  await until("nothing is waited for", async () => (await nextCallAtMs()) === null);
});

test("numbers that may not be called are left out, and the others are called", async (context) => {
  const { start, change, until, isList, orders, end, refusals, states } = await stand(
    context,
    { callsMax: 1 },
    4,
  );
  refusals.set("+15550101001", refusal("do_not_call"));
  refusals.set("+15550101002", refusal("target_not_allowed"));
  refusals.set("+15550101003", refusal("call_rejected"));
  start();
  await change(START);
  await until("the call", () => orders.length === 1);
  await end(orders[0], "callerLeft", "completed");
  await until("the list is completed", () => isList("completed"));
  assert.deepEqual(await states(), [
    ["skipped", 0, "doNotCall"],
    ["skipped", 0, "targetNotAllowed"],
    ["failed", 1, "rejected"],
    ["completed", 1, "callerLeft"],
  ]);
});

test("a full server or plan delays the list and says why, and no attempt counts", async (context) => {
  const { database, start, change, until, orders, refusals, states } = await stand(context);
  refusals.set("+15550101001", refusal("calls_limit_reached", 10));
  start();
  await change(START);
  const hold = async () => {
    const found = await database.callLists.find("org", "list");
    return [found?.state, found?.holdCode, found?.holdReason];
  };
  await until("the list says why", async () => (await hold())[1] !== null);
  assert.deepEqual(await hold(), [
    "running",
    "calls_limit_reached",
    "refused with calls_limit_reached",
  ]);
  assert.deepEqual(await states(), [["waiting", 0, null]]);
  refusals.clear();
  await until("the call", () => orders.length === 1);
  await until("the reason is gone", async () => (await hold())[1] === null);
});

test("a list that only a person can help pauses, and goes on when it is resumed", async (context) => {
  const { database, start, change, until, isList, orders, refusals } = await stand(context);
  refusals.set("+15550101001", refusal("agent_not_found"));
  start();
  await change(START);
  await until("the list is paused", () => isList("paused"));
  const paused = await database.callLists.find("org", "list");
  assert.equal(paused?.holdCode, "agent_not_found");
  refusals.clear();
  assert.equal(await change(RESUME), true);
  await until("the call", () => orders.length === 1);
});

test("a paused list places no call, notes the ends of those in progress, and can be resumed", async (context) => {
  const { clock, start, change, until, orders, end, states } = await stand(
    context,
    { callsMax: 1 },
    2,
  );
  start();
  await change(START);
  await until("the call", () => orders.length === 1);
  assert.equal(await change(PAUSE), true);
  await end(orders[0], "callerLeft", "completed");
  await until("its end is noted", async () => (await states())[0]?.[0] === "completed");
  const pausedAtMs = clock.epochMs();
  await until("two minutes pass", () => clock.epochMs() > pausedAtMs + 2 * PAUSED_CHECK_MS);
  assert.equal(orders.length, 1);
  assert.equal(await change(RESUME), true);
  await until("the next call", () => orders.length === 2);
});

test("a cancelled list notes the ends of its calls, and calls nobody else", async (context) => {
  const { start, change, until, orders, end, states, jobs } = await stand(
    context,
    { callsMax: 1 },
    2,
  );
  start();
  await change(START);
  await until("the call", () => orders.length === 1);
  await change({ from: ["running"], to: "cancelled", cancelsRows: true, isDue: true });
  await end(orders[0], "busy");
  await until("no job is left", async () => (await jobs()).length === 0);
  assert.equal(orders.length, 1);
  assert.deepEqual(await states(), [
    ["failed", 1, "busy"],
    ["cancelled", 0, null],
  ]);
});

test("a message that was left reaches the person, and only a machine without one is called again", async (context) => {
  const retries = { machine: { times: 3, afterMinutes: 1 } };
  const { start, change, until, isList, orders, end, states } = await stand(
    context,
    { retries, callsMax: 1 },
    2,
  );
  start();
  await change(START);
  await until("the first call", () => orders.length === 1);
  await end(orders[0], "machine", "completed", { voicemail: { messageLeft: true, text: "Hi." } });
  await until("the second call", () => orders.length === 2);
  await end(orders[1], "machine", "completed", { voicemail: { messageLeft: false, text: "" } });
  await until("the third call", () => orders.length === 3);
  assert.equal(orders[2]?.to, orders[1]?.to);
  await end(orders[2], "callerLeft", "completed");
  await until("the list is completed", () => isList("completed"));
  assert.deepEqual(await states(), [
    ["completed", 1, "machine"],
    ["completed", 2, "callerLeft"],
  ]);
});

test("whoever answered is not called again, also where the call came to nothing", async (context) => {
  const rule = { times: 5, afterMinutes: 1 };
  const retries = { busy: rule, noAnswer: rule, machine: rule, failed: rule };
  const { start, change, until, isList, orders, end, states } = await stand(
    context,
    { retries, callsMax: 1 },
    5,
  );
  const ends = [
    ["notConnected", 0],
    ["notPutThrough", 60],
    ["languageModelFailed", 9.5],
    ["a process of the server ended during the call", 9.5],
    ["serverStopping", 0],
  ] as const;
  start();
  await change(START);
  for (const [index, [reason, durationSec]] of ends.entries()) {
    await until(`call ${index + 1}`, () => orders.length === index + 1);
    await end(orders[index], reason, "failed", {}, durationSec);
  }
  await until("the list is completed", () => isList("completed"));
  assert.deepEqual(await states(), [
    ["failed", 1, "notConnected"],
    ["failed", 1, "notPutThrough"],
    ["completed", 1, "languageModelFailed"],
    ["completed", 1, "a process of the server ended during the call"],
    ["failed", 1, "serverStopping"],
  ]);
});

test("a person whose call may have been placed is not called again", async (context) => {
  const retries = {
    failed: { times: 5, afterMinutes: 1 },
    noAnswer: { times: 5, afterMinutes: 1 },
  };
  const { start, change, until, isList, asked, orders, end, refusals, states } = await stand(
    context,
    { retries },
  );
  refusals.set("+15550101001", { kind: "placed", isReplyLost: true });
  start();
  await change(START);
  await until("the order", () => orders.length === 1);
  await end(orders[0], "outcomeUnknown");
  await until("the list is completed", () => isList("completed"));
  assert.equal(asked.length, 1);
  assert.deepEqual(await states(), [["failed", 1, "outcomeUnknown"]]);
});

test("a list whose calls fail in a row through no fault of the people pauses, and says why", async (context) => {
  const { database, start, change, until, isList, orders, end, refusals } = await stand(
    context,
    { callsMax: 1 },
    FAILURES_IN_ROW_MAX * 2 + 1,
  );
  start();
  await change(START);
  await until("the first call", () => orders.length === 1);
  await end(orders[0], "notConnected");
  await until("the second call", () => orders.length === 2);
  await end(orders[1], "busy");
  for (let calls = 3; calls < FAILURES_IN_ROW_MAX + 3; calls += 1) {
    await until(`call ${calls}`, () => orders.length === calls);
    await end(orders[calls - 1], "notConnected");
  }
  await until("the list is paused", () => isList("paused"));
  assert.equal(orders.length, FAILURES_IN_ROW_MAX + 2, "one in between began the count again");
  const paused = await database.callLists.find("org", "list");
  assert.equal(paused?.holdCode, "telephony_unavailable");
  assert.equal(
    paused.holdReason,
    "5 calls in a row were refused, or ended before they reached the agent",
  );
  for (let person = 1; person < 20; person += 1) {
    const number = `+155501010${String(person).padStart(2, "0")}`;
    refusals.set(number, refusal("call_rejected"));
  }
  await change(RESUME);
  await until("it is completed or paused", async () => !(await isList("running")));
  const waiting = (await database.callLists.find("org", "list"))?.counts.waiting;
  assert.equal(waiting, 0, "the four that were left were too few to pause it again");
});

test("a number that the vendor refuses for a time is ordered a few times, and then never again", async (context) => {
  const { start, change, until, isList, asked, refusals, states } = await stand(context);
  refusals.set("+15550101001", refusal("telephony_unavailable", 10, true));
  start();
  await change(START);
  await until("the list is completed", () => isList("completed"));
  assert.equal(asked.length, REFUSALS_MAX);
  const waits = asked.slice(1).map((atMs, index) => atMs - (asked[index] ?? 0));
  assert.ok(
    waits.every((waitMs, index) => waitMs >= 10_000 * 3 ** index),
    waits.join(", "),
  );
  assert.deepEqual(await states(), [["failed", 1, "rejected"]]);
});

test("a hold delays calls, and not the ends of those in progress", async (context) => {
  const { clock, start, change, until, orders, asked, end, refusals, states } = await stand(
    context,
    { callsMax: 2 },
    2,
  );
  refusals.set("+15550101002", refusal("minutes_limit_reached", 10));
  start();
  await change(START);
  await until("the call and the refusal", () => asked.length === 2);
  const heldAtMs = clock.epochMs();
  await end(orders[0], "callerLeft", "completed");
  await until("its end is noted", async () => (await states())[0]?.[0] === "completed");
  assert.ok(clock.epochMs() - heldAtMs < MINUTE_MS, "long before the hold is over");
  await until("the next order", () => asked.length === 3);
  assert.ok(clock.epochMs() - heldAtMs >= 10 * MINUTE_MS, "the hold lasts as long as it did");
});

test("a person whose order fails in the server does not keep the others waiting", async (context) => {
  const { start, change, until, orders, refusals } = await stand(context, { callsMax: 1 }, 2);
  refusals.set("+15550101001", "broken");
  start();
  await change(START);
  await until("the other's call", () => orders.length === 1);
  assert.equal(orders[0]?.to, "+15550101002");
});

test("a frozen worker keeps the list waiting for a limited time, and its person is called later", async (context) => {
  const { start, change, until, orders, refusals, clock } = await stand(
    context,
    { callsMax: 2 },
    2,
  );
  refusals.set("+15550101001", "frozen");
  start();
  await change(START);
  await until("the other's call", () => orders.length === 1);
  assert.equal(orders[0]?.to, "+15550101002");
  assert.ok(clock.epochMs() - NOON_MS < WORKER_ANSWER_MAX_MS + MINUTE_MS);
  refusals.clear();
  await until("the person's call", () => orders.length === 2);
  assert.equal(orders[1]?.to, "+15550101001");
});

test("a person whose worker froze when it had claimed the call is not called a second time", async (context) => {
  const { start, change, until, isList, orders, end, refusals, asked, clock } =
    await stand(context);
  refusals.set("+15550101001", "frozenBehindClaim");
  start();
  await change(START);
  await until("the call", () => orders.length === 1);
  refusals.clear();
  const endsAtMs = clock.epochMs() + WORKER_ANSWER_MAX_MS + 5 * MINUTE_MS;
  await until("more than the time to the next order", () => clock.epochMs() > endsAtMs);
  assert.deepEqual([orders.length, asked.length], [1, 1]);
  await end(orders[0], "callerLeft", "completed");
  await until("the list is completed", () => isList("completed"));
});

test("a person whom another list is calling is not ordered again and again, and the others are called", async (context) => {
  const { start, change, until, orders, asked, refusals } = await stand(
    context,
    { callsMax: 2 },
    3,
  );
  refusals.set("+15550101001", refusal("conflict"));
  start();
  await change(START);
  await until("the others' calls", () => orders.length === 2);
  assert.ok(asked.length <= 3, `${asked.length} orders`);
  refusals.clear();
});

test("an order says until when its call may be placed", async (context) => {
  const { start, change, until, orders, asked } = await stand(context);
  start();
  await change(START);
  await until("the call", () => orders.length === 1);
  assert.equal(orders[0]?.row.untilMs, (asked[0] ?? 0) + ORDER_MAX_MS);
});

test("a person who comes on the do-not-call list after a call was called", async (context) => {
  const { start, change, until, isList, orders, end, refusals, states } = await stand(context);
  start();
  await change(START);
  await until("the call", () => orders.length === 1);
  refusals.set("+15550101001", refusal("do_not_call"));
  await end(orders[0], "busy");
  await until("the list is completed", () => isList("completed"));
  assert.deepEqual(await states(), [["failed", 1, "doNotCall"]]);
});

test("a list whose job was given up goes on when it is resumed", async (context) => {
  const { database, clock, start, change, until, orders, jobs } = await stand(context);
  await change(START);
  const [job] = await database.jobs.claim({
    queue: "callList:list",
    owner: "gone",
    nowMs: NOON_MS,
    leaseUntilMs: NOON_MS + 1,
    limit: 1,
  });
  assert.ok(job !== undefined);
  await database.jobs.fail(job, "internal error", clock.epochMs());
  assert.deepEqual(
    (await jobs()).map(({ state }) => state),
    ["failed"],
  );
  start();
  await change(PAUSE);
  assert.equal(await change(RESUME), true);
  await until("the call", () => orders.length === 1);
});

test("a vendor that cannot be reached gets orders ever more seldom, and the list says since when", async (context) => {
  const { database, clock, start, change, until, orders, asked, vendor, states } = await stand(
    context,
    {},
    3,
  );
  vendor.answer = outage();
  start();
  await change(START);
  await until("eight orders", () => asked.length === 8);
  await until("the failure of the eighth", async () =>
    (await states()).every(([state]) => state === "waiting"),
  );
  const waitsSec = asked.slice(1).map((atMs, index) => (atMs - (asked[index] ?? 0)) / 1_000);
  const expectedSec = [10, 20, 40, 80, 160, 320, 600];
  assert.ok(
    waitsSec.every((waitSec, index) => {
      const lateSec = waitSec - (expectedSec[index] ?? 0);
      return lateSec >= 0 && lateSec <= 3;
    }),
    waitsSec.join(", "),
  );
  const held = await database.callLists.find("org", "list");
  assert.equal(held?.state, "running");
  assert.equal(held.holdReason, "the telephony vendor cannot be reached");
  assert.ok((held.heldSinceMs ?? 0) - (asked[0] ?? 0) < 2_000, "since the first order in vain");
  assert.deepEqual(await states(), [
    ["waiting", 0, null],
    ["waiting", 0, null],
    ["waiting", 0, null],
  ]);
  vendor.answer = undefined;
  await until("the calls", () => orders.length === 2);
  assert.ok(clock.epochMs() - (asked[7] ?? 0) <= 603_000, "it goes on by itself");
  const after = await database.callLists.find("org", "list");
  assert.deepEqual([after?.holdCode, after?.heldSinceMs, after?.vendorRefusals], [null, null, 0]);
});

test("a pause that the vendor asks for is kept, an hour at most", async (context) => {
  const { start, change, until, asked, vendor } = await stand(context);
  vendor.answer = outage(90);
  start();
  await change(START);
  await until("the second order", () => asked.length === 2);
  const waitMs = (asked[1] ?? 0) - (asked[0] ?? 0);
  assert.ok(waitMs >= 90_000 && waitMs < 95_000, String(waitMs));
  vendor.answer = outage(10 * 60 * 60);
  await until("the third order", () => asked.length === 3);
  await until("the fourth order", () => asked.length === 4);
  const longMs = (asked[3] ?? 0) - (asked[2] ?? 0);
  assert.ok(longMs >= 60 * MINUTE_MS && longMs < 61 * MINUTE_MS, String(longMs));
});

test("the organization hears once of an outage, and again when its list is paused for it", async (context) => {
  const { database, start, change, until, isList, asked, vendor } = await stand(context);
  vendor.answer = outage();
  start();
  await change(START);
  await until("the list is paused", () => isList("paused"), 10_000);
  assert.equal(asked.length, VENDOR_REFUSALS_MAX);
  const paused = await database.callLists.find("org", "list");
  assert.equal(
    paused?.holdReason,
    `the telephony vendor cannot be reached, after ${VENDOR_REFUSALS_MAX} orders in a row`,
  );
  const audited = async () =>
    (await database.audit.list("org", { skip: 0, limit: 9 })).items.map(({ action, actor }) => [
      action,
      actor.id,
    ]);
  assert.deepEqual((await audited()).slice(0, 2), [
    ["callList.pause", "server"],
    ["callList.hold", "server"],
  ]);
  assert.ok(HOLD_NOTICE_REFUSALS < VENDOR_REFUSALS_MAX);
  vendor.answer = undefined;
  await change(RESUME);
  await until("the call", () => asked.length === VENDOR_REFUSALS_MAX + 1);
});

test("a list that is held is resumed at once by hand", async (context) => {
  const { clock, start, change, until, orders, asked, vendor } = await stand(context);
  vendor.answer = outage(3_600);
  start();
  await change(START);
  await until("the order in vain", () => asked.length === 1);
  vendor.answer = undefined;
  await until("the hold is stored", async () => change(RESUME));
  const resumedAtMs = clock.epochMs();
  await until("the call", () => orders.length === 1);
  assert.ok(clock.epochMs() - resumedAtMs < 5_000);
});

test("of a vendor whose replies are lost each order is the only one for its person, and few people are ordered", async (context) => {
  const retries = { noAnswer: { times: 5, afterMinutes: 1 } };
  const { start, change, until, isList, orders, end, vendor, states } = await stand(
    context,
    { callsMax: 100, retries },
    30,
  );
  vendor.answer = { kind: "placed", isReplyLost: true };
  start();
  await change(START);
  await until("a third order", () => orders.length === 3);
  assert.ok((orders[1]?.atMs ?? 0) - (orders[0]?.atMs ?? 0) >= 10_000);
  assert.ok((orders[2]?.atMs ?? 0) - (orders[1]?.atMs ?? 0) >= 20_000);
  await until("a fifth order", () => orders.length === 5);
  for (const order of orders) await end(order, "outcomeUnknown");
  await until("the list is paused", () => isList("paused"));
  const called = orders.map(({ to }) => to);
  assert.equal(new Set(called).size, called.length);
  assert.equal(called.length, FAILURES_IN_ROW_MAX);
  assert.deepEqual((await states()).filter(([state]) => state === "failed").length, 5);
});

test("a gateway that is down for a moment costs one person the call, not five", async (context) => {
  const { start, change, until, isList, orders, end, asked, vendor, states } = await stand(
    context,
    { callsMax: 2 },
    3,
  );
  vendor.answer = { kind: "placed", isReplyLost: true };
  start();
  await change(START);
  await until("the order", () => orders.length === 1);
  vendor.answer = undefined;
  await until("the next call", () => orders.length === 2);
  assert.ok((orders[1]?.atMs ?? 0) - (asked[0] ?? 0) >= 10_000);
  await end(orders[0], "outcomeUnknown");
  await until("the last call", () => orders.length === 3);
  for (const order of orders.slice(1)) await end(order, "callerLeft", "completed");
  await until("the list is completed", () => isList("completed"));
  assert.deepEqual(await states(), [
    ["failed", 1, "outcomeUnknown"],
    ["completed", 1, "callerLeft"],
    ["completed", 1, "callerLeft"],
  ]);
});
