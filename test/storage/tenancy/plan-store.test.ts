import assert from "node:assert/strict";
import { test } from "node:test";
import { UniqueViolationError } from "../../../storage/statements/unique-violation.js";
import { NOON_MS, planRecord } from "../sample-records.js";
import { temporaryDatabase } from "../temporary-file.js";

test("a plan is read back as it was written", async (context) => {
  const { plans } = await temporaryDatabase(context);
  const plan = planRecord();
  assert.equal(await plans.insertIfAbsent(plan), true);
  assert.deepEqual(await plans.findById("plan"), plan);
  assert.deepEqual(await plans.findBySlug("free"), plan);
  assert.equal(await plans.findBySlug("pro"), undefined);
});

test("a plan with an existing slug is not inserted and changes nothing", async (context) => {
  const { plans } = await temporaryDatabase(context);
  await plans.insertIfAbsent(planRecord());
  assert.equal(await plans.insertIfAbsent(planRecord({ id: "plan 2", name: "Gratis" })), false);
  assert.deepEqual(await plans.list(), [planRecord()]);
});

test("only the slug may be taken: a second plan with the same id is an error", async (context) => {
  const { plans } = await temporaryDatabase(context);
  await plans.insertIfAbsent(planRecord());
  await assert.rejects(plans.insertIfAbsent(planRecord({ slug: "pro" })), UniqueViolationError);
});

test("plans are listed in the order of their creation", async (context) => {
  const { plans } = await temporaryDatabase(context);
  await plans.insertIfAbsent(planRecord({ id: "c", slug: "c", createdAtMs: NOON_MS + 1 }));
  await plans.insertIfAbsent(planRecord({ id: "b", slug: "b" }));
  await plans.insertIfAbsent(planRecord({ id: "a", slug: "a" }));
  assert.deepEqual(
    (await plans.list()).map(({ id }) => id),
    ["b", "a", "c"],
  );
});

test("the models of a plan are replaced, with the time; an unknown plan changes nothing", async (context) => {
  const { plans } = await temporaryDatabase(context);
  await plans.insertIfAbsent(planRecord());
  const models = { llm: [], tts: ["edge/aria"], stt: ["deepgram/nova"] };
  await plans.setModels("unknown", models, NOON_MS + 1);
  assert.deepEqual(await plans.list(), [planRecord()]);
  await plans.setModels("plan", models, NOON_MS + 1);
  assert.deepEqual(await plans.list(), [planRecord({ models, updatedAtMs: NOON_MS + 1 })]);
});
