import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { connectionSettings, newPool } from "../../../storage/postgres/postgres-pool.js";
import { ScriptedServer } from "./scripted-server.js";

const URL = "postgres://parley@db.internal/calls";

test("a database that hangs times out after seconds, on the server before the client", () => {
  const { connectionString, types, ...settings } = connectionSettings(URL);
  assert.equal(connectionString, URL);
  assert.ok(types);
  assert.deepEqual(settings, {
    connectionTimeoutMillis: 5_000,
    statement_timeout: 10_000,
    query_timeout: 15_000,
    idle_in_transaction_session_timeout: 20_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 5_000,
    application_name: "parley",
  });
});

test("a connection of a pool accepts the next statement before it has answered the last", async () => {
  const pool = newPool(URL);
  assert.equal(pool.options.pipeline, true);
  await pool.end();
});

test("a pool has ten connections by default, and closes those unused for a minute", async () => {
  const [pool, small] = [newPool(URL), newPool(URL, 3)];
  assert.deepEqual([pool.options.max, small.options.max], [10, 3]);
  assert.equal(pool.options.idleTimeoutMillis, 60_000);
  assert.ok(pool.listenerCount("error") > 0, "a broken connection does not end the process");
  await Promise.all([pool.end(), small.end()]);
});

test("a connection that breaks between two statements does not end the process, and is replaced", async (context) => {
  const server = await ScriptedServer.start(context);
  const pool = newPool(server.url, 1);
  const [used, idle] = [await pool.connect(), once(pool, "error")];
  const ended = new Promise<void>((resolve) => used.once("end", resolve));
  server.drop();
  await ended;
  await assert.rejects(used.query("select 1"));
  used.release(true);
  await pool.query("select 1");
  server.drop();
  await idle;
  await pool.query("select 1");
  assert.equal(server.connectionCount, 3);
  await pool.end();
});
