import assert from "node:assert/strict";
import { mkdir, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { backupInThread } from "../../../../storage/sqlite/backup/backup-start.js";
import { checkDatabase } from "../../../../storage/sqlite/database-check.js";
import { openFile } from "../../../../storage/sqlite/server-claim.js";
import { StorageError } from "../../../../storage/statements/storage-error.js";
import { insertOrganizations } from "../../sample-records.js";
import { createDatabaseFile, temporaryDatabase, temporaryFile } from "../../temporary-file.js";
import { killAtEachStep } from "../rigs/killed-process.js";

const BACKUP = import.meta.resolve("../../../../storage/sqlite/backup/live-backup.js");
const STEPS = ["mkdtemp", "readdir", "rm", "open", "backup", "link", "rename"];
/** Older than the files of a process that has only just started can be. */
const YESTERDAY_SEC = 1_700_000_000;

async function source(context: Parameters<typeof temporaryDatabase>[0]): Promise<string> {
  const filePath = temporaryFile();
  await createDatabaseFile(filePath);
  await insertOrganizations(await temporaryDatabase(context, filePath));
  return filePath;
}

function program(sourcePath: string, targetPath: string): string {
  return `await loaded.backupDatabase(${JSON.stringify(sourcePath)}, ${JSON.stringify(targetPath)});`;
}

/** The copy must be complete, or not exist. */
function assertWholeOrNothing(names: readonly string[], folder: string, step: number): void {
  if (!names.includes("copy.db")) return;
  const { findings, counts } = checkDatabase(join(folder, "copy.db"));
  assert.deepEqual(findings, [], `killed before step ${step}`);
  assert.equal(counts.find(({ table }) => table === "organizations")?.rows, 2);
}

test("a backup that is killed at any step leaves a complete copy or none, and the next one removes leftovers", async (t) => {
  const sourcePath = await source(t);
  const folder = join(dirname(sourcePath));
  const targetPath = join(folder, "copy.db");
  let leftovers = 0;
  const stepCount = await killAtEachStep({
    steps: STEPS,
    moduleUrl: BACKUP,
    program: program(sourcePath, targetPath),
    beforeEach: () => rm(targetPath, { force: true }),
    onKilled: async (step) => {
      const names = await readdir(folder);
      assertWholeOrNothing(names, folder, step);
      const partials = names.filter((name) => name.includes(".partial-"));
      leftovers += partials.length;
      // A folder without a copy may belong to a backup that has just begun, so it is kept until it is old.
      for (const name of partials) {
        if ((await readdir(join(folder, name))).includes("copy.db")) continue;
        await utimes(join(folder, name), YESTERDAY_SEC, YESTERDAY_SEC);
      }
    },
  });
  assert.ok(stepCount > 8, `${stepCount} steps`);
  assert.ok(leftovers > 3, "kills have left something to be removed");
  const left = (await readdir(folder)).filter((name) => /^copy\.db$|partial/.test(name));
  assert.deepEqual(left, ["copy.db"]);
});

test("without hard links the copy appears completely, too", async (t) => {
  const sourcePath = await source(t);
  const folder = dirname(sourcePath);
  const without = `const fsp = require("node:fs/promises");
    fsp.link = () => Promise.reject(Object.assign(new Error("no links here"), { code: "EPERM" }));
    require("node:module").syncBuiltinESMExports();`;
  await killAtEachStep({
    steps: ["rename", "rm"],
    moduleUrl: BACKUP,
    before: without,
    program: program(sourcePath, join(folder, "copy.db")),
    beforeEach: () => rm(join(folder, "copy.db"), { force: true }),
    onKilled: async (step) => assertWholeOrNothing(await readdir(folder), folder, step),
  });
});

test("a copy in progress of another process is kept, and so are files that no backup created", async (t) => {
  const sourcePath = await source(t);
  const folder = dirname(sourcePath);
  const begun = join(folder, "begun.db.partial-abcdef");
  await mkdir(begun);
  await writeFile(join(begun, "copy.db"), "");
  const heldToo = openFile(join(begun, "copy.lock"));
  const foreign = join(folder, "letters.partial-abcdef");
  await mkdir(foreign);
  await writeFile(join(foreign, "letter.txt"), "dear reader");
  const busy = join(folder, "busy.db.partial-abcdef");
  await mkdir(busy);
  const held = openFile(join(busy, "copy.lock"));
  const empty = join(folder, "letters");
  await mkdir(empty);
  const file = join(folder, "notes.partial-abcdef");
  await writeFile(file, "not to forget");
  const young = join(folder, "young.db.partial-abcdef");
  await mkdir(young);
  for (const path of [foreign, busy, empty, file]) await utimes(path, YESTERDAY_SEC, YESTERDAY_SEC);
  await backupInThread({ sourcePath, targetPath: join(folder, "copy.db") });
  const names = new Set(await readdir(folder));
  for (const path of [foreign, busy, begun, empty, file, young])
    assert.ok(names.has(path.slice(folder.length + 1)));
  held?.close();
  heldToo?.close();
});

test("an empty database is not copied: the copy would look intact", async () => {
  const sourcePath = temporaryFile();
  await createDatabaseFile(sourcePath);
  await writeFile(sourcePath, "");
  const targetPath = join(dirname(sourcePath), "copy.db");
  await assert.rejects(backupInThread({ sourcePath, targetPath }), (error) => {
    assert.ok(error instanceof StorageError);
    return /the copy is incomplete: it has no tables/.test(error.message);
  });
  assert.deepEqual(await readdir(dirname(sourcePath)), ["parley.db"]);
});
