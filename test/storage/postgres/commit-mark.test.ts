import assert from "node:assert/strict";
import { test } from "node:test";
import { outcomeOf, UncertainCommits } from "../../../storage/postgres/commit-mark.js";
import { StorageStoppedError } from "../../../storage/statements/storage-error.js";
import { ScriptedPool, saidByServer } from "./scripted-pool.js";

const MARK = { id: "mark", atMs: 1_000 };
const FIVE_MINUTES_MS = 300_000;
const LOST = new Error("the connection was lost");

/** A server whose mark says that its transaction was undone or committed. */
function serverWith(isUndone: boolean, ageMs = 0): ScriptedPool {
  const server = new ScriptedPool();
  const row = { isUndone, nowMs: MARK.atMs + ageMs };
  server.answer = (sql) => (sql.startsWith("insert") ? { rows: [row] } : {});
  return server;
}

test("a mark gives its transaction's outcome for five minutes: later it may have been deleted", async () => {
  const told = (isUndone: boolean, ageMs: number) =>
    outcomeOf(serverWith(isUndone, ageMs).pool, MARK);
  assert.equal(await told(false, 0), "committed");
  assert.equal(await told(false, FIVE_MINUTES_MS + 1), "committed");
  assert.equal(await told(true, FIVE_MINUTES_MS), "undone");
  assert.equal(await told(true, FIVE_MINUTES_MS + 1), "forgotten");
});

test("a transaction that holds its mark is in progress, and a lookup leaves no lock behind", async () => {
  const server = new ScriptedPool();
  server.answer = (sql) => {
    if (sql.startsWith("insert")) throw saidByServer("55P03");
    return {};
  };
  assert.equal(await outcomeOf(server.pool, MARK), "underWay");
  assert.deepEqual(server.givenBack, ["closed"]);
  const known = serverWith(false);
  await outcomeOf(known.pool, MARK);
  const [begun, claimed = "", ...rest] = known.asked;
  assert.equal(begun, "begin; set local lock_timeout = '100ms'");
  assert.match(
    claimed,
    /^insert into "commitMarks" as mark \("id", "isUndone"\) values \(\$1, true\)/,
  );
  assert.deepEqual([rest, known.givenBack], [["commit"], ["kept"]]);
  server.answer = () => {
    throw saidByServer("57P01");
  };
  await assert.rejects(outcomeOf(server.pool, MARK), { code: "57P01" });
});

test("a commit is looked up sixty times while the database is down, then its outcome is unknown", async () => {
  const server = new ScriptedPool();
  server.answer = () => {
    throw saidByServer("57P03");
  };
  const lost = new UncertainCommits(server.pool, true);
  const state = { isKnown: false };
  const judged = assert.rejects(
    lost.wasCommitted(MARK, LOST).finally(() => (state.isKnown = true)),
    (error) => error instanceof StorageStoppedError && error.cause === LOST,
  );
  for (let time = 1; time < 60; time += 1) await assert.rejects(lost.settle());
  assert.equal(state.isKnown, false);
  await assert.rejects(lost.settle());
  await judged;
  await lost.settle();
});

test("a commit in progress is looked up again, until its outcome is known", async () => {
  const server = serverWith(false);
  const known = server.answer;
  server.answer = (sql) => {
    if (sql.startsWith("insert")) throw saidByServer("55P03");
    return {};
  };
  const lost = new UncertainCommits(server.pool, true);
  const state = { isKnown: false };
  const outcome = lost.wasCommitted(MARK, LOST).then(() => (state.isKnown = true));
  await lost.settle();
  assert.equal(state.isKnown, false);
  server.answer = known;
  await lost.settle();
  await outcome;
});

test("a lookup that is switched off, or is given up, blocks nothing", async () => {
  const unasked = new UncertainCommits(new ScriptedPool().pool, false);
  await assert.rejects(unasked.wasCommitted(MARK, LOST), StorageStoppedError);
  const lost = new UncertainCommits(serverWith(false).pool, true);
  const waiting = assert.rejects(lost.wasCommitted(MARK, LOST), StorageStoppedError);
  lost.close();
  await waiting;
  await assert.rejects(lost.wasCommitted(MARK, LOST), StorageStoppedError);
});

test("a mark that is too old leaves the outcome of its transaction unknown", async () => {
  const lost = new UncertainCommits(serverWith(true, FIVE_MINUTES_MS + 1).pool, true);
  const outcome = assert.rejects(
    lost.wasCommitted(MARK, LOST),
    (error) => error instanceof StorageStoppedError && error.cause === LOST,
  );
  await lost.settle();
  await outcome;
});

test("each lost commit gets its outcome, once", async () => {
  for (const isUndone of [true, false]) {
    const server = serverWith(isUndone);
    const lost = new UncertainCommits(server.pool, true);
    const outcome = lost.wasCommitted(MARK, LOST);
    const judged = isUndone ? assert.rejects(outcome, LOST) : outcome;
    await lost.settle();
    await judged;
    const asked = server.asked.length;
    await lost.settle();
    assert.equal(server.asked.length, asked, "it is not looked up again");
  }
});
