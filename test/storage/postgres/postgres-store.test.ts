import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { POSTGRES_SCHEMA_VERSION } from "../../../storage/postgres/postgres-schema.js";
import { type PostgresOptions, PostgresStore } from "../../../storage/postgres/postgres-store.js";
import {
  StorageStoppedError,
  StorageUnavailableError,
  StorageUnwritableError,
} from "../../../storage/statements/storage-error.js";
import { saidByServer } from "./scripted-pool.js";
import { type Row, ScriptedServer } from "./scripted-server.js";

const UPDATE = { sql: "update calls set status = $1", parameters: ["failed"] };

/** A database with all tables; the test determines its locks and its schema. */
async function newDatabase(context: TestContext) {
  const server = await ScriptedServer.start(context);
  const locks = { taken: true, shared: true, lasting: true };
  const state: Record<string, Row> = {
    schema: { version: POSTGRES_SCHEMA_VERSION, oldestBeside: 1 },
  };
  const answers = { refuse: (_sql: string): void => undefined, hasTables: true };
  server.answer = ({ sql }) => {
    answers.refuse(sql);
    if (sql.startsWith("select pg_try")) return [locks];
    if (sql.startsWith("select to_regclass")) return [{ found: answers.hasTables }];
    if (sql.includes('from "schemaState"') && state["schema"]) return [state["schema"]];
    return [];
  };
  const open = async (options: Partial<PostgresOptions> = {}) => {
    const store = await PostgresStore.open({ url: server.url, ...options });
    context.after(() => store.close());
    return store;
  };
  const allClosed = async () => {
    while (server.openCount > 0) await new Promise(setImmediate);
  };
  return { server, locks, state, answers, open, allClosed };
}

const unavailable = (words: RegExp) => (error: unknown) => {
  assert.ok(error instanceof StorageUnavailableError);
  assert.match(error.message, words);
  return true;
};

test("a server claims the database, or its name in it, and a command claims nothing", async (t) => {
  const { server, locks, open } = await newDatabase(t);
  const command = await open();
  assert.deepEqual([command.isSoleServer, command.writers], [true, "many"]);
  assert.ok(!server.asked.some((sql) => sql.includes("advisory_lock")));
  locks.lasting = false;
  const whole = await open({ isServer: true });
  assert.equal(whole.isSoleServer, false);
  assert.ok(server.asked.some((sql) => sql.startsWith("select pg_try_advisory_lock(")));
  locks.lasting = true;
  const named = await open({ isServer: true, nodeName: "one" });
  assert.equal(named.isSoleServer, true);
  assert.ok(server.told.some(({ values }) => values[0] === "one"));
  const before = server.openCount;
  await named.close();
  while (server.openCount > before - 2) await new Promise(setImmediate);
  await assert.rejects(named.send([UPDATE], false), StorageStoppedError);
});

test("a database that cannot be used is refused with a message, and no connection is left", async (t) => {
  const { server, locks, state, answers, open, allClosed } = await newDatabase(t);
  const at = `PostgreSQL at ${server.address}`;
  locks.taken = false;
  await assert.rejects(open({ isServer: true }), unavailable(/^another server runs on PostgreSQL/));
  locks.taken = true;
  state["schema"] = {
    version: POSTGRES_SCHEMA_VERSION + 2,
    oldestBeside: POSTGRES_SCHEMA_VERSION + 1,
  };
  await assert.rejects(open({ isServer: true }), unavailable(/made by a newer version of Parley/));
  state["schema"] = { version: POSTGRES_SCHEMA_VERSION, oldestBeside: 1 };
  answers.hasTables = false;
  await assert.rejects(
    open({ isServer: true, mustExist: true }),
    unavailable(/has no tables of Parley/),
  );
  answers.hasTables = true;
  await open({ mustExist: true }).then((store) => store.close());
  for (const [code, words] of [
    ["28P01", "as the server says (PG_28P01); its user or password is wrong"],
    ["42501", "as the server says (PG_42501)"],
  ] as const) {
    answers.refuse = () => {
      throw saidByServer(code);
    };
    await assert.rejects(open(), (error: Error) => {
      assert.ok(error instanceof StorageUnavailableError);
      assert.ok(error.message.startsWith(`${at}: ${words}`), error.message);
      assert.equal(Object(error.cause).code, code);
      return true;
    });
  }
  answers.refuse = () => {
    throw saidByServer("23505");
  };
  await assert.rejects(open(), unavailable(/^as the server says$/));
  await allClosed();
});

test("a health check reports a newer schema, a failed write, and a name that another server has taken", async (t) => {
  const { server, locks, state, answers, open } = await newDatabase(t);
  const store = await open({ isServer: true, nodeName: "one" });
  assert.deepEqual(await store.checkHealth(), { fault: undefined, warning: undefined });
  state["schema"] = {
    version: POSTGRES_SCHEMA_VERSION + 2,
    oldestBeside: POSTGRES_SCHEMA_VERSION + 1,
  };
  assert.equal(
    (await store.checkHealth()).fault?.reason,
    "the database was migrated by a newer version",
  );
  state["schema"] = { version: POSTGRES_SCHEMA_VERSION, oldestBeside: 1 };
  answers.refuse = (sql) => {
    if (sql.startsWith("update")) throw saidByServer("53100");
  };
  await assert.rejects(store.send([UPDATE], false), StorageUnwritableError);
  assert.equal(store.writeFault?.reason, "the disk of the database is full");
  assert.ok(store.writeFault.advice.startsWith(`PostgreSQL at ${server.address}: `));
  assert.deepEqual((await store.checkHealth()).fault, store.writeFault);
  answers.refuse = () => undefined;
  await store.send([UPDATE], false);
  assert.deepEqual([store.writeFault, store.stats.groupsCommitted], [undefined, 1]);
  server.drop();
  while (server.openCount > 0) await new Promise(setImmediate);
  for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
  locks.taken = false;
  const { fault, warning } = await store.checkHealth();
  assert.equal(fault, undefined);
  assert.match(warning ?? "", /^another server named one runs on/);
  answers.refuse = (sql) => {
    if (sql.startsWith("select pg_try")) throw saidByServer("57P03");
  };
  const away = await store.checkHealth();
  assert.deepEqual(
    [away.fault?.reason, away.warning],
    ["the database cannot be reached", undefined],
  );
  answers.refuse = () => undefined;
  locks.taken = true;
  assert.equal((await store.checkHealth()).warning, undefined);
});

test("a health check of an unresponsive database reports the reason, and not the lock's holder", async (t) => {
  const { answers, open } = await newDatabase(t);
  const store = await open({ isServer: true });
  answers.refuse = () => {
    throw saidByServer("57P03");
  };
  const { fault, warning } = await store.checkHealth();
  assert.equal(fault?.reason, "the database cannot be reached");
  assert.equal(warning, undefined);
});

test("a command creates missing tables, and notifies the servers", async (t) => {
  const { server, answers, open } = await newDatabase(t);
  answers.hasTables = false;
  const store = await open();
  await store.messageBus.post("parley records", "");
  assert.deepEqual(server.told.at(-1)?.values, ['["parley records"]', ""]);
});

test("a server looks up a commit whose response was lost, a command does not", async (t) => {
  const { server, answers, open } = await newDatabase(t);
  const respond = server.answer;
  const state = { isLost: true };
  server.answer = (told) => {
    if (told.sql.startsWith('insert into "commitMarks" as')) return [{ isUndone: false, nowMs: 0 }];
    if (told.sql.startsWith("begin; insert")) return [];
    return respond(told);
  };
  answers.refuse = (sql) => {
    if (sql === "commit" && state.isLost) throw saidByServer("57P01");
  };
  server.marks = [{ id: "mark", atMs: 0 }];
  const command = await open();
  await assert.rejects(command.send([UPDATE, UPDATE], false), StorageStoppedError);
  const store = await open({ isServer: true });
  const sent = store.send([UPDATE, UPDATE], false);
  while (server.asked.filter((sql) => sql === "commit").length < 2) {
    await new Promise(setImmediate);
  }
  state.isLost = false;
  while (store.stats.requestsWaiting > 0) await store.checkHealth();
  assert.equal((await sent)?.length, 2);
});
