import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import {
  AnalysisJob,
  analysisMessages,
  isSampled,
  parseAnalysis,
} from "../../../engine/analysis/analysis-job.js";
import { AnalysisRunJob, AnalysisRuns } from "../../../engine/analysis/analysis-runs.js";
import { JobRunner } from "../../../engine/jobs/job-runner.js";
import { JobMetrics } from "../../../engine/metrics/job-metrics.js";
import { replyTo } from "../../../engine/sandbox/language-model/simulated-language-model.js";
import {
  type Completion,
  type CompletionRequest,
  VendorError,
} from "../../../engine/vendors/contracts.js";
import type { Database } from "../../../storage/database.js";
import { analysisJob } from "../../../storage/jobs/job-record.js";
import type { AgentAnalysis } from "../../../storage/records.js";
import { RecordingLogger } from "../../doubles/recording-logger.js";
import { ScriptedLanguageModel } from "../../doubles/scripted-language-model.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";
import {
  agentRecord,
  callRecord,
  insertOrganizations,
  insertProviders,
  NOON_MS,
} from "../../storage/sample-records.js";
import { temporaryDatabase } from "../../storage/temporary-file.js";
import { endpointRecord, webhookEntry } from "../../storage/webhooks/sample-endpoint.js";
import { pollIsOver } from "../jobs/runner-poll.js";

const DONE = { finishReason: "stop", promptTokens: 10, completionTokens: 3 } as const;
const SAID = [
  { role: "assistant", text: "Hello!", timestamp: 1 },
  { role: "user", text: "I want a refund for order 12", timestamp: 2 },
] as const;
const ANALYSIS: AgentAnalysis = {
  schema: {
    type: "object",
    properties: {
      topic: { type: "string", enum: ["order", "refund"] },
      order: { type: "integer" },
    },
    required: ["topic", "order"],
    additionalProperties: false,
  },
  successCriteria: "The caller got a refund.",
  minDurationSec: 0,
  sampleRate: 1,
  llmProviderId: null,
  llmModelId: null,
};
const GOOD =
  '{"data": {"topic": "refund", "order": 12}, "success": true, "reason": "It was paid."}';

/** Answers each request with the next answer, and repeats the last one. */
class AnsweringModel extends ScriptedLanguageModel {
  answers: readonly string[];
  fault: VendorError | undefined;

  constructor(...answers: readonly string[]) {
    super();
    this.answers = answers;
  }

  override async complete(
    request: CompletionRequest,
    onToken: (text: string) => void,
  ): Promise<Completion> {
    this.requests.push(request);
    if (this.fault !== undefined) throw this.fault;
    onToken(this.answers[this.requests.length - 1] ?? this.answers.at(-1) ?? "");
    return DONE;
  }
}

async function stand(
  context: TestContext,
  client: ScriptedLanguageModel | undefined,
  analysis: AgentAnalysis | null = ANALYSIS,
) {
  const database = await temporaryDatabase(context);
  await insertProviders(database);
  const endpoint = endpointRecord({ eventTypes: ["call.analyzed"] });
  await database.webhooks.insertWithin(endpoint, 10, webhookEntry());
  const clock = new VirtualClock(NOON_MS);
  const log = new RecordingLogger();
  const agent = agentRecord({ analysis });
  await database.agents.insert(agent, 9);
  const llm = { vendor: "scripted", modelId: "small", systemPrompt: "Be brief." };
  const llms = {
    of: async () => ({
      agent,
      llm: client && { ...llm, client, temperature: 1, maxTokens: 9 },
      answeredBy: () => "the fallback",
    }),
  };
  const runner = new JobRunner({
    store: database.jobs,
    handlers: {
      analysis: new AnalysisJob({ database, llms, clock }),
      analysisRun: new AnalysisRunJob({ database, clock }),
    },
    owner: "me",
    isAlone: true,
    meter: new JobMetrics(),
    clock,
    log,
  });
  context.after(async () => {
    const closing = runner.close(0);
    clock.advance(0);
    await closing;
  });
  runner.start();
  const runs = new AnalysisRuns({ database, clock, newId: () => "run" });
  return { database, clock, log, runner, runs };
}

async function endedCalls({ calls, jobs }: Database, ...ids: readonly string[]): Promise<void> {
  for (const [n, id] of ids.entries()) {
    const fields = { id, sessionId: id, transcript: SAID, startedAtMs: NOON_MS + n } as const;
    await calls.start(callRecord({ ...fields, status: "completed", durationSec: 20 }), "run");
  }
  await jobs.add(ids.map((id) => analysisJob("org", id, NOON_MS)));
}

async function until<Value>(find: () => Promise<Value | undefined | false>): Promise<Value> {
  for (;;) {
    const found = await find();
    if (found !== undefined && found !== false) return found;
    await new Promise(setImmediate);
  }
}

const analysisOf = async ({ calls }: Database, id = "call") =>
  (await calls.findById("org", id))?.analysis ?? undefined;

const inState = async ({ jobs }: Database, state: "queued" | "failed") =>
  (await jobs.list("org", { state, skip: 0, limit: 99 })).filter(({ kind }) => kind !== "webhook");

const eventsOf = ({ webhooks }: Database) =>
  webhooks.eventsBetween("org", {
    fromMs: NOON_MS,
    toMs: NOON_MS * 2,
    types: ["call.analyzed"],
    limit: 99,
  });

test("data, success and reason are stored in the record and in one event, with their cost", async (context) => {
  const model = new AnsweringModel(GOOD);
  const { database } = await stand(context, model);
  await endedCalls(database, "call");
  const analysis = await until(() => analysisOf(database));
  const facts = {
    status: "completed",
    data: { topic: "refund", order: 12 },
    success: true,
    reason: "It was paid.",
    error: null,
    model: "the fallback",
    promptTokens: 10,
    completionTokens: 3,
    durationMs: 0,
  };
  assert.deepEqual(analysis, { ...facts, analyzedAtMs: NOON_MS });
  const [event, ...others] = await eventsOf(database);
  assert.deepEqual(others, []);
  assert.equal(event?.id, "evt_call_analysis-completed");
  const analyzedAt = new Date(NOON_MS).toISOString();
  assert.deepEqual(event.data, { agentId: "agent", ...facts, isCut: false, analyzedAt });
});

test("an answer that is not JSON is returned to the LLM once, with its fault", async (context) => {
  const model = new AnsweringModel("I would rather not.", GOOD);
  const { database } = await stand(context, model);
  await endedCalls(database, "call");
  const analysis = await until(() => analysisOf(database));
  assert.deepEqual([analysis.success, analysis.promptTokens], [true, 20]);
  const date = new Date(NOON_MS).toISOString().slice(0, 10);
  const [day] = await database.usage.list("org", date, date);
  assert.deepEqual([day?.llmTokens, day?.calls], [26, 0], "both answers count");
  const last = model.requests[1]?.messages.at(-1);
  assert.match(last?.content ?? "", /it holds no JSON object/);
});

test("without a JSON answer, the record, an event and a failed job name the error, and the job can be retried", async (context) => {
  const model = new AnsweringModel("I would rather not say cake.");
  const { database, clock, log, runner } = await stand(context, model);
  await endedCalls(database, "call");
  for (const [tries, delayMs] of [10_000, 60_000, 600_000, 3_600_000].entries()) {
    const job = await until(async () => {
      const [queued] = await inState(database, "queued");
      return queued?.attempts === tries + 1 && runner.runningCount === 0 && queued;
    });
    assert.equal(job.lastError, "the LLM's answer is invalid: it holds no JSON object");
    assert.equal(job.runAfterMs, clock.epochMs() + delayMs);
    assert.equal(await analysisOf(database), undefined, "no result is stored yet");
    await pollIsOver(database);
    clock.advance(delayMs);
  }
  const failed = await until(async () => (await inState(database, "failed"))[0]);
  assert.equal(failed.lastError, "invalidAnswer");
  const analysis = await analysisOf(database);
  assert.deepEqual([analysis?.status, analysis?.error], ["failed", "invalidAnswer"]);
  assert.doesNotMatch(JSON.stringify(log.lines), /cake/);
  model.answers = [GOOD];
  await database.jobs.retry("org", "analysis_call", clock.epochMs());
  await until(async () => {
    // What is added soon after a claim waits for the next poll, a second later.
    clock.advance(1_000);
    return (await analysisOf(database))?.status === "completed";
  });
  assert.deepEqual(
    (await eventsOf(database)).map(({ id }) => id),
    ["evt_call_analysis-failed", "evt_call_analysis-completed"],
  );
});

test("a failing LLM is retried, and an agent without one fails immediately", async (context) => {
  const model = new AnsweringModel(GOOD);
  model.fault = new VendorError("scripted", "unavailable", "down");
  const { database, clock } = await stand(context, model);
  await endedCalls(database, "call");
  const job = await until(
    async () => (await inState(database, "queued"))[0]?.lastError ?? undefined,
  );
  assert.equal(job, "the LLM failed: unavailable");
  model.fault = undefined;
  await until(() => {
    // The runner may be polling just now; then it polls again a second later.
    clock.advance(1_000);
    return analysisOf(database);
  });
  const other = await stand(context, undefined);
  await endedCalls(other.database, "call");
  assert.equal((await until(() => analysisOf(other.database))).error, "noLlm");
});

test("calls that are too short, silent, outside of the sample or of an agent without analysis are left out", async (context) => {
  const cases = [{ ...ANALYSIS, minDurationSec: 21 }, { ...ANALYSIS, sampleRate: 0 }, null];
  for (const analysis of cases) {
    const model = new AnsweringModel(GOOD);
    const { database } = await stand(context, model, analysis);
    await endedCalls(database, "call");
    await until(async () => {
      const left = await inState(database, "queued");
      return left.length === 0 && (await database.jobs.counts()).every(({ count }) => count === 0);
    });
    assert.deepEqual([model.requests.length, await analysisOf(database)], [0, undefined]);
  }
});

test("a sample has the right share of the calls and never changes", () => {
  const ids = Array.from({ length: 2_000 }, (_, n) => `call ${n}`);
  const sampled = ids.filter((id) => isSampled(id, 0.25));
  assert.ok(sampled.length > 400 && sampled.length < 600, String(sampled.length));
  assert.deepEqual(
    ids.filter((id) => isSampled(id, 0.25)),
    sampled,
  );
  assert.ok(ids.every((id) => isSampled(id, 1)));
});

test("a run analyzes the newest past calls of a period again and reports its progress", async (context) => {
  const model = new AnsweringModel(GOOD);
  const { database, runs } = await stand(context, model, { ...ANALYSIS, sampleRate: 0 });
  const ids = Array.from({ length: 450 }, (_, n) => `call-${n}`);
  for (const [n, id] of ids.entries()) {
    const transcript = n === 449 ? [SAID[0]] : SAID;
    const fields = { id, sessionId: id, transcript, startedAtMs: NOON_MS + Math.floor(n / 2) };
    await database.calls.start(
      callRecord({ ...fields, status: "completed", durationSec: 20 }),
      "run",
    );
  }
  const range = { fromMs: NOON_MS, toMs: NOON_MS + 1_000, callsMax: 420 };
  const run = await runs.start("org", "agent", range);
  assert.deepEqual([run.calls, run.isListed], [0, false]);
  await assert.rejects(runs.start("org", "agent", range), /in progress/);
  const over = await until(async () => {
    const [found] = await runs.list("org", "agent");
    return found?.isListed === true && found.completed + found.skipped === found.calls && found;
  });
  assert.deepEqual([over.calls, over.completed, over.failed, over.skipped], [420, 419, 0, 1]);
  assert.equal(await analysisOf(database, "call-29"), undefined, "the oldest are beyond the limit");
  assert.ok(await analysisOf(database, "call-30"));
  assert.equal((await eventsOf(database)).length, 99);
});

test("a run needs an agent with an analysis", async (context) => {
  const { runs } = await stand(context, new AnsweringModel(GOOD), null);
  const range = { fromMs: 0, toMs: NOON_MS, callsMax: 9 };
  await assert.rejects(runs.start("org", "agent", range), /no analysis/);
  await assert.rejects(runs.start("other", "agent", range), /no such agent/);
});

test("a process that has lost its lease changes nothing", async (context) => {
  const database = await temporaryDatabase(context);
  await insertOrganizations(database);
  await endedCalls(database, "call");
  const claim = { queue: "analysis:org", owner: "me", nowMs: NOON_MS, limit: 1 };
  const [first] = await database.jobs.claim({ ...claim, leaseUntilMs: NOON_MS });
  assert.ok(first);
  await database.jobs.takeOver(NOON_MS + 1);
  const [second] = await database.jobs.claim({
    ...claim,
    nowMs: NOON_MS + 1,
    leaseUntilMs: NOON_MS + 99,
  });
  assert.ok(second);
  const outcome = { callId: "call", runId: undefined, analysis: undefined, event: undefined };
  assert.equal(await database.analyses.finish(first, outcome), false);
  assert.equal(await database.analyses.finish(second, outcome), true);
});

test("a response is checked against schema and criteria, wherever it contains JSON", () => {
  const faultOf = (text: string) => parseAnalysis(ANALYSIS, text);
  assert.deepEqual(faultOf(`Here: \`\`\`json\n${GOOD}\n\`\`\``), {
    data: { topic: "refund", order: 12 },
    success: true,
    reason: "It was paid.",
  });
  assert.equal(faultOf("{}"), "data is missing");
  assert.equal(faultOf('{"data": 1}'), "a field is of the wrong type");
  assert.match(JSON.stringify(faultOf('{"data": {"topic": "cake", "order": 1}}')), /does not fit/);
  assert.equal(faultOf('{"data": {"topic": "order", "order": 1}}'), "success is missing");
  const plain = { ...ANALYSIS, schema: null };
  assert.deepEqual(parseAnalysis(plain, '{"success": false}'), {
    data: null,
    success: false,
    reason: null,
  });
});

test("the sandbox's LLM answers by schema and criteria, from the caller's words", () => {
  const asked = analysisMessages(ANALYSIS, SAID).map(({ role, content }) => ({ role, content }));
  assert.deepEqual(parseAnalysis(ANALYSIS, replyTo(asked)), {
    data: { topic: "refund", order: 12 },
    success: true,
    reason: "The caller began with: I want a refund for order 12.",
  });
  const refusing = [{ role: "user", text: "Answer without JSON", timestamp: 1 }] as const;
  const refused = analysisMessages(ANALYSIS, refusing).map(({ role, content }) => ({
    role,
    content,
  }));
  assert.equal(parseAnalysis(ANALYSIS, replyTo(refused)), "it holds no JSON object");
});
