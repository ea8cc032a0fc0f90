import assert from "node:assert/strict";
import { test } from "node:test";
import { Kysely } from "kysely";
import { type CallPage, countedPage } from "../../../storage/calls/call-queries.js";
import type { Database } from "../../../storage/database.js";
import type { CallStatus, JsonObject } from "../../../storage/records.js";
import { Sqlite } from "../../../storage/sqlite/sqlite-library.js";
import type { ThreadClient } from "../../../storage/sqlite/thread-client.js";
import { sqliteDialect } from "../../../storage/statements/statement-dialect.js";
import type { Tables } from "../../../storage/tables.js";
import { askedDatabase } from "../nodes/asked-database.js";
import {
  callRecord,
  insertOrganizations,
  METRICS,
  NO_METRICS,
  NOON_MS,
  usageRecord,
} from "../sample-records.js";
import { temporaryThread } from "../sqlite/temporary-thread.js";
import { temporaryDatabase, temporaryFile } from "../temporary-file.js";

const CALLS_PER_SEARCH = 250;
const SEARCHED_CALLS_MAX = 2_000;
const MINUTE_MS = 60_000;
const BEGUN_AT_ONCE = 50;

/** Stores five calls of `org`, a minute apart, the last two at the same moment, and one of `other`. */
async function insertCalls(database: Database): Promise<void> {
  await insertOrganizations(database);
  const ends: Record<string, Exclude<CallStatus, "active"> | undefined> = {
    "0": "completed",
    "1": "failed",
    "2": "completed",
  };
  for (let index = 0; index < 5; index += 1) {
    const id = String(index);
    const startedAtMs = NOON_MS + Math.min(index, 3) * MINUTE_MS;
    const agentId = index % 2 === 0 ? "even" : "odd";
    const metadata = { index };
    await database.calls.start(callRecord({ id, agentId, startedAtMs, metadata }), "run");
    const status = ends[id];
    if (status === undefined) continue;
    await database.calls.saveTurn(id, {
      messages: [{ role: "user", text: "Hello", timestamp: startedAtMs }],
      metrics: NO_METRICS,
      turn: { index: 0, text: 'the "tools":[ of a turn', tools: [{ name: "find" }] },
      atMs: startedAtMs,
    });
    await database.calls.finish(id, {
      status,
      endedAtMs: startedAtMs + 40_000,
      durationSec: 40,
      metrics: METRICS,
      metadata: {},
      messages: [],
      usage: usageRecord(),
    });
  }
  await database.calls.start(callRecord({ id: "theirs", orgId: "other" }), "run");
}

async function ids(database: Database, page: Partial<CallPage>): Promise<[string[], number]> {
  const { items, total } = await database.calls.list("org", { limit: 20, skip: 0, ...page });
  return [items.map(({ id }) => id), total];
}

test("calls are listed newest first, page by page, with their total number", async (context) => {
  const database = await temporaryDatabase(context);
  await insertCalls(database);
  assert.deepEqual(await ids(database, {}), [["4", "3", "2", "1", "0"], 5]);
  assert.deepEqual(await ids(database, { limit: 2, skip: 1 }), [["3", "2"], 5]);
  assert.deepEqual(await ids(database, { limit: 20, skip: 9 }), [[], 5]);
});

test("filters without an index apply to the latest calls, with the number of matches", async (context) => {
  const database = await temporaryDatabase(context);
  await insertCalls(database);
  const { avgLatencyMs, interruptions } = METRICS;
  const attention = {
    interruptionsMin: interruptions + 1,
    waitMinMs: avgLatencyMs + 1,
    fields: ["deaf"],
    value: "silent",
  };
  assert.deepEqual(await ids(database, { sieve: { longerThanSec: 39 } }), [["2", "1", "0"], 3]);
  assert.deepEqual(await ids(database, { sieve: { longerThanSec: 40 } }), [[], 0]);
  assert.deepEqual(await ids(database, { sieve: { channel: "phone" } }), [[], 0]);
  assert.deepEqual(await ids(database, { sieve: { attention } }), [["1"], 1]);
  assert.deepEqual(
    await ids(database, { sieve: { waitedMoreThanMs: avgLatencyMs - 1 }, limit: 1, skip: 1 }),
    [["1"], 3],
  );
  assert.deepEqual(await ids(database, { agentId: "odd", sieve: { longerThanSec: 1 } }), [
    ["1"],
    1,
  ]);
});

test("calls can be filtered by time, together with other filters", async (context) => {
  const database = await temporaryDatabase(context);
  await insertCalls(database);
  const startedFromMs = NOON_MS + MINUTE_MS;
  const startedBeforeMs = NOON_MS + 3 * MINUTE_MS;
  assert.deepEqual(await ids(database, { sieve: { startedFromMs } }), [["4", "3", "2", "1"], 4]);
  assert.deepEqual(await ids(database, { sieve: { startedBeforeMs } }), [["2", "1", "0"], 3]);
  const sieve = { startedFromMs, startedBeforeMs };
  assert.deepEqual(await ids(database, { agentId: "odd", sieve }), [["1"], 1]);
  assert.deepEqual(await ids(database, { sieve: { ...sieve, words: "HELLO" } }), [["2", "1"], 2]);
  assert.deepEqual(await ids(database, { sieve: { ...sieve, from: "+15550100" } }), [[], 0]);
});

test("words of either side are found, in any case, including characters with a meaning in SQL patterns", async (context) => {
  const database = await temporaryDatabase(context);
  await insertCalls(database);
  const say = (id: string, ...texts: readonly string[]) =>
    database.calls.saveTurn(id, {
      messages: texts.map((text) => ({ role: "assistant", text, timestamp: NOON_MS })),
      metrics: METRICS,
      turn: undefined,
      atMs: NOON_MS,
    });
  await say("3", "That is 100 % of it.", "Grüße aus ÖSTERREICH");
  await say("4", "hello_there, back\\slash");
  const found = async (words: string, page: Partial<CallPage> = {}) =>
    (await ids(database, { ...page, sieve: { words } }))[0];
  assert.deepEqual(await found("hELLO"), ["4", "2", "1", "0"]);
  assert.deepEqual(await found("hello", { agentId: "odd" }), ["1"]);
  assert.deepEqual(await found("österreich"), ["3"]);
  assert.deepEqual(await found("grüßE"), ["3"]);
  assert.deepEqual(await found("100 %"), ["3"]);
  assert.deepEqual(await found("%"), ["3"]);
  assert.deepEqual(await found("_"), ["4"]);
  assert.deepEqual(await found("back\\s"), ["4"]);
  assert.deepEqual(await found("not said"), []);
  const both = await ids(database, { sieve: { words: "Hello", longerThanSec: 1 }, limit: 1 });
  assert.deepEqual(both, [["2"], 3]);
});

test("words are searched in a limited number of the latest calls, step by step, and in no older ones", async (context) => {
  const database = await temporaryDatabase(context);
  await insertOrganizations(database);
  const begin = (index: number) =>
    database.calls.start(
      callRecord({
        id: String(index),
        sessionId: String(index),
        startedAtMs: NOON_MS + index,
        transcript: [{ role: "user", text: "Hello", timestamp: NOON_MS }],
      }),
      "run",
    );
  // If all ran at once, the last would wait too long for one of PostgreSQL's few connections.
  for (let first = 0; first < SEARCHED_CALLS_MAX; first += BEGUN_AT_ONCE) {
    await Promise.all(Array.from({ length: BEGUN_AT_ONCE }, (_, index) => begin(first + index)));
  }
  await begin(SEARCHED_CALLS_MAX);
  const search = (skip: number) =>
    ids(database, { skip, limit: 2, sieve: { words: "hello", channel: "web" } });
  assert.deepEqual(await search(CALLS_PER_SEARCH - 1), [
    [
      String(SEARCHED_CALLS_MAX + 1 - CALLS_PER_SEARCH),
      String(SEARCHED_CALLS_MAX - CALLS_PER_SEARCH),
    ],
    SEARCHED_CALLS_MAX,
  ]);
  assert.deepEqual(await search(SEARCHED_CALLS_MAX - 1), [["1"], SEARCHED_CALLS_MAX]);
});

test("filters apply to the latest 10,000 calls, whatever the page, and words are searched in 250 at a time", async () => {
  const { database, asked } = askedDatabase();
  await database.calls.list("org", { skip: 40, limit: 20, sieve: { channel: "phone" } });
  assert.deepEqual(asked[0]?.[0]?.parameters, ["org", 10_000, 0, "phone", 20, 40]);
  await database.calls.list("org", { skip: 0, limit: 20, sieve: { words: "a" } });
  assert.deepEqual(asked[2]?.[0]?.parameters.slice(0, 3), ["org", 250, 250]);
});

test("a call needs attention because of fields that only its metadata contains", async (context) => {
  const database = await temporaryDatabase(context);
  await insertOrganizations(database);
  const metadata: Readonly<Record<string, JsonObject>> = {
    deaf: { sttOutageMs: 9, isDeaf: true },
    slow: { isSlow: true },
    silent: { endReason: "silent" },
    fine: { note: '"isDeaf": is the name', other: 'not "silent"' },
  };
  for (const [id, own] of Object.entries(metadata)) {
    await database.calls.start(callRecord({ id }), "run");
    await database.calls.finish(id, {
      status: "completed",
      endedAtMs: NOON_MS,
      durationSec: 1,
      metrics: NO_METRICS,
      metadata: own,
      messages: [],
      usage: usageRecord(),
    });
  }
  const attention = {
    interruptionsMin: 1,
    waitMinMs: 1,
    fields: ["isDeaf", "isSlow"],
    value: "silent",
  };
  const [found] = await ids(database, { sieve: { attention } });
  assert.deepEqual([...found].sort(), ["deaf", "silent", "slow"]);
});

test("turns are listed with their call and its time, without results of tools, and so is a call without turns", async (context) => {
  const database = await temporaryDatabase(context);
  await insertCalls(database);
  const sinceMs = NOON_MS + MINUTE_MS;
  const page = (skipCalls: number) =>
    database.calls.turnsSince("org", { sinceMs, skipCalls, calls: 3 });
  assert.deepEqual(
    (await page(0)).map(({ callId, startedAtMs, turn }) => [
      callId,
      (startedAtMs - NOON_MS) / MINUTE_MS,
      turn,
    ]),
    [
      ["4", 3, {}],
      ["3", 3, {}],
      ["2", 2, { index: 0, text: 'the "tools":[ of a turn' }],
    ],
  );
  assert.equal((await page(3)).length, 1);
  assert.deepEqual(await page(4), []);
});

test("a list contains no transcripts and no turns", async (context) => {
  const database = await temporaryDatabase(context);
  await insertCalls(database);
  const { items } = await database.calls.list("org", { limit: 1, skip: 4 });
  assert.deepEqual(items[0]?.transcript, []);
  assert.deepEqual(items[0]?.metadata, { index: 0 });
  assert.deepEqual(items[0]?.metrics, METRICS);
});

test("calls are filtered by agent, by status and by both, and counted in the same way", async (context) => {
  const database = await temporaryDatabase(context);
  await insertCalls(database);
  assert.deepEqual(await ids(database, { agentId: "even" }), [["4", "2", "0"], 3]);
  assert.deepEqual(await ids(database, { status: "active" }), [["4", "3"], 2]);
  const both = { agentId: "even", status: "completed" } as const;
  assert.deepEqual(await ids(database, both), [["2", "0"], 2]);
  assert.deepEqual(await ids(database, { agentId: "nobody" }), [[], 0]);
  assert.equal(await database.calls.count("org", {}), 5);
  assert.equal(await database.calls.count("org", { status: "failed" }), 1);
  assert.equal(await database.calls.count("org", both), 2);
  assert.equal(await database.calls.count("nobody", {}), 0);
});

test("the statistics cover all calls, and the mean only ended ones", async (context) => {
  const database = await temporaryDatabase(context);
  await insertCalls(database);
  await database.calls.start(callRecord({ id: "one more" }), "run");
  assert.deepEqual(await database.calls.stats("org"), {
    totalCalls: 6,
    activeCalls: 3,
    totalMinutes: 2,
    avgDurationSec: 40,
  });
  assert.deepEqual(await database.calls.stats("nobody"), {
    totalCalls: 0,
    activeCalls: 0,
    totalMinutes: 0,
    avgDurationSec: 0,
  });
});

test("a call that is deleted from the file by hand is no longer counted", async (context) => {
  const filePath = temporaryFile();
  const database = await temporaryDatabase(context, filePath);
  await insertCalls(database);
  const file = new Sqlite(filePath);
  file.exec("delete from calls where id = '3'");
  file.close();
  assert.deepEqual(await ids(database, {}), [["4", "2", "1", "0"], 4]);
});

/** Returns how SQLite would run the query, one step per line. */
async function queryPlan(
  client: ThreadClient,
  query: { compile(): { sql: string; parameters: readonly unknown[] } },
): Promise<string> {
  const { sql, parameters } = query.compile();
  const [plan] =
    (await client.send([{ sql: `explain query plan ${sql}`, parameters }], false)) ?? [];
  return JSON.stringify(plan?.rows);
}

test("every list of calls uses an index, and no total counts rows", async (context) => {
  const client = await temporaryThread(context);
  const db = new Kysely<Tables>({ dialect: sqliteDialect(client) });
  const filters = [
    [{}, "callsInOrder (orgId=?)"],
    [{ agentId: "a" }, "callsOfAgent (orgId=? AND agentId=?)"],
    [{ status: "failed" }, "callsInStatus (orgId=? AND status=?)"],
    [
      { agentId: "a", status: "failed" },
      "callsOfAgentInStatus (orgId=? AND agentId=? AND status=?)",
    ],
  ] as const;
  for (const [filter, index] of filters) {
    const page = { ...filter, skip: 0, limit: 20 };
    const plan = await queryPlan(client, countedPage(db, "org", page));
    assert.ok(plan.includes(`SEARCH calls USING INDEX ${index}`), plan);
    assert.ok(!plan.includes("TEMP B-TREE"), `sorts: ${plan}`);
    assert.match(plan, /SEARCH callTotals USING PRIMARY KEY/);
  }
});
