import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { GroupCommit } from "../../../storage/sqlite/group-commit.js";
import type { SqliteFile } from "../../../storage/sqlite/sqlite-file.js";
import { Sqlite } from "../../../storage/sqlite/sqlite-library.js";
import type { Outcome, ThreadRequest } from "../../../storage/sqlite/thread-protocol.js";
import type { Statement } from "../../../storage/statements/statement-port.js";
import { temporaryDatabase, temporaryFile } from "../temporary-file.js";
import { statement } from "./temporary-thread.js";

/** Two tables in a real file, and the group commit for it, in this thread. */
async function openTables(context: TestContext) {
  const filePath = temporaryFile();
  await (await temporaryDatabase(context, filePath)).close();
  const file = new Sqlite(filePath, { timeout: 0 });
  context.after(() => file.close());
  file.pragma("foreign_keys = ON");
  file.exec("create table shelves (id text primary key)");
  file.exec("create table books (id integer primary key, shelf text references shelves (id))");
  return { file, filePath, groupCommit: new GroupCommit(file) };
}

function request(id: number, ...statements: readonly Statement[]): ThreadRequest {
  return { id, statements, guarded: false };
}

function shelf(id: string): Statement {
  return statement("insert into shelves (id) values (?)", id);
}

function kinds(replies: readonly { readonly outcome: Outcome }[]): string[] {
  return replies.map(({ outcome }) =>
    outcome.kind === "fault" ? outcome.fault.kind : outcome.kind,
  );
}

function shelves(file: SqliteFile): unknown[] {
  return file.prepare("select id from shelves order by id").pluck().all();
}

test("a refused statement undoes only its own request", async (context) => {
  const { file, groupCommit } = await openTables(context);
  const { replies, committed } = groupCommit.run([
    request(1, shelf("a")),
    request(2, shelf("a")),
    request(3, shelf("b"), statement("insert into books (shelf) values ('none')")),
    request(4, statement("insert into nothing values (1)")),
    request(5, shelf("c"), shelf("d")),
  ]);
  assert.deepEqual(kinds(replies), ["done", "unique", "foreignKey", "other", "done"]);
  assert.deepEqual(
    replies.map(({ id }) => id),
    [1, 2, 3, 4, 5],
  );
  assert.equal(committed, true);
  assert.deepEqual(shelves(file), ["a", "c", "d"]);
});

test("a guarded statement that changes nothing reports that, alone as well as before others", async (context) => {
  const { file, groupCommit } = await openTables(context);
  const removed = statement("delete from shelves where id = 'none'");
  const { replies } = groupCommit.run([
    { id: 1, statements: [removed], guarded: true },
    { id: 2, statements: [removed, shelf("a")], guarded: true },
    { id: 3, statements: [shelf("b")], guarded: true },
  ]);
  assert.deepEqual(kinds(replies), ["notApplied", "notApplied", "done"]);
  assert.deepEqual(shelves(file), ["b"]);
});

test("a request sees what those before it have done", async (context) => {
  const { groupCommit } = await openTables(context);
  const { replies } = groupCommit.run([
    request(1, shelf("a")),
    request(2, statement("select count(*) as count from shelves")),
  ]);
  assert.deepEqual(replies[1]?.outcome, {
    kind: "done",
    results: [{ rows: [{ count: 1 }], changes: 1 }],
  });
});

test("while another process writes, writers may be retried and readers get results", async (context) => {
  const { filePath, groupCommit } = await openTables(context);
  const other = new Sqlite(filePath);
  context.after(() => other.close());
  other.exec("begin immediate");
  const written = request(1, shelf("a"));
  const { replies, blocked, committed } = groupCommit.run([
    written,
    request(2, statement("select 1 as one")),
  ]);
  assert.deepEqual(blocked, [written]);
  assert.deepEqual(kinds(replies), ["done"]);
  assert.equal(committed, false);
  other.exec("commit");
  assert.equal(groupCommit.run(blocked).committed, true);
});

test("if the transaction is lost, no request is reported as done", async (context) => {
  const { file, groupCommit } = await openTables(context);
  // Rolls back the whole transaction, as a full disk does.
  file.exec(`create trigger disaster before insert on shelves when new.id = 'bad'
    begin select raise(rollback, 'disk full'); end`);
  const { replies, committed } = groupCommit.run([
    request(1, shelf("a")),
    request(2, shelf("bad")),
    request(3, shelf("c")),
  ]);
  assert.deepEqual(kinds(replies), ["other", "other", "other"]);
  assert.equal(committed, false);
  assert.deepEqual(shelves(file), []);
  groupCommit.run([request(4, shelf("b"))]);
  assert.deepEqual(shelves(file), ["b"], "the next group works again");
});

test("a reader gets its result if the transaction is lost, without any of its changes", async (context) => {
  const { file, groupCommit } = await openTables(context);
  file.exec(`create trigger disaster before insert on shelves when new.id = 'bad'
    begin select raise(rollback, 'disk full'); end`);
  const { replies } = groupCommit.run([
    request(1, shelf("a")),
    request(2, statement("select count(*) as count from shelves")),
    request(3, shelf("bad")),
    request(4, statement("select count(*) as count from shelves")),
  ]);
  assert.deepEqual(kinds(replies), ["other", "done", "other", "done"]);
  const none = { kind: "done", results: [{ rows: [{ count: 0 }], changes: 1 }] };
  assert.deepEqual([replies[1]?.outcome, replies[3]?.outcome], [none, none]);
});

test("a refused commit fails the whole group", async (context) => {
  const { file, groupCommit } = await openTables(context);
  file.exec(
    `create table loans (shelf text references shelves (id) deferrable initially deferred)`,
  );
  const { replies, committed } = groupCommit.run([
    request(1, shelf("a")),
    request(2, statement("insert into loans values ('none')")),
  ]);
  assert.deepEqual(kinds(replies), ["foreignKey", "foreignKey"]);
  assert.equal(committed, false);
  assert.deepEqual(shelves(file), []);
});

test("a statement that depends on a change is skipped if the statement before it changed nothing", async (context) => {
  const { file, groupCommit } = await openTables(context);
  const after = (id: string) => ({ ...shelf(id), onlyAfterChange: true }) as const;
  const rename = (from: string, to: string) =>
    statement(`update shelves set id = '${to}' where id = '${from}'`);
  const reading = statement("select id from shelves");
  const { replies } = groupCommit.run([
    request(1, shelf("a"), reading, after("b")),
    request(2, rename("nobody", "x"), after("c"), after("d")),
    request(3, rename("a", "e"), after("f"), after("g")),
  ]);
  assert.deepEqual(kinds(replies), ["done", "done", "done"]);
  assert.deepEqual(shelves(file), ["b", "e", "f", "g"]);
});
