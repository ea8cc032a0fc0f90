import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { PostgresCluster } from "../../bench/stand/postgres-cluster.js";
import { SharedHistory } from "../../engine/calls/shared-history.js";
import { type Database, type DatabaseOptions, openDatabase } from "../../storage/database.js";
import {
  StorageStoppedError,
  StorageUnavailableError,
  StorageUnwritableError,
} from "../../storage/statements/storage-error.js";
import { RecordingLogger } from "../doubles/recording-logger.js";
import {
  agentRecord,
  callRecord,
  insertOrganizations,
  insertProviders,
  METRICS,
  NOON_MS,
} from "../storage/sample-records.js";
import { temporaryFile } from "../storage/temporary-file.js";
import { COMMIT, CuttingProxy } from "./cutting-proxy.js";

const cluster = await PostgresCluster.start();

/** More transactions than the crash undoes. */
const OTHERS_CALLS = 20;
const SAVED = {
  messages: [{ role: "user", text: "Open today?", timestamp: NOON_MS }],
  metrics: METRICS,
  turn: { index: 0 },
  atMs: NOON_MS + 1,
} as const;

async function open(
  context: TestContext,
  url: string,
  options: Partial<DatabaseOptions> = {},
): Promise<Database> {
  const database = await openDatabase({ filePath: temporaryFile(), url, ...options });
  context.after(() => database.close());
  return database;
}

/** A server's database behind a proxy, with a call in progress. */
async function callBehindProxy(context: TestContext) {
  const url = await cluster.makeDatabase();
  const proxy = await CuttingProxy.start(context, url);
  const server = { isServer: true, nodeName: "one" };
  const database = await open(context, proxy.urlOf(url), server);
  await insertOrganizations(database);
  await database.calls.start(callRecord(), "run");
  return { url, proxy, database };
}

/** Looks as a server does, until the request is answered. */
async function lookUntil(database: Database, request: Promise<unknown>): Promise<void> {
  const state = { isOver: false };
  const over = () => {
    state.isOver = true;
  };
  request.then(over, over);
  while (!state.isOver) await database.checkHealth();
}

test("a turn whose commit got no response is stored, and once", async (context) => {
  const { proxy, database } = await callBehindProxy(context);
  proxy.cutNext(COMMIT, "answer");
  const saving = database.calls.saveTurn("call", SAVED);
  await lookUntil(database, saving);
  await saving;
  const call = await database.calls.findById("org", "call");
  assert.deepEqual(call?.transcript, SAVED.messages);
});

test("a turn whose commit never arrived is refused, and may be stored again", async (context) => {
  const { proxy, database } = await callBehindProxy(context);
  proxy.cutNext(COMMIT, "statement");
  const saving = database.calls.saveTurn("call", SAVED);
  await Promise.all([assert.rejects(saving, StorageUnwritableError), lookUntil(database, saving)]);
  await database.calls.saveTurn("call", SAVED);
  const call = await database.calls.findById("org", "call");
  assert.deepEqual(call?.transcript, SAVED.messages);
});

test("a turn that a crash undid is not taken for stored because another server's work has its number", async (context) => {
  // Otherwise what was written may reach the disk before the crash, and its number is not given again.
  await cluster.query("alter system set wal_writer_delay = '10s'");
  await cluster.query("select pg_reload_conf()");
  const { url, proxy, database } = await callBehindProxy(context);
  const held = proxy.holdNext(COMMIT);
  const saving = database.calls.saveTurn("call", SAVED);
  await held;
  await cluster.stop();
  await cluster.resume();
  const other = await open(context, url, { isServer: true, nodeName: "two" });
  for (let call = 0; call < OTHERS_CALLS; call += 1) {
    await other.calls.start(callRecord({ id: `${call}`, sessionId: `${call}` }), "run of two");
  }
  await Promise.all([assert.rejects(saving, StorageUnwritableError), lookUntil(database, saving)]);
  await database.calls.saveTurn("call", SAVED);
  const call = await database.calls.findById("org", "call");
  assert.deepEqual(call?.transcript, SAVED.messages);
});

/** Every place at which the connection of a write may break. */
function breaksOf(statement: string) {
  return [statement, COMMIT].flatMap((text) =>
    (["answer", "statement"] as const).map((cut) => ({ text, cut })),
  );
}

test("a call's addition to its conversation is stored once, wherever the connection breaks", async (context) => {
  const { proxy, database } = await callBehindProxy(context);
  const said = [
    { role: "user", content: "Open today?" },
    { role: "assistant", content: "Until six." },
  ] as const;
  for (const { text, cut } of breaksOf('insert into "sessionHistory"')) {
    const id = { orgId: "org", key: `${cut} at ${text.trim()}` };
    const history = new SharedHistory(database.history, id, [], new RecordingLogger());
    const added = history.add(said);
    proxy.cutNext(text, cut);
    const storing = history.storeUntil(added, NOON_MS);
    await lookUntil(database, storing);
    await storing.catch(() => history.storeUntil(added, NOON_MS));
    assert.deepEqual(await database.history.load("org", id.key, 0), said, id.key);
  }
});

test("a call whose start got no response can be started again, wherever the connection breaks", async (context) => {
  const { proxy, database } = await callBehindProxy(context);
  for (const { text, cut } of breaksOf('insert into "calls"')) {
    const id = `${cut} at ${text.trim()}`;
    const start = () => database.calls.start(callRecord({ id, sessionId: id }), "run");
    proxy.cutNext(text, cut);
    const starting = start();
    await lookUntil(database, starting);
    await starting.catch(start);
    assert.equal((await database.calls.findById("org", id))?.status, "active", id);
  }
});

test("a command that loses the response to its commit reports an unknown outcome", async (context) => {
  const url = await cluster.makeDatabase();
  const proxy = await CuttingProxy.start(context, url);
  const database = await open(context, proxy.urlOf(url));
  await insertOrganizations(database);
  await database.calls.start(callRecord(), "run");
  proxy.cutNext(COMMIT, "answer");
  await assert.rejects(database.calls.saveTurn("call", SAVED), StorageStoppedError);
});

test("a database has one server, and any number of commands next to it", async (context) => {
  const url = await cluster.makeDatabase();
  const server = await open(context, url, { isServer: true });
  await assert.rejects(
    open(context, url, { isServer: true }),
    (error: unknown) =>
      error instanceof StorageUnavailableError &&
      /another server runs on PostgreSQL/.test(error.message),
  );
  await (await open(context, url)).organizations.list();
  await server.close();
  await open(context, url, { isServer: true });
});

test("after the database was down, a server has its lock again and is notified if another took it", async (context) => {
  const url = await cluster.makeDatabase();
  const first = await open(context, url, { isServer: true });
  await cluster.stop();
  const gone = await first.checkHealth();
  assert.equal(gone.fault?.reason, "the database cannot be reached");
  assert.doesNotMatch(gone.fault?.advice ?? "", /unused|parley:/, "no password is told");
  await assert.rejects(first.organizations.list(), StorageUnwritableError);
  await cluster.resume();
  assert.deepEqual(await first.checkHealth(), { fault: undefined, warning: undefined });
  await assert.rejects(open(context, url, { isServer: true }), StorageUnavailableError);

  await cluster.stop();
  await cluster.resume();
  const looks = await Promise.all([first.checkHealth(), first.checkHealth(), first.checkHealth()]);
  assert.ok(
    looks.every(({ warning }) => warning === undefined),
    "it is not in its own way",
  );

  await cluster.stop();
  await cluster.resume();
  const second = await open(context, url, { isServer: true });
  assert.equal(second.isSoleServer, false, "one that lives may be about to come back");
  const { warning } = await first.checkHealth();
  assert.match(warning ?? "", /another server runs on PostgreSQL/);
});

test("of forty concurrent inserts with room for three, three are stored", async (context) => {
  const database = await open(context, await cluster.makeDatabase());
  await insertProviders(database);
  const inserted = await Promise.all(
    Array.from({ length: 40 }, (_, index) =>
      database.agents.insert(agentRecord({ id: `agent ${index}` }), 3),
    ),
  );
  assert.equal(inserted.filter(Boolean).length, 3);
  assert.equal((await database.agents.list("org")).length, 3);
});

test("calls that end all at once are each counted once", async (context) => {
  const database = await open(context, await cluster.makeDatabase());
  await insertOrganizations(database);
  const ids = Array.from({ length: 60 }, (_, index) => `call ${index}`);
  await Promise.all(ids.map((id) => database.calls.start(callRecord({ id }), "run")));
  assert.equal(await database.calls.closeLost(ids, NOON_MS), 60);
  assert.equal(await database.calls.count("org", { status: "active" }), 0);
  assert.equal(await database.calls.count("org", { status: "failed" }), 60);
  const [day] = await database.usage.list("org", "0000-01-01", "9999-12-31");
  assert.equal(day?.calls, 60);
});

test("two that open a new database at once both find its tables", async (context) => {
  const url = await cluster.makeDatabase();
  const both = await Promise.all([open(context, url), open(context, url)]);
  for (const database of both) assert.deepEqual(await database.plans.list(), []);
});

test("a schema that a newer release has only added to is accepted, and one that lacks something is not", async (context) => {
  const url = await cluster.makeDatabase();
  const server = await open(context, url);
  await cluster.query(`update "schemaState" set "version" = 99`, url);
  assert.equal((await server.checkHealth()).fault, undefined);
  await (await open(context, url)).plans.list();
  await cluster.query(`update "schemaState" set "oldestBeside" = 99`, url);
  assert.match((await server.checkHealth()).fault?.reason ?? "", /by a newer version/);
  await assert.rejects(open(context, url), /made by a newer version of Parley: its schema is 99/);
});

test("a database that is missing, or has no tables, is reported with what to do", async (context) => {
  await assert.rejects(
    open(context, cluster.urlOf("nowhere")),
    (error: unknown) =>
      error instanceof StorageUnavailableError && /make it \(createdb\)/.test(error.message),
  );
  const empty = await cluster.makeDatabase();
  await assert.rejects(open(context, empty, { mustExist: true }), /has no tables of Parley/);
});
