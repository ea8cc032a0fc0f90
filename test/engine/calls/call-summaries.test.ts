import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { CallSummaries } from "../../../engine/calls/call-summaries.js";
import type { Completion, CompletionRequest } from "../../../engine/vendors/contracts.js";
import type { Database } from "../../../storage/database.js";
import { RecordingLogger } from "../../doubles/recording-logger.js";
import { ScriptedLanguageModel } from "../../doubles/scripted-language-model.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";
import { callRecord, insertOrganizations } from "../../storage/sample-records.js";
import { temporaryDatabase } from "../../storage/temporary-file.js";

const DONE = { finishReason: "stop", promptTokens: 1, completionTokens: 1 } as const;
const AT_ONCE_MAX = 4;
const WAITING_MAX = 1_000;
const SAID = { role: "user", text: "I want a cake", timestamp: 1 } as const;

/** Answers every request at once with the same words. */
class EagerModel extends ScriptedLanguageModel {
  readonly #answer: string;

  constructor(answer: string) {
    super();
    this.#answer = answer;
  }

  override complete(
    request: CompletionRequest,
    onToken: (text: string) => void,
  ): Promise<Completion> {
    this.requests.push(request);
    onToken(this.#answer);
    return Promise.resolve(DONE);
  }
}

function taskOf(callId: string, client: ScriptedLanguageModel) {
  const llm = { vendor: "scripted", modelId: "small", systemPrompt: "Be brief." };
  return { orgId: "org", callId, llm: { ...llm, client, temperature: 1, maxTokens: 9 } };
}

async function summariesFor(context: TestContext) {
  const database = await temporaryDatabase(context);
  await insertOrganizations(database);
  const clock = new VirtualClock();
  const log = new RecordingLogger();
  const summaries = new CallSummaries(database.calls, clock, log);
  return { database, clock, log, summaries };
}

async function storeCalls({ calls }: Database, ...ids: string[]): Promise<void> {
  await Promise.all(ids.map((id) => calls.start(callRecord({ id, transcript: [SAID] }), "run")));
}

/** Lets others go on until it holds. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise(setImmediate);
}

test("the agent's own model sums the call up, soberly and in few tokens", async (context) => {
  const { database, summaries } = await summariesFor(context);
  await storeCalls(database, "call");
  const model = new EagerModel('{"summary": "Ordered a cake.", "sentiment": "positive"}');
  summaries.add(taskOf("call", model));
  await summaries.close(5_000);
  const call = await database.calls.findById("org", "call");
  assert.equal(call?.summary, "Ordered a cake.");
  assert.equal(call?.sentiment, "positive");
  const { messages, ...request } = model.requests[0] ?? assert.fail();
  assert.ok(messages.length > 0);
  assert.deepEqual(request, {
    modelId: "small",
    temperature: 0,
    maxTokens: 300,
    isBackground: true,
  });
});

test("a call in which the caller said nothing is not summed up", async (context) => {
  const { database, summaries } = await summariesFor(context);
  await database.calls.start(callRecord({ transcript: [{ ...SAID, role: "assistant" }] }), "run");
  const model = new EagerModel("{}");
  summaries.add(taskOf("call", model));
  summaries.add(taskOf("no such call", model));
  await summaries.close(5_000);
  assert.deepEqual(model.requests, []);
});

test("an answer that is no summary leaves the fields unset, and is logged without its words", async (context) => {
  const { database, log, summaries } = await summariesFor(context);
  await storeCalls(database, "call");
  summaries.add(taskOf("call", new EagerModel("I would rather bake")));
  await summaries.close(5_000);
  const call = await database.calls.findById("org", "call");
  assert.deepEqual([call?.summary, call?.sentiment], [null, null]);
  const [line, ...others] = log.lines;
  assert.equal(line?.fields["callId"], "call");
  assert.deepEqual(others, []);
  assert.doesNotMatch(String(line?.fields["error"]), /bake|cake/);
});

test("few are asked for at once; the next begins when one is done", async (context) => {
  const { database, summaries } = await summariesFor(context);
  const ids = ["a", "b", "c", "d", "e", "f"];
  await storeCalls(database, ...ids);
  const models = ids.map(() => new ScriptedLanguageModel());
  for (const [n, id] of ids.entries()) summaries.add(taskOf(id, models[n] ?? new EagerModel("")));
  const asked = () => models.filter(({ requests }) => requests.length > 0).length;
  await until(() => asked() === AT_ONCE_MAX);
  assert.equal(summaries.waitingCount, ids.length - AT_ONCE_MAX);
  models[0]?.fail(new Error("no"));
  await until(() => asked() === AT_ONCE_MAX + 1);
  for (const model of models) model.finish(DONE);
  await until(() => asked() === ids.length);
  models.at(-1)?.finish(DONE);
  await summaries.close(5_000);
});

test("a model that does not answer is given up after half a minute", async (context) => {
  const { clock, database, log, summaries } = await summariesFor(context);
  await storeCalls(database, "call");
  const model = new ScriptedLanguageModel();
  summaries.add(taskOf("call", model));
  await until(() => model.requests.length > 0);
  clock.advance(29_999);
  await new Promise(setImmediate);
  assert.equal(log.lines.length, 0);
  clock.advance(1);
  await until(() => log.lines.length > 0);
  assert.equal(log.lines[0]?.message, "the call could not be summarized");
  assert.equal(clock.pendingTimerCount, 0);
  await summaries.close(0);
});

test("calls beyond a thousand that wait go without a summary", async (context) => {
  const { clock, database, log, summaries } = await summariesFor(context);
  const ids = Array.from({ length: AT_ONCE_MAX }, (_, n) => `call ${n}`);
  await storeCalls(database, ...ids);
  const model = new ScriptedLanguageModel();
  for (const id of ids) summaries.add(taskOf(id, model));
  for (let n = 0; n < WAITING_MAX; n += 1) summaries.add(taskOf(`waiting ${n}`, model));
  assert.equal(log.lines.length, 0);
  summaries.add(taskOf("one too many", model));
  assert.equal(log.lines[0]?.fields["callId"], "one too many");
  const closed = summaries.close(1_000);
  clock.advance(1_000);
  await closed;
});

test("closing waits as long as it may, then gives up what is left and says how many", async (context) => {
  const { clock, database, log, summaries } = await summariesFor(context);
  const ids = ["a", "b", "c", "d", "e"];
  await storeCalls(database, ...ids);
  const model = new ScriptedLanguageModel();
  for (const id of ids) summaries.add(taskOf(id, model));
  await until(() => model.requests.length === AT_ONCE_MAX);
  const closed = summaries.close(5_000);
  clock.advance(5_000);
  await closed;
  assert.equal(summaries.waitingCount, 0);
  assert.equal(log.lines[0]?.fields["count"], 1);
  summaries.add(taskOf("late", model));
  assert.equal(model.requests.length, AT_ONCE_MAX, "nothing is asked for any more");
});

test("closing waits for all that can still be summed up, and not longer", async (context) => {
  const { clock, database, log, summaries } = await summariesFor(context);
  const ids = ["a", "b", "c", "d", "e", "f"];
  await storeCalls(database, ...ids);
  const models = ids.map(() => new ScriptedLanguageModel());
  for (const [n, id] of ids.entries()) summaries.add(taskOf(id, models[n] ?? new EagerModel("")));
  const closed = summaries.close(5_000);
  for (const model of models) {
    await until(() => model.requests.length > 0);
    model.say('{"summary": "Ordered a cake."}');
    model.finish(DONE);
  }
  await closed;
  const calls = await Promise.all(ids.map((id) => database.calls.findById("org", id)));
  assert.ok(calls.every((call) => call?.summary === "Ordered a cake."));
  assert.deepEqual([clock.pendingTimerCount, log.lines], [0, []]);
});

test("a call that is still being looked up when the time is over asks no model", async (context) => {
  const { clock, database, log, summaries } = await summariesFor(context);
  await storeCalls(database, "call");
  const model = new ScriptedLanguageModel();
  summaries.add(taskOf("call", model));
  const closed = summaries.close(0);
  clock.advance(0);
  await closed;
  assert.equal((await database.calls.findById("org", "call"))?.summary, null);
  assert.equal(clock.pendingTimerCount, 0);
  const lines = log.lines.map(({ message, fields }) => [message, String(fields["error"])]);
  assert.deepEqual(lines, [["the call could not be summarized", "VendorError: scripted: aborted"]]);
});

test("of an answer without end no more than its first eight thousand characters are looked at", async (context) => {
  const { database, log, summaries } = await summariesFor(context);
  const summed = async (id: string, preambleChars: number) => {
    await storeCalls(database, id);
    const model = new ScriptedLanguageModel();
    summaries.add(taskOf(id, model));
    await until(() => model.requests.length > 0);
    model.say(" ".repeat(preambleChars));
    model.say('{"summary": "Ordered a cake."}');
    model.finish(DONE);
    await until(() => log.lines.length > 0 || summaries.waitingCount === 0);
  };
  await summed("soon", 7_999);
  await summed("late", 8_000);
  await summaries.close(5_000);
  assert.equal((await database.calls.findById("org", "soon"))?.summary, "Ordered a cake.");
  assert.equal((await database.calls.findById("org", "late"))?.summary, null);
});
