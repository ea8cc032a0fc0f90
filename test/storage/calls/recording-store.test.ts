import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import {
  callRecord,
  insertOrganizations,
  METRICS,
  NOON_MS,
  usageRecord,
} from "../sample-records.js";
import { temporaryDatabase } from "../temporary-file.js";

async function stand(context: TestContext, ...callIds: readonly string[]) {
  const database = await temporaryDatabase(context);
  await insertOrganizations(database);
  const { calls, recordings } = database;
  for (const id of callIds) await calls.start(callRecord({ id }), "run");
  const end = (id: string) =>
    calls.finish(id, {
      status: "completed",
      endedAtMs: NOON_MS,
      durationSec: 1,
      metrics: METRICS,
      metadata: { endReason: "callerLeft" },
      messages: [],
      usage: usageRecord(),
    });
  const told = async (id: string) => (await calls.findById("org", id))?.metadata["recording"];
  return { recordings, end, told };
}

const keyOf = (callId: string) => ({ callId, orgId: "org" });

test("a recording exists from its beginning, can be played when it is complete, and is gone when it is removed", async (context) => {
  const { recordings, end, told } = await stand(context, "call");
  const key = keyOf("call");
  const seen = async () => [await recordings.isKnown(key), await recordings.isFinished(key)];
  assert.deepEqual(await seen(), [false, false]);
  await recordings.start(key, NOON_MS);
  assert.deepEqual(await seen(), [true, false]);
  await end("call");
  await recordings.finish(key, { sizeBytes: 3, channels: ["caller", "agent"] }, 0);
  assert.deepEqual(await seen(), [true, true]);
  assert.deepEqual(await told("call"), { sizeBytes: 3, channels: ["caller", "agent"] });
  await recordings.remove(key);
  assert.deepEqual(await seen(), [false, false]);
  assert.equal(await told("call"), undefined);
});

test("another organization can neither play, complete nor remove a recording", async (context) => {
  const { recordings, told } = await stand(context, "call");
  const key = keyOf("call");
  const theirs = { ...key, orgId: "other" };
  await recordings.start(key, NOON_MS);
  await recordings.finish(theirs, { sizeBytes: 3 }, 0);
  await recordings.remove(theirs);
  assert.deepEqual(
    [await recordings.isKnown(theirs), await recordings.isKnown(key), await told("call")],
    [false, true, undefined],
  );
  assert.equal(await recordings.isFinished(key), false);
});

test("unfinished recordings of ended calls are listed in the order of the calls' ids", async (context) => {
  const ids = ["a", "B", "c", "d"];
  const { recordings, end } = await stand(context, ...ids);
  for (const id of ids) await recordings.start(keyOf(id), NOON_MS);
  for (const id of ["a", "B", "c"]) await end(id);
  await recordings.finish(keyOf("a"), {}, 0);
  assert.deepEqual(await recordings.listUnfinished("", 10), [keyOf("B"), keyOf("c")]);
  assert.deepEqual(await recordings.listUnfinished("", 1), [keyOf("B")]);
  assert.deepEqual(await recordings.listUnfinished("B", 10), [keyOf("c")]);
});

test("expired recordings are listed oldest first, whether complete or not", async (context) => {
  const { recordings } = await stand(context, "late", "early", "kept");
  await recordings.start(keyOf("late"), NOON_MS);
  await recordings.start(keyOf("early"), NOON_MS - 1);
  await recordings.start(keyOf("kept"), NOON_MS + 1);
  assert.deepEqual(await recordings.listExpired(NOON_MS, 10), [keyOf("early"), keyOf("late")]);
  assert.deepEqual(await recordings.listExpired(NOON_MS, 1), [keyOf("early")]);
});
