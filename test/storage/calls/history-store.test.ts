import assert from "node:assert/strict";
import { test } from "node:test";
import type { HistoryMessage } from "../../../storage/records.js";
import { insertOrganizations, NOON_MS } from "../sample-records.js";
import { temporaryDatabase } from "../temporary-file.js";

const MESSAGES: readonly HistoryMessage[] = [
  { role: "user", content: "¿Qué tal? 你好 \u0000 \u{1F950}" },
  {
    role: "assistant",
    content: "",
    tools: [{ name: "book", argumentsJson: "{}", result: '{"ok":true,"id":7}' }],
  },
];

test("a history can be loaded by its organization, while it is recent enough", async (context) => {
  const database = await temporaryDatabase(context);
  const { history } = database;
  await insertOrganizations(database);
  await history.replace({ orgId: "org", key: "key" }, [], MESSAGES, NOON_MS);
  assert.deepEqual(await history.load("org", "key", NOON_MS), MESSAGES);
  assert.equal(await history.load("org", "key", NOON_MS + 1), undefined);
  assert.equal(await history.load("other", "key", NOON_MS), undefined);
  assert.equal(await history.load("org", "another", NOON_MS), undefined);
});

test("a known history is replaced with a new time; one that another call has saved meanwhile is not", async (context) => {
  const database = await temporaryDatabase(context);
  const { history } = database;
  await insertOrganizations(database);
  const id = { orgId: "org", key: "key" };
  const others = [{ role: "user", content: "something else" }] as const;
  assert.equal(await history.replace(id, [], MESSAGES, NOON_MS), true);
  assert.equal(await history.replace(id, MESSAGES, [], NOON_MS + 5), true);
  assert.deepEqual(await history.load("org", "key", NOON_MS + 5), []);
  assert.equal(await history.replace(id, [], others, NOON_MS + 6), true);
  assert.equal(await history.replace(id, MESSAGES, MESSAGES, NOON_MS + 7), false);
  assert.deepEqual(await history.load("org", "key", NOON_MS + 6), others);
  assert.equal(await history.load("org", "key", NOON_MS + 7), undefined, "its time stays, too");
});

test("a history that was purged meanwhile is stored again", async (context) => {
  const database = await temporaryDatabase(context);
  const { history } = database;
  await insertOrganizations(database);
  assert.equal(await history.replace({ orgId: "org", key: "key" }, MESSAGES, MESSAGES, 1), true);
  assert.deepEqual(await history.load("org", "key", 0), MESSAGES);
});

test("purging removes histories saved before the time, and returns their number", async (context) => {
  const database = await temporaryDatabase(context);
  const { history } = database;
  await insertOrganizations(database);
  await history.replace({ orgId: "org", key: "a" }, [], MESSAGES, NOON_MS - 1);
  await history.replace({ orgId: "other", key: "b" }, [], MESSAGES, NOON_MS - 2);
  await history.replace({ orgId: "org", key: "c" }, [], MESSAGES, NOON_MS);
  assert.equal(await history.purge(NOON_MS), 2);
  assert.equal(await history.purge(NOON_MS), 0);
  assert.deepEqual(await history.load("org", "c", 0), MESSAGES);
});
