import assert from "node:assert/strict";
import { test } from "node:test";
import { isAbandoned } from "../../../storage/calls/abandoned-calls.js";
import { checkDatabase } from "../../../storage/sqlite/database-check.js";
import { askedDatabase } from "../nodes/asked-database.js";
import {
  callRecord,
  insertOrganizations,
  METRICS,
  NOON_MS,
  usageRecord,
} from "../sample-records.js";
import { temporaryDatabase, temporaryFile } from "../temporary-file.js";

const LATER_MS = NOON_MS + 3_600_000;

test("a call that another run has left active is closed as failed, and its usage is added", async (context) => {
  const database = await temporaryDatabase(context);
  const { calls, usage } = database;
  await insertOrganizations(database);
  await calls.start(callRecord({ metadata: { from: "lobby" } }), "dead run");
  await calls.saveTurn("call", {
    messages: [{ role: "user", text: "Hello", timestamp: NOON_MS }],
    metrics: METRICS,
    turn: { index: 0 },
    atMs: NOON_MS + 90_000,
  });
  assert.equal(await calls.closeAbandoned("new run", LATER_MS), 1);
  const call = await calls.findById("org", "call");
  assert.equal(call?.status, "failed");
  assert.equal(call?.endedAtMs, NOON_MS + 90_000);
  assert.equal(call?.durationSec, 90);
  assert.equal(call?.transcript.length, 1);
  assert.deepEqual(call?.metadata, {
    from: "lobby",
    endReason: "server stopped during the call",
    turns: [{ index: 0 }],
  });
  assert.deepEqual(await usage.list("org", "2026-03-01", "2026-03-01"), [
    usageRecord({ sttSeconds: 90 }),
  ]);
  assert.equal(await calls.closeAbandoned("new run", LATER_MS), 0, "only once");
});

test("a transfer that was being ordered when the server died is unknown until the vendor reports it; an outcome stays", async (context) => {
  const database = await temporaryDatabase(context);
  const { calls } = database;
  await insertOrganizations(database);
  const to = "+15550101000";
  for (const [id, result] of [
    ["ordered", "dialing"],
    ["reported", "busy"],
  ] as const) {
    await calls.start(callRecord({ id, metadata: { transfer: { to, result } } }), "dead run");
  }
  await calls.start(callRecord({ id: "other", metadata: { transfer: "by hand" } }), "dead run");
  assert.equal(await calls.closeAbandoned("new run", LATER_MS), 3);
  const transferOf = async (id: string) => (await calls.findById("org", id))?.metadata["transfer"];
  assert.deepEqual(await transferOf("ordered"), { to, result: "unknown" });
  assert.deepEqual(await transferOf("reported"), { to, result: "busy" });
  assert.equal(await transferOf("other"), "by hand");
});

test("an abandoned call ends at the latest of its start, its last turn and its run's heartbeat, but not in the future", async (context) => {
  const database = await temporaryDatabase(context);
  const { calls } = database;
  await insertOrganizations(database);
  const turn = { messages: [], metrics: METRICS, turn: undefined };
  await calls.start(callRecord({ id: "silent" }), "no heartbeat");
  await calls.heartbeat("early", NOON_MS - 5);
  await calls.start(callRecord({ id: "started" }), "early");
  await calls.heartbeat("steady", NOON_MS + 1);
  await calls.heartbeat("steady", NOON_MS + 7000);
  await calls.start(callRecord({ id: "beating" }), "steady");
  await calls.saveTurn("beating", { ...turn, atMs: NOON_MS + 2000 });
  await calls.start(callRecord({ id: "talking" }), "steady");
  await calls.saveTurn("talking", { ...turn, atMs: NOON_MS + 8000 });
  await calls.heartbeat("ahead", LATER_MS * 2);
  await calls.start(callRecord({ id: "ahead" }), "ahead");
  await calls.heartbeat("newer", NOON_MS + 5000, 65_000);
  await calls.start(callRecord({ id: "of an earlier release" }), "newer");
  await calls.heartbeat("older", NOON_MS + 4000);
  await calls.start(callRecord({ id: "of a later release" }), "older", 5_000);
  await calls.closeAbandoned("new run", LATER_MS);
  const { items } = await calls.list("org", { limit: 20, skip: 0 });
  assert.deepEqual(Object.fromEntries(items.map(({ id, endedAtMs }) => [id, endedAtMs])), {
    silent: NOON_MS,
    started: NOON_MS,
    beating: NOON_MS + 7000,
    talking: NOON_MS + 8000,
    ahead: LATER_MS,
    "of an earlier release": NOON_MS + 5000,
    "of a later release": NOON_MS + 4000,
  });
});

test("an abandoned call's duration is measured by its run's own clock, whatever the machine's clock shows", async (context) => {
  const database = await temporaryDatabase(context);
  const { calls, usage } = database;
  await insertOrganizations(database);
  const turn = { messages: [], metrics: METRICS, turn: undefined };
  const yearMs = 365 * 24 * 3_600_000;
  await calls.start(callRecord({ id: "ahead" }), "ahead", 5_000);
  await calls.heartbeat("ahead", NOON_MS + 10 * yearMs, 65_000);
  await calls.start(callRecord({ id: "back" }), "back", 5_000);
  await calls.heartbeat("back", NOON_MS - yearMs, 65_000);
  await calls.start(callRecord({ id: "talking" }), "back", 50_000);
  await calls.saveTurn("talking", { ...turn, atMs: NOON_MS + 18_000 });
  await calls.start(callRecord({ id: "young" }), "back", 66_000);
  await calls.closeAbandoned("new run", LATER_MS);
  const { items } = await calls.list("org", { limit: 20, skip: 0 });
  const ends = items.map((call) => [call.id, [call.endedAtMs, call.durationSec]] as const);
  assert.deepEqual(Object.fromEntries(ends), {
    ahead: [NOON_MS + 60_000, 60],
    back: [NOON_MS + 60_000, 60],
    talking: [NOON_MS + 18_000, 18],
    young: [NOON_MS, 0],
  });
  const used = await usage.list("org", "2000-01-01", "2099-12-31");
  assert.deepEqual(
    used.map(({ date, minutes }) => ({ date, minutes })),
    [{ date: "2026-03-01", minutes: (60 + 60 + 18) / 60 }],
  );
});

test("calls of this run and calls that have ended are not changed", async (context) => {
  const database = await temporaryDatabase(context);
  const { calls, usage } = database;
  await insertOrganizations(database);
  await calls.start(callRecord({ id: "mine" }), "this run");
  await calls.start(callRecord({ id: "ended", status: "completed" }), "dead run");
  assert.equal(await calls.closeAbandoned("this run", LATER_MS), 0);
  assert.equal(await calls.count("org", { status: "failed" }), 0);
  assert.deepEqual(await usage.list("org", "2026-01-01", "2026-12-31"), []);
});

test("earlier runs are deleted once their calls are closed, so the table does not grow", async (context) => {
  const filePath = temporaryFile();
  const database = await temporaryDatabase(context, filePath);
  await insertOrganizations(database);
  for (let start = 0; start < 5; start += 1) {
    await database.calls.heartbeat(`run ${start}`, LATER_MS);
    await database.calls.start(callRecord({ id: `call ${start}` }), `run ${start}`);
    await database.calls.closeAbandoned(`run ${start}`, LATER_MS);
  }
  const { counts } = checkDatabase(filePath);
  assert.equal(counts.find(({ table }) => table === "runs")?.rows, 1);
  assert.equal(await database.calls.count("org", { status: "failed" }), 4);
  assert.equal(await database.calls.count("org", { status: "active" }), 1);
});

test("any number of abandoned calls can be closed", async (context) => {
  const database = await temporaryDatabase(context);
  const { calls } = database;
  await insertOrganizations(database);
  await Promise.all(
    Array.from({ length: 230 }, (_, index) =>
      calls.start(callRecord({ id: `call ${index}` }), "dead run"),
    ),
  );
  assert.equal(await calls.closeAbandoned("new run", LATER_MS), 230);
  assert.equal(await calls.count("org", { status: "active" }), 0);
});

test("any number of calls whose end was lost are closed at their last saved turn, and ended calls are not changed", async (context) => {
  const database = await temporaryDatabase(context);
  const { calls, usage } = database;
  await insertOrganizations(database);
  await calls.heartbeat("run", LATER_MS, 0);
  const ids = Array.from({ length: 201 }, (_, index) => `call ${index}`);
  await Promise.all(ids.map((id) => calls.start(callRecord({ id }), "run", 0)));
  await calls.start(callRecord({ id: "in progress" }), "run", 0);
  await calls.start(callRecord({ id: "ended", status: "completed" }), "run", 0);
  const turn = { messages: [], metrics: METRICS, turn: undefined, atMs: NOON_MS + 60_000 };
  await calls.saveTurn("call 200", turn);
  assert.equal(await calls.closeLost([...ids, "ended", "unknown"], LATER_MS), 201);
  const closed = await calls.findById("org", "call 200");
  assert.deepEqual(
    [closed?.status, closed?.endedAtMs, closed?.durationSec, closed?.metadata["endReason"]],
    ["failed", NOON_MS + 60_000, 60, "the end of the call was lost"],
  );
  assert.deepEqual(await calls.listActive("run"), ["in progress"]);
  const [day, ...others] = await usage.list("org", "2026-03-01", "2026-03-01");
  assert.deepEqual([day?.calls, day?.minutes, day?.sttSeconds, others], [201, 1, 60, []]);
  assert.equal(await calls.closeLost([], LATER_MS), 0);
});

test("a hundred calls are looked up per request, and an empty list needs no request", async () => {
  const { database, asked } = askedDatabase();
  const looksFor = async (count: number) => {
    const ids = Array.from({ length: count }, (_, index) => `call ${index}`);
    assert.equal(await database.calls.closeLost(ids, LATER_MS), 0);
    return asked.splice(0).length;
  };
  assert.deepEqual([await looksFor(0), await looksFor(100), await looksFor(101)], [0, 1, 2]);
});

test("a call that was closed as abandoned has one of these end reasons, and other calls do not", async (context) => {
  const database = await temporaryDatabase(context);
  const { calls } = database;
  await insertOrganizations(database);
  const closings: Record<string, () => Promise<number>> = {
    "a process of the server ended during the call": () => calls.closeRun("run", LATER_MS),
    "the server that had the call was lost": () => calls.closeRunOfLostNode("run", LATER_MS),
    "the end of the call was lost": () => calls.closeLost(["call 2"], LATER_MS),
    "server stopped during the call": () => calls.closeAbandoned("next run", LATER_MS),
  };
  for (const [index, [reason, close]] of Object.entries(closings).entries()) {
    await calls.start(callRecord({ id: `call ${index}` }), "run");
    assert.equal(await close(), 1, reason);
    const found = await calls.findById("org", `call ${index}`);
    assert.equal(found?.metadata["endReason"], reason);
    assert.equal(isAbandoned(reason), true, reason);
  }
  assert.equal(isAbandoned("callerLeft"), false);
});

test("closing an ended run closes no call of another run, and deletes only that run", async (context) => {
  const database = await temporaryDatabase(context);
  const { calls } = database;
  await insertOrganizations(database);
  for (const run of ["dead", "alive"]) {
    await calls.heartbeat(run, NOON_MS);
    await calls.start(callRecord({ id: `of the ${run}` }), run);
  }
  assert.equal(await calls.closeRun("dead", LATER_MS), 1);
  assert.deepEqual(await calls.listActive("alive"), ["of the alive"]);
  assert.deepEqual(await calls.otherRuns("mine"), new Map([["alive", NOON_MS]]));
});
