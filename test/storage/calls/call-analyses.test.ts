import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Database } from "../../../storage/database.js";
import type { ClaimedJob } from "../../../storage/jobs/job-record.js";
import { analysisJob } from "../../../storage/jobs/job-record.js";
import type { CallAnalysis } from "../../../storage/records.js";
import { agentRecord, callRecord, insertProviders, NOON_MS } from "../sample-records.js";
import { temporaryDatabase } from "../temporary-file.js";

const ANALYSIS: CallAnalysis = {
  status: "completed",
  data: { topic: "refund", order: 12, isUrgent: true, items: ["a"] },
  success: false,
  reason: "Nothing was paid.",
  error: null,
  model: "small",
  promptTokens: 10,
  completionTokens: 3,
  durationMs: 5,
  analyzedAtMs: NOON_MS,
};
const SETTINGS = {
  schema: null,
  successCriteria: "paid",
  minDurationSec: 0,
  sampleRate: 1,
  llmProviderId: null,
  llmModelId: null,
};

async function opened(context: TestContext): Promise<Database> {
  const database = await temporaryDatabase(context);
  await insertProviders(database);
  return database;
}

async function claimed({ jobs }: Database, queue: string): Promise<ClaimedJob> {
  const claim = { queue, owner: "me", nowMs: NOON_MS, leaseUntilMs: NOON_MS + 99, limit: 1 };
  const [job] = await jobs.claim(claim);
  assert.ok(job);
  return job;
}

const outcomeOf = (callId: string, analysis: CallAnalysis | undefined, runId?: string) => ({
  callId,
  analysis,
  event: undefined,
  runId,
});

test("an analysis is stored with the end of its job, and lists can filter by its plain fields", async (context) => {
  const database = await opened(context);
  const { analyses, calls, jobs } = database;
  await calls.start(callRecord({ status: "completed" }), "run");
  await jobs.add([analysisJob("org", "call", NOON_MS)]);
  const job = await claimed(database, "analysis:org");
  assert.equal(await analyses.finish(job, outcomeOf("call", ANALYSIS)), true);
  assert.equal(await analyses.finish(job, outcomeOf("call", ANALYSIS)), false);
  assert.deepEqual((await calls.findById("org", "call"))?.analysis, ANALYSIS);
  const totalOf = async (sieve: object) =>
    (await calls.list("org", { sieve, skip: 0, limit: 9 })).total;
  assert.equal(await totalOf({ analysisStatus: "completed", analysisSuccess: false }), 1);
  assert.equal(await totalOf({ analysisSuccess: true }), 0);
  const isFound = async (name: string, value: string) =>
    (await totalOf({ analysisField: { name, value } })) === 1;
  assert.ok(await isFound("topic", "refund"));
  assert.ok(await isFound("order", "12"));
  assert.ok(await isFound("isUrgent", "true"));
  for (const [name, value] of [
    ["topic", "Refund"],
    ["topic", "refun_"],
    ["order", "1"],
    ["items", "a"],
  ] as const) {
    assert.ok(!(await isFound(name, value)), `${name} ${value}`);
  }
});

test("a failed analysis leaves a failed job", async (context) => {
  const database = await opened(context);
  const { analyses, calls, jobs } = database;
  await calls.start(callRecord({ status: "completed" }), "run");
  await jobs.add([analysisJob("org", "call", NOON_MS)]);
  const failed = { ...ANALYSIS, status: "failed", error: "noLlm", data: null } as const;
  const job = await claimed(database, "analysis:org");
  await analyses.fail(job, outcomeOf("call", failed), "noLlm", NOON_MS);
  const [stored] = await jobs.list("org", { state: "failed", skip: 0, limit: 9 });
  assert.deepEqual([stored?.id, stored?.lastError], ["analysis_call", "noLlm"]);
  assert.equal((await calls.findById("org", "call"))?.analysis?.error, "noLlm");
});

test("a run lists its calls once, the newest first, and counts their outcomes", async (context) => {
  const database = await opened(context);
  const { analyses, calls } = database;
  for (const [n, id] of ["a", "b", "c", "d"].entries()) {
    const fields = { id, sessionId: id, startedAtMs: NOON_MS + n };
    await calls.start(callRecord({ ...fields, status: n === 3 ? "active" : "completed" }), "run");
  }
  const run = {
    id: "run",
    orgId: "org",
    agentId: "agent",
    fromMs: NOON_MS,
    toMs: NOON_MS + 9,
    callsMax: 2,
    createdAtMs: NOON_MS,
  };
  assert.equal(await analyses.addRun(run), true);
  assert.equal(await analyses.addRun({ ...run, id: "second" }), false);
  assert.equal(await analyses.listCalls("org", "run", NOON_MS), false);
  assert.equal(await analyses.listCalls("org", "run", NOON_MS), false);
  const listed = await database.jobs.list("org", { state: "queued", skip: 0, limit: 9 });
  const ids = listed.map(({ id }) => id).filter((id) => id.startsWith("analysis_"));
  assert.deepEqual(ids.toSorted(), ["analysis_run_b", "analysis_run_c"]);
  await analyses.finish(await claimed(database, "analysis:org"), outcomeOf("c", ANALYSIS, "run"));
  await analyses.finish(await claimed(database, "analysis:org"), outcomeOf("b", undefined, "run"));
  const [stored] = await analyses.listRuns("org", "agent", 9);
  const counts = { calls: 2, completed: 1, failed: 0, skipped: 1 };
  assert.deepEqual(stored, { ...run, isListed: true, ...counts });
  assert.equal(await analyses.addRun({ ...run, id: "third" }), true);
});

test("a call of a dead process is analyzed if its agent's calls are analyzed", async (context) => {
  const database = await opened(context);
  await database.agents.insert(agentRecord({ analysis: SETTINGS }), 9);
  await database.agents.insert(agentRecord({ id: "plain" }), 9);
  await database.calls.start(callRecord(), "dead");
  await database.calls.start(callRecord({ id: "b", sessionId: "b", agentId: "plain" }), "dead");
  await database.calls.closeRun("dead", NOON_MS);
  const jobs = await database.jobs.list("org", { state: "queued", skip: 0, limit: 9 });
  assert.deepEqual(jobs.map(({ id }) => id).toSorted(), [
    "analysis_call",
    "summary_b",
    "summary_call",
  ]);
});
