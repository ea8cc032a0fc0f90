import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { PostgresCluster } from "../../bench/stand/postgres-cluster.js";
import { nodeTokens } from "../../engine/cluster/node-tokens.js";
import { type Database, openDatabase } from "../../storage/database.js";
import { SilentLogger } from "../doubles/silent-logger.js";
import { VirtualClock } from "../doubles/virtual-clock.js";
import { insertOrganizations } from "../storage/sample-records.js";
import { temporaryFile } from "../storage/temporary-file.js";

const cluster = await PostgresCluster.start();
const DAY_MS = 24 * 60 * 60 * 1_000;

async function open(context: TestContext): Promise<Database> {
  const url = await cluster.makeDatabase();
  const database = await openDatabase({ filePath: temporaryFile(), url });
  context.after(() => database.close());
  await insertOrganizations(database);
  for (const startId of ["one", "other"]) {
    const about = { address: null, version: "1.0.0", capacity: 0 };
    await database.nodes.register({ startId, name: startId, ...about });
  }
  return database;
}

test("of concurrent slot requests, as many succeed as there are slots, on whichever server", async (context) => {
  const { callSlots } = await open(context);
  const taken = await Promise.all(
    Array.from({ length: 100 }, (_, index) =>
      callSlots.take({
        orgId: "org",
        callId: `call ${index}`,
        callsMax: 7,
        startId: index % 2 === 0 ? "one" : "other",
      }),
    ),
  );
  assert.equal(taken.filter(Boolean).length, 7);
  assert.equal(await callSlots.count("org"), 7);
});

test("a call that continues another takes its slot, and no other organization's", async (context) => {
  const { callSlots } = await open(context);
  const slot = { orgId: "org", callsMax: 1 };
  assert.ok(await callSlots.take({ ...slot, callId: "first", startId: "one" }));
  const next = { ...slot, callId: "next", startId: "other" };
  assert.equal(await callSlots.take({ ...next, replaces: "unknown" }), false);
  assert.ok(await callSlots.take({ ...next, replaces: "first" }));
  assert.equal(await callSlots.holderOf("first"), undefined);
  const theirs = { orgId: "nobody", callsMax: 1, callId: "theirs", startId: "one" };
  assert.ok(await callSlots.take({ ...theirs, replaces: "next" }));
  assert.equal(await callSlots.holderOf("next"), "other");
});

test("only its holder frees and moves a slot", async (context) => {
  const { callSlots } = await open(context);
  await callSlots.take({ orgId: "org", callId: "a", callsMax: 9, startId: "one" });
  await callSlots.free("other", ["a"]);
  assert.equal(await callSlots.move("a", "other", "one"), false);
  assert.ok(await callSlots.move("a", "one", "other"));
  assert.deepEqual(await callSlots.callsOf("other"), ["a"]);
  await callSlots.free("other", ["a"]);
  assert.equal(await callSlots.count("org"), 0);
});

test("a token is accepted once, and again after its time or its release", async (context) => {
  const { onceTokens } = await open(context);
  const takes = await Promise.all(
    Array.from({ length: 20 }, () => onceTokens.take("a", "first", DAY_MS)),
  );
  assert.equal(takes.filter(({ isFirst }) => isFirst).length, 1);
  assert.deepEqual(await onceTokens.take("a", "second", DAY_MS), {
    isFirst: false,
    value: "first",
  });
  await onceTokens.release("a");
  assert.equal(
    (await onceTokens.take("a", null, DAY_MS)).isFirst,
    false,
    "it has opened something",
  );
  assert.ok((await onceTokens.take("b", null, DAY_MS)).isFirst);
  await onceTokens.release("b");
  assert.ok((await onceTokens.take("b", null, -1)).isFirst);
  assert.ok((await onceTokens.take("b", null, DAY_MS)).isFirst, "its time was over");
  await onceTokens.remember("b", "key");
  assert.equal((await onceTokens.take("b", null, DAY_MS)).value, "key");
});

test("a value is taken out once, within its time, and one owner has no more than allowed", async (context) => {
  const { onceTokens } = await open(context);
  const row = { owner: "org", value: "claims" };
  assert.ok(await onceTokens.put("a", row, DAY_MS, 2));
  assert.ok(await onceTokens.put("b", row, DAY_MS, 2));
  assert.equal(await onceTokens.put("c", row, DAY_MS, 2), false);
  assert.equal(await onceTokens.takeOut("a"), "claims");
  assert.equal(await onceTokens.takeOut("a"), undefined);
  assert.ok(await onceTokens.put("old", row, -1, 2));
  assert.equal(await onceTokens.takeOut("old"), undefined);
  await onceTokens.purge();
  assert.ok(await onceTokens.put("old", row, DAY_MS, 2), "what is too old was forgotten");
});

test("a page's token is accepted once, also if the clock of a server is late", async (context) => {
  const database = await open(context);
  const expiresAtMs = Date.now();
  const token = { nonce: "a", expiresAtMs, historyKey: undefined };
  const at = (ms: number) => nodeTokens(database, new VirtualClock(ms), new SilentLogger());
  assert.equal(await at(expiresAtMs).takeToken(token), undefined);
  const late = at(expiresAtMs - 5_000);
  assert.equal(await late.takeToken(token), "the token was used for another call");
});

test("which call a page's token has opened is stored once the database is back", async (context) => {
  const database = await open(context);
  const { onceTokens } = database;
  const clock = new VirtualClock(Date.now());
  const tokens = nodeTokens(database, clock, new SilentLogger());
  const token = { nonce: "a", expiresAtMs: clock.epochMs() + DAY_MS };
  assert.equal(await tokens.takeToken({ ...token, historyKey: undefined }), undefined);
  const away = () => Promise.reject(new Error("the database is away"));
  const remembering = context.mock.method(onceTokens, "remember");
  for (const time of [0, 1]) remembering.mock.mockImplementationOnce(away, time);
  tokens.tokenOpened({ ...token, historyKey: "key" });
  for (let tries = 1; tries < 3; tries += 1) {
    while (clock.pendingTimerCount === 0) await new Promise(setImmediate);
    clock.advance(2_000);
  }
  await remembering.mock.calls[2]?.result;
  assert.equal(await tokens.takeToken({ ...token, historyKey: "key" }), undefined);
  assert.equal(clock.pendingTimerCount, 0);
});
