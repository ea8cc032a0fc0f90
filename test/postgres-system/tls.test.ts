import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chownSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { debianProgram } from "../../bench/stand/debian-program.js";
import { PostgresCluster } from "../../bench/stand/postgres-cluster.js";
import { openDatabase } from "../../storage/database.js";
import { StorageUnavailableError } from "../../storage/statements/storage-error.js";
import { insertOrganizations } from "../storage/sample-records.js";
import { temporaryFile } from "../storage/temporary-file.js";
import { eventually } from "../system/eventually.js";

interface Certificate {
  readonly file: string;
  readonly keyFile: string;
}

/** Makes a certificate of 127.0.0.1 that is signed by itself. */
function certificateIn(folder: string, name: string): Certificate {
  const file = join(folder, `${name}.pem`);
  const keyFile = join(folder, `${name}.key`);
  const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const subject = ["-days", "1", "-subj", `/CN=${name}`, "-addext", "subjectAltName=IP:127.0.0.1"];
  const files = ["-keyout", keyFile, "-out", file];
  execFileSync(debianProgram("openssl"), ["req", "-x509", ...newKey, ...subject, ...files], {
    stdio: "ignore",
  });
  return { file, keyFile };
}

/** PostgreSQL runs as another user than root, and reads no key that others could read too. */
function giveTo(owner: { readonly uid: number; readonly gid: number }, path: string): void {
  if (process.getuid?.() === 0) chownSync(path, owner.uid, owner.gid);
}

test("every connection to PostgreSQL is made over TLS where DATABASE_URL says so, and to no impostor", async (context) => {
  const cluster = await PostgresCluster.start();
  const folder = mkdtempSync(join(tmpdir(), "parley-postgres-tls-"));
  context.after(() => rmSync(folder, { recursive: true }));
  const own = certificateIn(folder, "database");
  const other = certificateIn(folder, "impostor");
  const { rows } = await cluster.query("show data_directory");
  const owner = statSync(dirname(String(rows[0]?.data_directory)));
  for (const path of [folder, own.file, own.keyFile]) giveTo(owner, path);
  await cluster.query(`alter system set ssl_cert_file = '${own.file}'`);
  await cluster.query(`alter system set ssl_key_file = '${own.keyFile}'`);
  await cluster.query("alter system set ssl = on");
  await cluster.query("select pg_reload_conf()");
  await eventually("TLS", async () =>
    (await cluster.query("show ssl")).rows[0]?.ssl === "on" ? true : undefined,
  );

  const plainUrl = await cluster.makeDatabase();
  const over = (rootFile: string, host = "127.0.0.1") => {
    const url = new URL(plainUrl);
    url.hostname = host;
    url.search = `?sslmode=verify-full&sslrootcert=${rootFile}`;
    return url.href;
  };
  const open = (url: string) =>
    openDatabase({ filePath: temporaryFile(), url, isServer: true, nodeName: "one" });
  for (const url of [over(other.file), over(own.file, "localhost")]) {
    await assert.rejects(open(url), (error: unknown) => {
      assert.ok(error instanceof StorageUnavailableError);
      assert.match(error.message, /certificate/);
      assert.match(error.message, /sslrootcert=FILE/);
      assert.doesNotMatch(error.message, /unused|parley:/, "no password is told");
      return true;
    });
  }
  const database = await open(over(own.file));
  context.after(() => database.close());
  await insertOrganizations(database);
  const { messageBus } = database;
  assert.ok(messageBus);
  const stopListening = await messageBus.listen(["news"], {
    onMessages: () => {},
    onLost: () => {},
  });
  context.after(stopListening);
  const { rows: connections } = await cluster.query(
    `select "ssl", "version" from pg_stat_ssl join pg_stat_activity using (pid) where application_name = 'parley'`,
    plainUrl,
  );
  assert.ok(connections.length > 0);
  for (const connection of connections) {
    assert.deepEqual(connection, { ssl: true, version: "TLSv1.3" });
  }
});
