import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { SummaryJob } from "../../../engine/analysis/summary-job.js";
import { JobRunner } from "../../../engine/jobs/job-runner.js";
import { JobMetrics } from "../../../engine/metrics/job-metrics.js";
import {
  type Completion,
  type CompletionRequest,
  VendorError,
} from "../../../engine/vendors/contracts.js";
import type { Database } from "../../../storage/database.js";
import { summaryJob } from "../../../storage/jobs/job-record.js";
import { RecordingLogger } from "../../doubles/recording-logger.js";
import { ScriptedLanguageModel } from "../../doubles/scripted-language-model.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";
import {
  agentRecord,
  callRecord,
  insertOrganizations,
  NOON_MS,
} from "../../storage/sample-records.js";
import { temporaryDatabase } from "../../storage/temporary-file.js";
import { pollIsOver } from "../jobs/runner-poll.js";

const DONE = { finishReason: "stop", promptTokens: 1, completionTokens: 1 } as const;
const RUNNING_PER_ORGANIZATION_MAX = 4;
const SAID = { role: "user", text: "I want a cake", timestamp: 1 } as const;
const WHOLE = '{"summary": "Ordered a cake.", "sentiment": "positive"}';

/** Answers every request immediately with the same text. */
class EagerModel extends ScriptedLanguageModel {
  answer: string;

  constructor(answer: string) {
    super();
    this.answer = answer;
  }

  override complete(
    request: CompletionRequest,
    onToken: (text: string) => void,
  ): Promise<Completion> {
    this.requests.push(request);
    onToken(this.answer);
    return Promise.resolve(DONE);
  }
}

/** A runner of summary jobs on a database file, with a virtual clock; the agent's LLM is `client`. */
async function stand(context: TestContext, client: ScriptedLanguageModel | undefined) {
  const database = await temporaryDatabase(context);
  await insertOrganizations(database);
  const clock = new VirtualClock(NOON_MS);
  const log = new RecordingLogger();
  const llm = { vendor: "scripted", modelId: "small", systemPrompt: "Be brief." };
  const llms = {
    of: async () => ({
      agent: agentRecord(),
      llm: client && { ...llm, client, temperature: 1, maxTokens: 9 },
      answeredBy: () => null,
    }),
  };
  const start = (owner: string) => {
    const runner = new JobRunner({
      store: database.jobs,
      handlers: { summary: new SummaryJob({ database, llms, clock }) },
      owner,
      isAlone: true,
      meter: new JobMetrics(),
      clock,
      log,
    });
    context.after(() => stopped(runner));
    runner.start();
    return runner;
  };
  /** Stops the running work immediately. */
  const stopped = async (runner: JobRunner) => {
    const closing = runner.close(0);
    clock.advance(0);
    await closing;
  };
  return { database, clock, log, start, stopped };
}

async function endedCalls({ calls, jobs }: Database, ...ids: readonly string[]): Promise<void> {
  await Promise.all(ids.map((id) => calls.start(callRecord({ id, transcript: [SAID] }), "run")));
  await jobs.add(ids.map((id) => summaryJob("org", id, NOON_MS)));
}

/** Yields to other work until the condition is true. */
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise(setImmediate);
}

const inState = ({ jobs }: Database, state: "queued" | "running" | "failed") =>
  jobs.list("org", { state, skip: 0, limit: 99 });

const areDone = async (database: Database) => {
  const left = await Promise.all([inState(database, "queued"), inState(database, "running")]);
  return left.flat().length === 0;
};

test("the agent's own LLM summarizes the call, with temperature 0 and few tokens", async (context) => {
  const model = new EagerModel(WHOLE);
  const { database, start } = await stand(context, model);
  await endedCalls(database, "call");
  start("me");
  await until(() => areDone(database));
  const call = await database.calls.findById("org", "call");
  assert.deepEqual([call?.summary, call?.sentiment], ["Ordered a cake.", "positive"]);
  const { messages, ...request } = model.requests[0] ?? assert.fail();
  assert.ok(messages.length > 0);
  assert.deepEqual(request, {
    modelId: "small",
    temperature: 0,
    maxTokens: 300,
    isBackground: true,
  });
});

test("a call without a word of the caller is not summarized", async (context) => {
  const model = new EagerModel("{}");
  const { database, start } = await stand(context, model);
  await database.calls.start(callRecord({ transcript: [{ ...SAID, role: "assistant" }] }), "run");
  await database.jobs.add([
    summaryJob("org", "call", NOON_MS),
    summaryJob("org", "no call", NOON_MS),
  ]);
  start("me");
  await until(() => areDone(database));
  assert.deepEqual(model.requests, []);
});

test("an invalid summary is requested again with growing delays, and its text is not stored", async (context) => {
  const model = new EagerModel("I would rather bake");
  const { database, clock, log, start } = await stand(context, model);
  await endedCalls(database, "call");
  const runner = start("me");
  for (const [tries, delayMs] of [10_000, 60_000, 300_000, 1_800_000, 7_200_000].entries()) {
    await until(async () => {
      const [job] = await inState(database, "queued");
      return model.requests.length === tries + 1 && job !== undefined && runner.runningCount === 0;
    });
    const [job] = await inState(database, "queued");
    assert.equal(job?.runAfterMs, clock.epochMs() + delayMs);
    await pollIsOver(database);
    clock.advance(delayMs);
  }
  await until(async () => (await inState(database, "failed")).length === 1);
  const [job] = await inState(database, "failed");
  assert.deepEqual([job?.attempts, job?.lastError], [6, "the LLM's answer holds no summary"]);
  assert.doesNotMatch(JSON.stringify(log.lines), /bake|cake/);
  model.answer = WHOLE;
  await database.jobs.retry("org", "summary_call", clock.epochMs());
  await until(() => areDone(database));
  assert.equal((await database.calls.findById("org", "call"))?.summary, "Ordered a cake.");
});

test("a failing LLM is retried, not earlier than it requested", async (context) => {
  const model = new ScriptedLanguageModel();
  const { database, clock, start } = await stand(context, model);
  await endedCalls(database, "call");
  start("me");
  await until(() => model.requests.length > 0);
  const options = { retryAfterMs: 45_000 };
  model.fail(new VendorError("scripted", "rateLimited", "too many requests", options));
  await until(async () => (await inState(database, "queued")).length === 1);
  const [job] = await inState(database, "queued");
  assert.equal(job?.runAfterMs, clock.epochMs() + 45_000);
  assert.equal(job.lastError, "the LLM failed: rateLimited");
});

test("an LLM that does not answer times out after half a minute", async (context) => {
  const model = new ScriptedLanguageModel();
  const { database, clock, start } = await stand(context, model);
  await endedCalls(database, "call");
  start("me");
  await until(() => model.requests.length > 0);
  clock.advance(30_000);
  await until(async () => (await inState(database, "queued")).length === 1);
  assert.equal((await inState(database, "queued"))[0]?.lastError, "the LLM failed: timeout");
});

test("the job of an agent without an LLM fails", async (context) => {
  const { database, start } = await stand(context, undefined);
  await endedCalls(database, "call");
  start("me");
  await until(async () => (await inState(database, "failed")).length === 1);
  const [job] = await inState(database, "failed");
  assert.equal(job?.lastError, "the agent no longer has an LLM");
});

test("only a few calls of an organization are summarized at once, and the next starts when one is done", async (context) => {
  const model = new ScriptedLanguageModel();
  const { database, start } = await stand(context, model);
  await endedCalls(database, "a", "b", "c", "d", "e", "f");
  const runner = start("me");
  await until(() => model.requests.length === RUNNING_PER_ORGANIZATION_MAX);
  assert.equal(runner.runningCount, RUNNING_PER_ORGANIZATION_MAX);
  model.say(WHOLE);
  model.finish(DONE);
  await until(() => model.requests.length === RUNNING_PER_ORGANIZATION_MAX + 1);
});

test("a job that a stop interrupts runs again after the next start, and the attempt does not count", async (context) => {
  const silent = new ScriptedLanguageModel();
  const { database, start, stopped } = await stand(context, silent);
  await endedCalls(database, "call", "other");
  const runner = start("first");
  await until(() => silent.requests.length === 2);
  await stopped(runner);
  const waiting = await inState(database, "queued");
  assert.deepEqual(
    waiting.map(({ attempts }) => attempts),
    [0, 0],
  );
  start("second");
  await until(() => silent.requests.length === 4);
});

test("only the first eight thousand characters of an endless response are read", async (context) => {
  const model = new EagerModel(WHOLE);
  model.complete = (request, onToken) => {
    onToken(" ".repeat(model.requests.length === 0 ? 7_999 : 8_000));
    onToken(WHOLE);
    model.requests.push(request);
    return Promise.resolve(DONE);
  };
  const { database, start } = await stand(context, model);
  await endedCalls(database, "soon");
  start("me");
  await until(() => areDone(database));
  assert.equal((await database.calls.findById("org", "soon"))?.summary, "Ordered a cake.");
  await endedCalls(database, "late");
  await until(async () => {
    const [job] = await inState(database, "queued");
    return job?.lastError === "the LLM's answer holds no summary";
  });
});

test("organizations take turns, even if one has more jobs than may run", async (context) => {
  const model = new ScriptedLanguageModel();
  const { database, start } = await stand(context, model);
  await endedCalls(database, "call");
  const ofOrganization = (name: string, count: number) =>
    Array.from({ length: count }, (_, n) => ({
      ...summaryJob("org", "call", NOON_MS),
      id: `${name}${n}`,
      queue: `summary:${name}`,
    }));
  await database.jobs.add(["a", "b", "c"].flatMap((name) => ofOrganization(name, 9)));
  start("me");
  const running = async () => (await inState(database, "running")).map(({ queue }) => queue);
  await until(async () => (await running()).length === 8);
  assert.ok(!(await running()).includes("summary:c"));
  model.say(WHOLE);
  model.finish(DONE);
  await until(async () => (await running()).includes("summary:c"));
});
