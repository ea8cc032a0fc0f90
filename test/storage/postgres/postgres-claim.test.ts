import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { PostgresClaim } from "../../../storage/postgres/postgres-claim.js";
import { StorageUnavailableError } from "../../../storage/statements/storage-error.js";
import { saidByServer } from "./scripted-pool.js";
import { ScriptedServer } from "./scripted-server.js";

/** A server whose locks are free or taken, as the test determines. */
async function lockServer(context: TestContext) {
  const server = await ScriptedServer.start(context);
  const locks = { taken: true, shared: true, lasting: true };
  server.answer = ({ sql }) => (sql.startsWith("select pg_try") ? [locks] : []);
  const take = (node?: string) => PostgresClaim.take(server.url, server.address, node);
  /** Breaks the connections, and resolves when the client has noticed. */
  const lost = async () => {
    server.drop();
    while (server.openCount > 0) await new Promise(setImmediate);
    // The client notices within a few turns of the event loop.
    for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
  };
  return { server, locks, take, lost };
}

const unavailable = (words: RegExp) => (error: unknown) =>
  error instanceof StorageUnavailableError && words.test(error.message);

async function allClosed(server: ScriptedServer): Promise<void> {
  while (server.openCount > 0) await new Promise(setImmediate);
}

test("a database is claimed by a lock that lasts as long as its connection, whose loss is noticed", async (t) => {
  const { server, locks, take } = await lockServer(t);
  const claim = await take();
  assert.equal(claim.lockWasThere, true);
  const [probes = "", lock = ""] = server.asked;
  assert.equal(
    probes,
    "set tcp_keepalives_idle = 5; set tcp_keepalives_interval = 2; set tcp_keepalives_count = 3",
  );
  // Every release uses this number for the lock.
  assert.match(lock, /^select pg_try_advisory_lock\(1345673305, hashtext\(current_schema\(\)\)\)/);
  assert.match(lock, /pg_postmaster_start_time\(\) > interval '30 s' as lasting$/);
  assert.equal(server.openCount, 1);
  await claim.close();
  await allClosed(server);
  locks.lasting = false;
  const fresh = await take();
  assert.equal(fresh.lockWasThere, false, "the database has just started and lost its locks");
  await fresh.close();
});

test("a name is claimed next to others, under a lock that excludes a claim of the whole database", async (t) => {
  const { server, take } = await lockServer(t);
  const claim = await take("one");
  const { sql, values } = server.told[1] ?? { sql: "", values: [] };
  assert.match(
    sql,
    /pg_try_advisory_lock_shared\(1345673305, hashtext\(current_schema\(\)\)\) as shared/,
  );
  assert.match(
    sql,
    /pg_try_advisory_lock\(1345673306, hashtext\(current_schema\(\) \|\| '\/' \|\| \$1\)\) as taken/,
  );
  assert.deepEqual(values, ["one"]);
  await claim.close();
});

test("a claim that another server holds is refused with its name, and no connection remains", async (t) => {
  const { server, locks, take } = await lockServer(t);
  const whole = `another server runs on PostgreSQL at ${server.address}: stop that one first`;
  const named = `another server named one runs on PostgreSQL at ${server.address}: give this one a NODE_NAME`;
  for (const [taken, shared, node, words] of [
    [false, true, undefined, whole],
    [true, false, undefined, whole],
    [false, true, "one", named],
    [true, false, "one", whole],
    [false, false, "one", whole],
  ] as const) {
    Object.assign(locks, { taken, shared });
    await assert.rejects(take(node), (error) => {
      assert.ok(error instanceof StorageUnavailableError);
      assert.ok(error.message.startsWith(words), error.message);
      return true;
    });
  }
  server.answer = () => {
    throw saidByServer("53300");
  };
  await assert.rejects(take(), { code: "53300" });
  await allClosed(server);
});

test("a claim whose connection was lost is renewed by the health check, once for all concurrent ones", async (t) => {
  const { server, locks, take, lost } = await lockServer(t);
  const claim = await take("one");
  await claim.renew();
  assert.equal(server.connectionCount, 1, "the connection is still open");
  for (const count of [2, 3]) {
    await lost();
    await Promise.all([claim.renew(), claim.renew()]);
    await claim.renew();
    assert.deepEqual([server.connectionCount, server.openCount], [count, 1]);
    assert.deepEqual(server.told.at(-1)?.values, ["one"]);
  }
  await lost();
  locks.taken = false;
  const words = new RegExp(`another server named one runs on PostgreSQL at ${server.address}:`);
  await assert.rejects(claim.renew(), unavailable(words));
  await assert.rejects(claim.renew(), unavailable(/another server named one runs on/));
  await claim.close();
  locks.taken = true;
  await claim.renew();
  assert.equal(server.openCount, 1);
  await claim.close();
  await allClosed(server);
});
