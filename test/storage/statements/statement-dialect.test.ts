import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { Kysely, sql } from "kysely";
import type { ThreadClient } from "../../../storage/sqlite/thread-client.js";
import { AtomicRequests } from "../../../storage/statements/atomic-requests.js";
import { RecordChanges } from "../../../storage/statements/record-changes.js";
import { sqliteDialect } from "../../../storage/statements/statement-dialect.js";
import type { StatementPort } from "../../../storage/statements/statement-port.js";
import { StorageError } from "../../../storage/statements/storage-error.js";
import { UniqueViolationError } from "../../../storage/statements/unique-violation.js";
import type { Tables } from "../../../storage/tables.js";
import { temporaryThread } from "../sqlite/temporary-thread.js";

/** A thread has one writer: itself. */
function portOf(client: ThreadClient): StatementPort {
  return {
    writers: "one",
    send: (statements, guarded) => client.send(statements, guarded),
    read: (statements) => client.send(statements, false),
  };
}

async function open(context: TestContext) {
  const client = await temporaryThread(context);
  const db = new Kysely<Tables>({ dialect: sqliteDialect(client) });
  return { db, atomic: new AtomicRequests(portOf(client), new RecordChanges()) };
}

test("queries return how many rows they have touched", async (context) => {
  const { db } = await open(context);
  const inserted = await db
    .insertInto("runs")
    .values([
      { id: "a", heartbeatAtMs: 1 },
      { id: "b", heartbeatAtMs: 2 },
    ])
    .executeTakeFirst();
  assert.equal(inserted.numInsertedOrUpdatedRows, 2n);
  const { numUpdatedRows } = await db
    .updateTable("runs")
    .set({ heartbeatAtMs: 3 })
    .where("id", "=", "b")
    .executeTakeFirst();
  assert.equal(numUpdatedRows, 1n);
  assert.deepEqual(await db.deleteFrom("runs").where("id", "=", "a").returningAll().execute(), [
    { id: "a", heartbeatAtMs: 1, uptimeMs: null },
  ]);
});

test("a single query is not a guard", async () => {
  const asked: unknown[] = [];
  const send: StatementPort["send"] = async (statements, guarded) => {
    asked.push([statements.length, guarded]);
    return [{ rows: [], changes: 0 }];
  };
  const db = new Kysely<Tables>({ dialect: sqliteDialect({ send }) });
  assert.deepEqual(await db.selectFrom("runs").selectAll().execute(), []);
  assert.deepEqual(asked, [[1, false]]);
});

test("several queries run as one transaction, and return their rows in order", async (context) => {
  const { db, atomic } = await open(context);
  const insert = db.insertInto("runs").values({ id: "a", heartbeatAtMs: 1 });
  const [inserted, selected] = await atomic.run([insert, db.selectFrom("runs").selectAll()]);
  assert.equal(inserted.changes, 1);
  assert.deepEqual(selected.rows, [{ id: "a", heartbeatAtMs: 1, uptimeMs: null }]);
  const other = db.insertInto("runs").values({ id: "b", heartbeatAtMs: 1 });
  await assert.rejects(atomic.run([other, insert]), UniqueViolationError);
  assert.deepEqual(await db.selectFrom("runs").select("id").execute(), [{ id: "a" }]);
});

test("a transaction that would stay open is refused with a message", async (context) => {
  const { db } = await open(context);
  await assert.rejects(
    db.transaction().execute(() => Promise.resolve()),
    /open transactions are not supported/,
  );
});

test("rows are not streamed", async (context) => {
  const { db } = await open(context);
  await assert.rejects(async () => {
    for await (const _row of db.selectFrom("runs").selectAll().stream()) assert.fail();
  }, /read in pages/);
});

test("invalid SQL and broken checks are reported with SQLite's code, and without values", async (context) => {
  const { db } = await open(context);
  await assert.rejects(sql`select * from nowhere`.execute(db), {
    name: "StorageError",
    databaseCode: "SQLITE_ERROR",
  });
  const secret = "hunter2";
  await assert.rejects(
    sql`insert into runs (id, heartbeatAtMs) values ('a', ${secret})`.execute(db),
    (error: unknown) => {
      assert.ok(error instanceof StorageError);
      assert.match(error.databaseCode, /^SQLITE_CONSTRAINT/);
      assert.ok(!error.message.includes(secret));
      return true;
    },
  );
});

test("the tables can be listed as with any dialect", async (context) => {
  const { db } = await open(context);
  const tables = (await db.introspection.getTables()).map(({ name }) => name);
  assert.ok(tables.includes("calls"));
});
