import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type TestContext, test } from "node:test";
import { freePorts } from "../../bench/livestream/free-ports.js";
import { debianProgram } from "../../bench/stand/debian-program.js";
import { PostgresCluster } from "../../bench/stand/postgres-cluster.js";
import { openDatabase } from "../../storage/database.js";
import { StorageUnavailableError } from "../../storage/statements/storage-error.js";
import { insertOrganizations } from "../storage/sample-records.js";
import { temporaryFile } from "../storage/temporary-file.js";

interface Pooling {
  readonly mode: "transaction" | "session";
  readonly ignored?: readonly string[];
}

const STARTUP_PARAMETERS = ["statement_timeout", "idle_in_transaction_session_timeout"];

/** PgBouncer before the database of `url`; gives its own URL. */
async function pgBouncer(
  context: TestContext,
  url: string,
  { mode, ignored = [] }: Pooling,
): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "parley-pooler-"));
  const [port = 0] = await freePorts(1);
  const { hostname, port: databasePort, username, pathname } = new URL(url);
  const settings = [
    "[databases]",
    `* = host=${hostname} port=${databasePort}`,
    "[pgbouncer]",
    `listen_addr = 127.0.0.1`,
    `listen_port = ${port}`,
    "unix_socket_dir =",
    "auth_type = trust",
    `auth_file = ${join(folder, "users.txt")}`,
    `pool_mode = ${mode}`,
    `ignore_startup_parameters = ${ignored.join(",")}`,
  ];
  writeFileSync(join(folder, "users.txt"), `"${username}" "unused"\n`);
  writeFileSync(join(folder, "pgbouncer.ini"), `${settings.join("\n")}\n`);
  chmodSync(folder, 0o755);
  const user = process.getuid?.() === 0 ? ["-u", "postgres"] : [];
  const child: ChildProcess = spawn(
    debianProgram("pgbouncer"),
    [...user, join(folder, "pgbouncer.ini")],
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  context.after(async () => {
    child.kill("SIGKILL");
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    rmSync(folder, { recursive: true });
  });
  assert.ok(child.stderr);
  for await (const line of createInterface({ input: child.stderr })) {
    if (line.includes("process up")) break;
  }
  child.stderr.resume();
  return `postgres://${username}:unused@127.0.0.1:${port}${pathname}`;
}

const server = (url: string, sessionUrl?: string) =>
  openDatabase({ filePath: temporaryFile(), url, sessionUrl, isServer: true, nodeName: "one" });

test("a pooler in transaction mode is refused with what to do, and no lock remains", async (context) => {
  const cluster = await PostgresCluster.start();
  const url = await cluster.makeDatabase();
  const pooled = await pgBouncer(context, url, {
    mode: "transaction",
    ignored: STARTUP_PARAMETERS,
  });
  for (let start = 0; start < 2; start += 1) {
    await assert.rejects(server(pooled), (error) => {
      assert.ok(error instanceof StorageUnavailableError);
      assert.match(error.message, /pooler in transaction mode.*DATABASE_SESSION_URL/);
      assert.doesNotMatch(error.message, /unused/);
      return true;
    });
  }
  const locks = await cluster.query("select 1 from pg_locks where locktype = 'advisory'", url);
  assert.equal(locks.rowCount, 0);

  const bare = await pgBouncer(context, url, { mode: "transaction" });
  await assert.rejects(server(bare), /pooler such as PgBouncer.*DATABASE_SESSION_URL/);

  // The lock is the database's own, and everything else goes through a pooler as it comes.
  const database = await server(bare, url);
  await insertOrganizations(database);
  const { messageBus } = database;
  assert.ok(messageBus);
  const received = new Promise<string>((resolve, reject) => {
    const listener = { onMessages: (_: string, text: string) => resolve(text), onLost: reject };
    messageBus.listen(["words"], listener).then((stop) => {
      context.after(stop);
      return messageBus.post("words", "hello");
    }, reject);
  });
  assert.equal(await received, "hello");
  await assert.rejects(server(bare, url), /another server named one runs/);
  const other = await cluster.makeDatabase();
  await assert.rejects(server(bare, other), /another database than DATABASE_URL/);
  await database.close();
  const again = await server(bare, url);
  await again.close();
});

test("a pooler in session mode is a database like any other", async (context) => {
  const cluster = await PostgresCluster.start();
  const url = await cluster.makeDatabase();
  const pooled = await pgBouncer(context, url, { mode: "session", ignored: STARTUP_PARAMETERS });
  const database = await server(pooled);
  await insertOrganizations(database);
  await assert.rejects(server(pooled), /another server named one runs/);
  await database.close();
});
