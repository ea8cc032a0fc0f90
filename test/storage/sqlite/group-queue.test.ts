import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { GroupCommit, GroupQueue } from "../../../storage/sqlite/group-commit.js";
import { Sqlite } from "../../../storage/sqlite/sqlite-library.js";
import type { Reply, ThreadRequest } from "../../../storage/sqlite/thread-protocol.js";
import { createDatabaseFile, temporaryFile } from "../temporary-file.js";
import { statement } from "./temporary-thread.js";

const LOCK_MAX_MS = 5_000;

/** A queue on a real file, and another connection that takes the lock. */
async function openQueue(context: TestContext) {
  const filePath = temporaryFile();
  await createDatabaseFile(filePath);
  const file = new Sqlite(filePath, { timeout: 0 });
  const other = new Sqlite(filePath);
  context.after(() => file.close());
  context.after(() => other.close());
  file.exec("create table notes (id integer primary key, text text)");
  const clock = { nowMs: 0 };
  const queue = new GroupQueue(new GroupCommit(file), LOCK_MAX_MS, () => clock.nowMs);
  const notes = () => file.prepare("select text from notes order by id").pluck().all();
  return { queue, other, clock, notes };
}

function write(id: number): ThreadRequest {
  const sql = "insert into notes (text) values (?)";
  return { id, statements: [statement(sql, `note ${id}`)], guarded: false };
}

function read(id: number): ThreadRequest {
  return { id, statements: [statement("select count(*) as count from notes")], guarded: false };
}

function outcomes(replies: readonly Reply[]): readonly string[] {
  return replies.map(({ id, outcome }) => {
    const code = outcome.kind === "fault" && outcome.fault.kind === "other" && outcome.fault.code;
    return `${id} ${code || outcome.kind}`;
  });
}

test("readers pass writers that wait for the lock, and writes take effect in the order of their arrival", async (t) => {
  const { queue, other, notes } = await openQueue(t);
  other.exec("begin immediate");
  queue.add([write(1), read(2), write(3)]);
  assert.deepEqual(outcomes(queue.run().replies), ["2 done"]);
  assert.equal(queue.isEmpty, false);
  queue.add([read(4), write(5)]);
  assert.deepEqual(outcomes(queue.run().replies), ["4 done"]);
  other.exec("commit");
  queue.add([write(6)]);
  const { replies, committed } = queue.run();
  assert.deepEqual(outcomes(replies), ["1 done", "3 done", "5 done", "6 done"]);
  assert.equal(committed, true);
  assert.equal(queue.isEmpty, true);
  assert.deepEqual(notes(), ["note 1", "note 3", "note 5", "note 6"]);
});

test("after a lock was held for too long, writers are refused at once until one succeeds", async (t) => {
  const { queue, other, clock } = await openQueue(t);
  other.exec("begin immediate");
  queue.add([write(1)]);
  assert.deepEqual(queue.run().replies, []);
  clock.nowMs = LOCK_MAX_MS - 1;
  queue.add([write(2)]);
  assert.deepEqual(queue.run().replies, []);
  clock.nowMs = LOCK_MAX_MS;
  assert.deepEqual(outcomes(queue.run().replies), ["1 SQLITE_BUSY", "2 SQLITE_BUSY"]);
  assert.equal(queue.isEmpty, true);
  queue.add([read(3), write(4)]);
  assert.deepEqual(outcomes(queue.run().replies), ["3 done", "4 SQLITE_BUSY"], "refused at once");
  other.exec("commit");
  queue.add([write(5)]);
  assert.deepEqual(outcomes(queue.run().replies), ["5 done"]);
  other.exec("begin immediate");
  queue.add([write(6)]);
  assert.deepEqual(queue.run().replies, [], "writers wait for the next lock again");
});

test("a transaction without disk space is lost as a whole, and the next one is attempted", async (t) => {
  const { queue, clock, notes } = await openQueue(t);
  queue.add([
    { id: 1, statements: [statement("pragma max_page_count = 1")], guarded: false },
    { id: 2, statements: [statement("select 1")], guarded: false },
  ]);
  queue.run();
  const big = "insert into notes (text) values (zeroblob(10000000))";
  queue.add([{ id: 3, statements: [statement(big)], guarded: false }, read(4)]);
  clock.nowMs += LOCK_MAX_MS;
  const { replies } = queue.run();
  assert.equal(outcomes(replies)[0], "3 SQLITE_FULL");
  queue.add([write(5)]);
  assert.deepEqual(outcomes(queue.run().replies), ["5 done"]);
  assert.deepEqual(notes(), ["note 5"]);
});
