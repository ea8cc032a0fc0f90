import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { BackgroundLlm } from "../../../engine/calls/background-llm.js";
import {
  EarlierMessages,
  STORED_CHARS_MAX,
  SUMMARY_CHARS_MAX,
  UNSUMMARIZED_CHARS_MAX,
  UNSUMMARIZED_MESSAGES_MAX,
} from "../../../engine/calls/earlier-messages.js";
import { HISTORY_MESSAGES_MAX } from "../../../engine/conversation/state.js";
import { type Completion, VendorError } from "../../../engine/vendors/contracts.js";
import type { HistoryMessage } from "../../../storage/records.js";
import { RecordingLogger } from "../../doubles/recording-logger.js";
import { ScriptedLanguageModel } from "../../doubles/scripted-language-model.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";
import { insertOrganizations } from "../../storage/sample-records.js";
import { temporaryDatabase } from "../../storage/temporary-file.js";

const ID = { orgId: "org", key: "key" };
const DONE: Completion = {
  promptTokens: 90,
  completionTokens: 10,
  toolCalls: [],
  finishReason: "stop",
};
/** As many turns as the window holds, plus as many as are cut before the LLM request. */
const WINDOW_TURNS = HISTORY_MESSAGES_MAX / 2;
const SUMMARIZE_AFTER_TURNS = 3;

function exchange(user: string): readonly HistoryMessage[] {
  return [
    { role: "user", content: user },
    { role: "assistant", content: `Answer to ${user}` },
  ];
}

async function standFor(context: TestContext, loaded: readonly HistoryMessage[] = []) {
  const database = await temporaryDatabase(context);
  await insertOrganizations(database);
  const { history } = database;
  const clock = new VirtualClock();
  await history.replace(ID, [], exchange("hi"), clock.epochMs());
  const log = new RecordingLogger();
  const model = new ScriptedLanguageModel();
  const llm = { vendor: "scripted", modelId: "small", systemPrompt: "Be brief.", client: model };
  const backgroundLlm = new BackgroundLlm(clock, log);
  const open = (earlier: readonly HistoryMessage[]) => {
    const deps = { store: history, backgroundLlm, clock, log };
    const messages = new EarlierMessages(deps, ID, "call", earlier);
    messages.summarizeWith({ ...llm, temperature: 1, maxTokens: 9 });
    return messages;
  };
  const stored = () => history.loadSummary(ID, 0);
  return { model, log, clock, earlier: open(loaded), open, stored };
}

function talk(earlier: EarlierMessages, from: number, turns: number): void {
  for (let turn = from; turn < from + turns; turn += 1) earlier.add(exchange(`words ${turn}`));
}

/** Yields to other work until it holds. */
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise(setImmediate);
}

test("messages within the window need no note, and cut ones are passed verbatim until they are summarized", async (context) => {
  const { earlier, model, stored } = await standFor(context);
  earlier.add(exchange("my name is Ada"));
  talk(earlier, 1, WINDOW_TURNS - 1);
  assert.equal(earlier.note, "");
  talk(earlier, WINDOW_TURNS, 1);
  assert.match(earlier.note, /^Earlier in this conversation.*\n.*my name is Ada/);
  assert.equal(model.requests.length, 0);
  talk(earlier, WINDOW_TURNS + 1, SUMMARIZE_AFTER_TURNS - 1);
  const [request] = model.requests;
  assert.deepEqual([request?.isBackground, request?.temperature], [true, 0]);
  assert.match(request?.messages[1]?.content ?? "", /"notes":""[\s\S]*my name is Ada/);
  model.say("The caller is Ada.");
  model.finish(DONE);
  await until(async () => (await stored()) !== undefined);
  assert.match(earlier.note, /\nThe caller is Ada\.$/);
  assert.equal(earlier.tokens, 100);
  assert.equal(await stored(), "The caller is Ada.");
});

test("one summary is requested at a time, and the next continues it with the messages cut meanwhile", async (context) => {
  const { earlier, model } = await standFor(context);
  talk(earlier, 0, WINDOW_TURNS + SUMMARIZE_AFTER_TURNS + 2);
  assert.equal(model.requests.length, 1);
  model.say("The first.");
  model.finish(DONE);
  await until(() => earlier.note.includes("The first."));
  assert.match(earlier.note, /words 3[\s\S]*words 4/);
  assert.doesNotMatch(earlier.note, /words 2\b/);
  talk(earlier, WINDOW_TURNS + SUMMARIZE_AFTER_TURNS + 2, 1);
  const asked = model.requests[1]?.messages[1]?.content ?? "";
  assert.match(asked, /"notes":"The first\."[\s\S]*words 3[\s\S]*words 5/);
});

test("a failing LLM is retried after the next turn, its words are not logged, and its tokens count", async (context) => {
  const { earlier, model, log } = await standFor(context);
  earlier.add(exchange("my secret"));
  talk(earlier, 1, WINDOW_TURNS + SUMMARIZE_AFTER_TURNS - 1);
  model.fail(new VendorError("scripted", "unavailable", "the vendor says: my secret"));
  await until(() => log.lines.length > 0);
  assert.doesNotMatch(JSON.stringify(log.lines), /secret/);
  assert.match(earlier.note, /my secret/);
  talk(earlier, 20, 1);
  assert.equal(model.requests.length, 2);
  model.say("x".repeat(SUMMARY_CHARS_MAX + 500));
  model.finish(DONE);
  await until(() => !earlier.note.includes("my secret"));
  assert.equal(earlier.note.split("\n").at(-1)?.length, SUMMARY_CHARS_MAX);
  assert.ok(earlier.tokens > 100);
});

test("what a model never summarizes is bounded: the oldest is forgotten, and of a long message its beginning kept", async (context) => {
  const { earlier, stored, model } = await standFor(context);
  const long = "y".repeat(UNSUMMARIZED_CHARS_MAX * 10);
  for (let turn = 0; turn < 60; turn += 1) earlier.add(exchange(`${turn} ${long}`));
  assert.equal(model.requests.length, 1);
  const lines = earlier.note.split("\n").slice(1);
  assert.equal(lines.length, UNSUMMARIZED_MESSAGES_MAX);
  for (const line of lines) assert.ok(line.length < UNSUMMARIZED_CHARS_MAX + 50);
  assert.doesNotMatch(earlier.note, /"0 y/);
  earlier.close(exchange("bye"));
  assert.ok(model.signals[0]?.aborted);
  assert.ok(earlier.tokens > 0, "a request that was aborted is billed all the same");
  await until(async () => (await stored()) !== undefined);
  assert.ok(((await stored())?.length ?? 0) <= STORED_CHARS_MAX);
});

test("a call that continues the conversation has its summary, within 24 hours", async (context) => {
  const { earlier, open, stored, clock } = await standFor(context);
  earlier.add(exchange("my name is Ada"));
  talk(earlier, 1, WINDOW_TURNS);
  earlier.close([]);
  await until(async () => (await stored()) !== undefined);
  const next = open(exchange("words"));
  await until(() => next.note !== "");
  assert.match(next.note, /my name is Ada/);
  clock.advance(25 * 60 * 60 * 1_000);
  const late = open(exchange("words"));
  await stored();
  assert.equal(late.note, "");
});
