import assert from "node:assert/strict";
import { test } from "node:test";
import { checkDatabase } from "../../../storage/sqlite/database-check.js";
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

test("it ends at the latest of its start, its last turn and its run's heartbeat, but not in the future", async (context) => {
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
  await calls.closeAbandoned("new run", LATER_MS);
  const { items } = await calls.list("org", { limit: 20, skip: 0 });
  assert.deepEqual(Object.fromEntries(items.map(({ id, endedAtMs }) => [id, endedAtMs])), {
    silent: NOON_MS,
    started: NOON_MS,
    beating: NOON_MS + 7000,
    talking: NOON_MS + 8000,
    ahead: LATER_MS,
  });
});

test("it lasts as long as its run's own clock says, whatever was done to the machine's", async (context) => {
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

test("calls of this run and calls that have ended are left alone", async (context) => {
  const database = await temporaryDatabase(context);
  const { calls, usage } = database;
  await insertOrganizations(database);
  await calls.start(callRecord({ id: "mine" }), "this run");
  await calls.start(callRecord({ id: "ended", status: "completed" }), "dead run");
  assert.equal(await calls.closeAbandoned("this run", LATER_MS), 0);
  assert.equal(await calls.count("org", { status: "failed" }), 0);
  assert.deepEqual(await usage.list("org", "2026-01-01", "2026-12-31"), []);
});

test("runs of before are forgotten with the calls that they have left: the table does not grow", async (context) => {
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

test("any number of abandoned calls is closed", async (context) => {
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
