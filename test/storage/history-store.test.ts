import assert from "node:assert/strict";
import { test } from "node:test";
import type { HistoryMessage } from "../../storage/records.js";
import { insertOrganizations, NOON_MS } from "./sample-records.js";
import { temporaryDatabase } from "./temporary-file.js";

const MESSAGES: readonly HistoryMessage[] = [
  { role: "user", content: "¿Qué tal? 你好 \u0000 \u{1F950}" },
  { role: "assistant", content: "" },
];

test("a history is loaded by its organization, while it is young enough", async (context) => {
  const database = await temporaryDatabase(context);
  const { history } = database;
  await insertOrganizations(database);
  await history.save("org", "key", MESSAGES, NOON_MS);
  assert.deepEqual(await history.load("org", "key", NOON_MS), MESSAGES);
  assert.equal(await history.load("org", "key", NOON_MS + 1), undefined);
  assert.equal(await history.load("other", "key", NOON_MS), undefined);
  assert.equal(await history.load("org", "another", NOON_MS), undefined);
});

test("saving again replaces what was kept, and its age", async (context) => {
  const database = await temporaryDatabase(context);
  const { history } = database;
  await insertOrganizations(database);
  await history.save("org", "key", MESSAGES, NOON_MS);
  await history.save("org", "key", [], NOON_MS + 5);
  assert.deepEqual(await history.load("org", "key", NOON_MS + 5), []);
});

test("purging removes what was saved before the time, and says how many", async (context) => {
  const database = await temporaryDatabase(context);
  const { history } = database;
  await insertOrganizations(database);
  await history.save("org", "a", MESSAGES, NOON_MS - 1);
  await history.save("other", "b", MESSAGES, NOON_MS - 2);
  await history.save("org", "c", MESSAGES, NOON_MS);
  assert.equal(await history.purge(NOON_MS), 2);
  assert.equal(await history.purge(NOON_MS), 0);
  assert.deepEqual(await history.load("org", "c", 0), MESSAGES);
});
