import assert from "node:assert/strict";
import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { statSync } from "node:fs";
import { chmod, chown, cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import * as v from "valibot";
import { openDatabase } from "../../../storage/database.js";
import { SCHEMA_VERSION } from "../../../storage/sqlite/sqlite-file.js";
import { Sqlite } from "../../../storage/sqlite/sqlite-library.js";
import { otherProcess, saidBy } from "./other-process.js";

const MAIN = fileURLToPath(new URL("../../../main.js", import.meta.url));
const REFUSED_STARTS = fileURLToPath(new URL("./rigs/refused-starts.js", import.meta.url));
const SQLITE = import.meta.resolve("../../../storage/sqlite/sqlite-library.js");
/**
 * Permissions do not restrict root. If root runs the tests, the server runs as the account that owns nothing or, if
 * that account cannot read the program, as root without its capabilities.
 */
const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;
const isNobody = isRoot && isOpenToAll(MAIN);
const WITHOUT_RIGHTS = ["setpriv", "--inh-caps=-all", "--bounding-set=-all"];
const runningProcesses: ChildProcess[] = [];

/** Whether any account may enter all the folders above the file. */
function isOpenToAll(path: string): boolean {
  const above = dirname(path);
  return (statSync(above).mode & 0o001) !== 0 && (above === path || isOpenToAll(above));
}

let folder: string;
/** An intact database as a server leaves it. */
let whole: string;
/** A process that tries starts with the settings that it receives. */
let starter: ChildProcess;
let starterQuestions = 0;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "parley-start-"));
  // So that the account without rights can enter it.
  await chmod(folder, 0o755);
  whole = join(folder, "whole.db");
  starter = spawnWithoutRights(REFUSED_STARTS, {}, ["ignore", "inherit", "inherit", "ipc"]);
  await Promise.all([
    once(starter, "message"),
    openDatabase({ filePath: whole }).then((database) => database.close()),
  ]);
});
after(async () => {
  for (const child of runningProcesses) child.kill("SIGKILL");
  await rm(folder, { recursive: true });
});

/** Creates a data folder with the intact database, which a test then damages. */
async function dataFolder(name: string): Promise<{ dataDir: string; filePath: string }> {
  const dataDir = join(folder, name);
  const filePath = join(dataDir, "parley.db");
  await mkdir(dataDir);
  await cp(whole, filePath);
  if (isNobody) for (const path of [dataDir, filePath]) await chown(path, NOBODY, NOBODY);
  return { dataDir, filePath };
}

const ENVIRONMENT = {
  NODE_ENV: "production",
  JWT_SECRET: "j".repeat(32),
  ENCRYPTION_KEY: "5a".repeat(32),
  HOST: "127.0.0.1",
  PORT: "0",
  LOG_LEVEL: "error",
};

/** Runs a program under the account without rights. */
function spawnWithoutRights(
  program: string,
  environment: Readonly<Record<string, string>>,
  stdio: StdioOptions,
): ChildProcess {
  const command = [...(isRoot && !isNobody ? WITHOUT_RIGHTS : []), process.execPath, program];
  const child = spawn(command[0] ?? "", command.slice(1), {
    // The account cannot write coverage data, and would print an error.
    env: { PATH: process.env["PATH"], NODE_V8_COVERAGE: "", ...environment },
    stdio,
    ...(isNobody ? { uid: NOBODY, gid: NOBODY } : {}),
  });
  runningProcesses.push(child);
  return child;
}

/** Starts a server that must fail. Returns the last line of its error output, which an operator reads. */
async function failedStart(dataDir: string): Promise<string> {
  const environment = { ...ENVIRONMENT, DATA_DIR: dataDir };
  const child = spawnWithoutRights(MAIN, environment, ["ignore", "ignore", "pipe"]);
  assert.ok(child.stderr);
  const [errors, [code]] = await Promise.all([text(child.stderr), once(child, "exit")]);
  assert.equal(code, 1, errors);
  assert.doesNotMatch(errors, /^ +at /m, "no stack");
  assert.equal(errors.trimEnd().split("\n").length, 1, errors);
  return errors.trimEnd();
}

const refused = v.object({ id: v.number(), refusal: v.string() });

/** Returns the message of a failed start, without a process of its own for each. */
async function refusedStart(
  dataDir: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<string> {
  starterQuestions += 1;
  const id = starterQuestions;
  const answered = new Promise<string>((resolve) => {
    starter.on("message", function onMessage(message) {
      const answer = v.parse(refused, message);
      if (answer.id !== id) return;
      starter.off("message", onMessage);
      resolve(answer.refusal);
    });
  });
  starter.send({ id, environment: { ...ENVIRONMENT, DATA_DIR: dataDir, ...settings } });
  return answered;
}

/** Starts a program that holds the database for as long as the tests run. */
async function heldBy(filePath: string, statements: string): Promise<void> {
  const program = `
    const { Sqlite } = await import(${JSON.stringify(SQLITE)});
    const held = new Sqlite(${JSON.stringify(filePath)});
    ${statements}
    say("held");
    // Without a reference it would be garbage-collected, which closes the file.
    setInterval(() => held.open, 1000);`;
  const other = otherProcess(filePath, program);
  runningProcesses.push(other);
  assert.equal(await saidBy(other), "held");
}

test("an overwritten or truncated database is reported with advice on recovery", async () => {
  const overwritten = await dataFolder("overwritten");
  await writeFile(overwritten.filePath, "this is a letter, not a database".repeat(100));
  assert.equal(
    await failedStart(overwritten.dataDir),
    `the database ${overwritten.filePath} is not a SQLite database, or was overwritten: move it away with its -wal and -shm files, and put a backup in its place`,
  );
  const cutOff = await dataFolder("cut-off");
  await writeFile(cutOff.filePath, (await readFile(whole)).subarray(0, 20_000));
  const errors = await failedStart(cutOff.dataDir);
  assert.match(errors, /cut-off\/parley\.db is damaged or was cut off \(.+\): move it away with/);
});

test("an object in the place of a file or a folder is reported", async () => {
  const { dataDir, filePath } = await dataFolder("folder-for-file");
  await rm(filePath);
  await mkdir(filePath);
  assert.equal(
    await refusedStart(dataDir),
    `${filePath} is a folder, and should be a file: move it away`,
  );
  const letter = join(folder, "letter.txt");
  await writeFile(letter, "dear reader");
  assert.equal(
    await refusedStart(letter),
    `${letter} is a file, and should be a folder: move it away, or set DATA_DIR`,
  );
});

test("files that the account may not read or write are reported", async () => {
  const refusal =
    /may not be read and written by the account that this runs under \(uid \d+\): give that account the data folder/;
  const secret = await dataFolder("secret");
  await chmod(secret.filePath, 0o000);
  const ofFile = await refusedStart(secret.dataDir);
  assert.ok(ofFile.startsWith(secret.filePath), ofFile);
  assert.match(ofFile, refusal);

  const closed = await dataFolder("closed");
  await chmod(closed.dataDir, 0o555);
  // Without configured secrets, the keys are the first file to be written.
  for (const settings of [{}, { NODE_ENV: "development", JWT_SECRET: "" }]) {
    const ofFolder = await refusedStart(closed.dataDir, settings);
    assert.ok(ofFolder.startsWith(`the folder ${closed.dataDir} may not`), ofFolder);
    assert.match(ofFolder, refusal);
  }
  const nowhere = await refusedStart(join(closed.dataDir, "new"));
  assert.ok(
    nowhere.startsWith(`the folder ${closed.dataDir}/new is not there and cannot`),
    nowhere,
  );

  const besides = await dataFolder("of-another-account");
  await chmod(closed.dataDir, 0o755);
  await writeFile(`${besides.filePath}-shm`, "", { mode: 0o000 });
  const ofSideFile = await refusedStart(besides.dataDir);
  assert.ok(ofSideFile.startsWith(`${besides.filePath}-shm`), ofSideFile);
  assert.match(ofSideFile, refusal);
});

test("a folder that the system cannot create is reported at once", async () => {
  assert.equal(
    await refusedStart("/proc/parley"),
    "the folder /proc/parley is not there and cannot be made: make it, or set DATA_DIR",
  );
});

test("a database of a newer version is refused with a message, and not changed", async () => {
  const { dataDir, filePath } = await dataFolder("newer");
  const file = new Sqlite(filePath);
  file.exec("insert into kysely_migration (name, timestamp) values ('900-from-the-future', '')");
  file.pragma(`user_version = ${SCHEMA_VERSION + 1}`);
  file.close();
  const before = await readFile(filePath);
  assert.equal(
    await failedStart(dataDir),
    `the database ${filePath} was made by a newer version of Parley: its schema is ${SCHEMA_VERSION + 1}, this version has ${SCHEMA_VERSION}, and does not know 900-from-the-future. Start that version again, or restore a backup from before the upgrade`,
  );
  assert.deepEqual(await readFile(filePath), before);
});

test("a database that another program locks is reported after a wait", async () => {
  const reading = await dataFolder("held");
  const writing = await dataFolder("written-to");
  await heldBy(
    reading.filePath,
    `await database.close();
     held.pragma("locking_mode = EXCLUSIVE");
     held.exec("create table other (id)");`,
  );
  await heldBy(writing.filePath, `held.exec("begin immediate");`);
  const errors = await Promise.all([refusedStart(reading.dataDir), refusedStart(writing.dataDir)]);
  assert.deepEqual(
    errors,
    [reading, writing].map(
      ({ filePath }) =>
        `the database ${filePath} is locked: another program has been writing to it for seconds; end that one, then start again`,
    ),
  );
});
