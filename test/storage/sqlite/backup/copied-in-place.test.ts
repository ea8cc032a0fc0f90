import assert from "node:assert/strict";
import { copyFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import fileSystem, { mkdir, utimes, writeFile } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { backupDatabase } from "../../../../storage/sqlite/backup/live-backup.js";
import { openFile } from "../../../../storage/sqlite/server-claim.js";
import { Sqlite } from "../../../../storage/sqlite/sqlite-library.js";
import { createDatabaseFile, temporaryFile } from "../../temporary-file.js";
import { openFilesIn } from "../open-files.js";

const REFUSED = { message: "the backup's file already exists and is not overwritten" };

/** An intact database, and the path of its copy. */
async function source() {
  const sourcePath = temporaryFile();
  await createDatabaseFile(sourcePath);
  const folder = dirname(sourcePath);
  const targetPath = join(folder, "copy.db");
  /** Creates a file at the copy's path as soon as copying has begun. */
  const overtake = async () => {
    while (!readdirSync(folder).some((name) => name.includes(".partial-"))) {
      await new Promise(setImmediate);
    }
    writeFileSync(targetPath, "dear reader");
  };
  return { sourcePath, folder, targetPath, overtake };
}

/** The names in the folder, without the source's own files. */
function namesIn(folder: string): readonly string[] {
  return readdirSync(folder)
    .filter((name) => !name.startsWith("parley.db"))
    .sort();
}

/** Makes hard links fail with this code, as on a file system without them. */
function withoutLinks(context: TestContext, code: string): void {
  const { link } = fileSystem;
  fileSystem.link = () => Promise.reject(Object.assign(new Error("no links here"), { code }));
  syncBuiltinESMExports();
  context.after(() => {
    fileSystem.link = link;
    syncBuiltinESMExports();
  });
}

test("a copy leaves no open file, and nothing else in the folder", async () => {
  const { sourcePath, folder, targetPath } = await source();
  const { findings } = await backupDatabase(sourcePath, targetPath);
  assert.deepEqual(findings, []);
  assert.deepEqual(namesIn(folder), ["copy.db"]);
  assert.deepEqual(openFilesIn(folder), []);
  await assert.rejects(backupDatabase(sourcePath, targetPath), REFUSED);
});

test("the write-ahead log of a killed server is included in the copy, and stays in place", async (context) => {
  const { sourcePath, folder, targetPath } = await source();
  const writer = new Sqlite(sourcePath);
  context.after(() => writer.close());
  writer.pragma("journal_mode = WAL");
  writer.exec("insert into runs (id, heartbeatAtMs) values ('run', 1)");
  const killed = join(folder, "killed.db");
  for (const end of ["", "-wal"]) copyFileSync(`${sourcePath}${end}`, `${killed}${end}`);
  const log = readFileSync(`${killed}-wal`);
  const { counts } = await backupDatabase(killed, targetPath);
  assert.equal(counts.find(({ table }) => table === "runs")?.rows, 1);
  assert.deepEqual(readFileSync(`${killed}-wal`), log);
});

test("data written after the copying has begun is not in the copy", async (context) => {
  const { sourcePath, folder, targetPath } = await source();
  const writer = new Sqlite(sourcePath);
  context.after(() => writer.close());
  writer.pragma("journal_mode = WAL");
  // More than one copying step, so that the writer gets a turn in between.
  writer.exec("create table ballast (bytes); insert into ballast values (zeroblob(12582912))");
  const write = async () => {
    const isBegun = () =>
      readdirSync(folder)
        .filter((name) => name.includes(".partial-"))
        .some((name) => existsSync(join(folder, name, "copy.db-journal")));
    while (!isBegun()) await new Promise(setImmediate);
    writer.exec("insert into runs (id, heartbeatAtMs) values ('run', 1)");
    assert.equal(existsSync(targetPath), false);
  };
  const [{ counts }] = await Promise.all([backupDatabase(sourcePath, targetPath), write()]);
  assert.equal(counts.find(({ table }) => table === "runs")?.rows, 0);
});

test("a file that appears under the copy's name meanwhile is not overwritten", async () => {
  const { sourcePath, folder, targetPath, overtake } = await source();
  const [copied] = await Promise.allSettled([backupDatabase(sourcePath, targetPath), overtake()]);
  assert.equal(copied.status === "rejected" && copied.reason.message, REFUSED.message);
  assert.equal(readFileSync(targetPath, "utf8"), "dear reader");
  assert.deepEqual(namesIn(folder), ["copy.db"]);
});

for (const code of ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"]) {
  test(`if a file system returns ${code} for a hard link, the copy is renamed, without overwriting an existing file`, async (t) => {
    withoutLinks(t, code);
    const { sourcePath, targetPath } = await source();
    await backupDatabase(sourcePath, targetPath);
    assert.ok(existsSync(targetPath));
    const other = await source();
    const overtaken = Promise.allSettled([
      backupDatabase(other.sourcePath, other.targetPath),
      other.overtake(),
    ]);
    const [copied] = await overtaken;
    assert.equal(copied.status === "rejected" && copied.reason.message, REFUSED.message);
    assert.equal(readFileSync(other.targetPath, "utf8"), "dear reader");
  });
}

test("a copy is flushed to disk before it gets its name, and then its name is flushed", async (context) => {
  const { sourcePath, folder, targetPath } = await source();
  const { link, open } = fileSystem;
  const done: string[] = [];
  fileSystem.link = async (...places) => {
    await link(...places);
    done.push("link");
  };
  fileSystem.open = async (path, ...how) => {
    const file = await open(path, ...how);
    const sync = file.sync.bind(file);
    file.sync = async () => {
      await sync();
      done.push(String(path).replace(/^.*partial-.{6}/, ""));
    };
    return file;
  };
  syncBuiltinESMExports();
  context.after(() => {
    Object.assign(fileSystem, { link, open });
    syncBuiltinESMExports();
  });
  await backupDatabase(sourcePath, targetPath);
  assert.deepEqual(done, ["/copy.db", "link", folder]);
});

test("a damaged database is not copied, and an existing name is reported before the source is read", async () => {
  const { sourcePath, folder, targetPath } = await source();
  writeFileSync(sourcePath, "");
  await assert.rejects(backupDatabase(sourcePath, targetPath), {
    message:
      "the copy is incomplete: it has no tables: the file is empty, or a copy that was cut off",
  });
  assert.deepEqual(namesIn(folder), []);
  writeFileSync(targetPath, "dear reader");
  await assert.rejects(backupDatabase(join(folder, "nowhere.db"), targetPath), REFUSED);
});

test("a copy that cannot get its name is refused with the system's message, and nothing is left of it", async (context) => {
  withoutLinks(context, "EIO");
  const { sourcePath, folder, targetPath } = await source();
  await assert.rejects(backupDatabase(sourcePath, targetPath), { code: "EIO" });
  assert.deepEqual(namesIn(folder), []);
});

test("the next copy removes leftovers of killed ones, and nothing else", async () => {
  const { sourcePath, folder, targetPath } = await source();
  const nowSec = Date.now() / 1_000;
  const leave = async (name: string, ageSec: number, parts: readonly string[]) => {
    const path = join(folder, name);
    await mkdir(path);
    for (const part of parts) await writeFile(join(path, part), "");
    await utimes(path, nowSec - ageSec, nowSec - ageSec);
  };
  const whole = ["copy.db", "copy.db-wal", "copy.db-shm", "copy.db-journal"];
  await leave("one.partial-abc123", 90, [...whole, "copy.lock", "copy.lock-journal"]);
  await leave("two.partial-abc123", 90, []);
  await leave("young.partial-abc123", 30, whole);
  await leave("killed.partial-abc123", 0, [...whole, "copy.lock"]);
  await leave("letters.partial-abc123", 90, ["copy.db", "letter.txt"]);
  await leave("three.partial-abc1234", 90, whole);
  await leave("held.partial-abc123", 0, []);
  const held = openFile(join(folder, "held.partial-abc123", "copy.lock"));
  await utimes(join(folder, "held.partial-abc123"), nowSec - 90, nowSec - 90);
  await backupDatabase(sourcePath, targetPath);
  held?.close();
  assert.deepEqual(namesIn(folder), [
    "copy.db",
    "held.partial-abc123",
    "letters.partial-abc123",
    "three.partial-abc1234",
    "young.partial-abc123",
  ]);
  assert.deepEqual(openFilesIn(folder), []);
});
