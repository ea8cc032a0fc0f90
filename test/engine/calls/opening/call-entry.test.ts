import assert from "node:assert/strict";
import { test } from "node:test";
import { CALLER_LEFT } from "../../../../engine/session/ending.js";
import { NO_METRICS } from "../../../storage/sample-records.js";
import { CALL_START, temporaryJournal } from "../temporary-journal.js";

test("who finds a call ended finds its last words in the conversation", async (context) => {
  const { database, journal } = await temporaryJournal(context);
  const { calls, history } = database;
  const steps: string[] = [];
  const [replace, finish] = [history.replace.bind(history), calls.finish.bind(calls)];
  context.mock.method(history, "replace", async (...asked: Parameters<typeof replace>) => {
    const isStored = await replace(...asked);
    steps.push("words");
    return isStored;
  });
  context.mock.method(calls, "finish", (...asked: Parameters<typeof finish>) => {
    steps.push("end");
    return finish(...asked);
  });
  const entry = await journal.begin(CALL_START);
  entry.ended(CALLER_LEFT, {
    messages: [],
    metrics: NO_METRICS,
    report: undefined,
    added: [{ role: "user", content: "goodbye" }],
  });
  await journal.stored();
  assert.deepEqual(steps, ["words", "end"]);
});
