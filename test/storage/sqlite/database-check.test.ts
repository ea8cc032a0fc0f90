import assert from "node:assert/strict";
import { once } from "node:events";
import { copyFileSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { type TestContext, test } from "node:test";
import { openDatabase } from "../../../storage/database.js";
import { checkDatabase, type DatabaseReport } from "../../../storage/sqlite/database-check.js";
import { Sqlite } from "../../../storage/sqlite/sqlite-library.js";
import { callRecord, insertOrganizations, NOON_MS } from "../sample-records.js";
import { temporaryDatabase, temporaryFile } from "../temporary-file.js";
import { otherProcess, saidBy } from "./other-process.js";

const CALLS = 400;

/** Returns a closed database whose data is all in the one file. */
async function filledFile(): Promise<string> {
  const filePath = temporaryFile();
  const database = await openDatabase({ filePath });
  await insertOrganizations(database);
  await Promise.all(
    Array.from({ length: CALLS }, (_, index) =>
      database.calls.start(callRecord({ id: `call ${index}` }), "run"),
    ),
  );
  await database.close();
  return filePath;
}

function change(filePath: string, sql: string): void {
  const file = new Sqlite(filePath);
  file.pragma("foreign_keys = OFF");
  file.exec(sql);
  file.close();
}

test("an intact file has no findings, and its rows are counted", async () => {
  const filePath = await filledFile();
  const { findings, counts, sizeBytes } = checkDatabase(filePath);
  assert.deepEqual(findings, []);
  assert.equal(counts.find(({ table }) => table === "calls")?.rows, CALLS);
  assert.equal(sizeBytes, statSync(filePath).size);
});

test("a file in use is checked in one snapshot, and stays in use", async (context: TestContext) => {
  const filePath = await filledFile();
  const { calls } = await temporaryDatabase(context, filePath);
  await calls.start(callRecord({ id: "newest" }), "run");
  const { findings, counts } = checkDatabase(filePath);
  assert.deepEqual(findings, []);
  assert.equal(counts.find(({ table }) => table === "calls")?.rows, CALLS + 1);
  assert.equal(await calls.closeAbandoned("next run", NOON_MS), CALLS + 1);
});

test("rows that a killed server left only in the log are counted, and stay there", async () => {
  const filePath = await filledFile();
  const server = otherProcess(
    filePath,
    `await database.calls.start(${JSON.stringify(callRecord({ id: "newest" }))}, "run");
     say("stored");
     setInterval(() => {}, 1000);`,
  );
  assert.equal(await saidBy(server), "stored");
  server.kill("SIGKILL");
  await once(server, "exit");
  const before = readFileSync(`${filePath}-wal`);
  assert.ok(before.length > 0);
  const withLog = checkDatabase(filePath);
  assert.deepEqual(withLog.findings, []);
  assert.equal(rowsOfCalls(withLog), CALLS + 1);
  assert.deepEqual(readFileSync(`${filePath}-wal`), before);
  const alone = temporaryFile();
  mkdirSync(dirname(alone));
  copyFileSync(filePath, alone);
  assert.equal(rowsOfCalls(checkDatabase(alone)), CALLS, "without the log the row is not there");
});

function rowsOfCalls({ counts }: DatabaseReport): number | undefined {
  return counts.find(({ table }) => table === "calls")?.rows;
}

test("pages that were overwritten are found", async () => {
  const filePath = await filledFile();
  const bytes = readFileSync(filePath);
  bytes.fill(0x5a, bytes.length >> 1, (bytes.length >> 1) + 32 * 1024);
  writeFileSync(filePath, bytes);
  const { findings } = checkDatabase(filePath);
  assert.ok(findings.length > 0 && findings.length <= 100);
  assert.match(findings.join("\n"), /page|malformed/i);
});

test("a wrong list of free pages is found, even if every row can be read", async () => {
  const filePath = await filledFile();
  const bytes = readFileSync(filePath);
  // The number of free pages in the file's header.
  bytes.writeUInt32BE(7, 36);
  writeFileSync(filePath, bytes);
  const report = checkDatabase(filePath);
  assert.match(report.findings.join("\n"), /free ?list/i);
  assert.equal(rowsOfCalls(report), CALLS);
});

test("a file that is truncated, or is not a database, is a finding and not a crash", async () => {
  const filePath = await filledFile();
  const bytes = readFileSync(filePath);
  writeFileSync(filePath, bytes.subarray(0, bytes.length >> 1));
  assert.notDeepEqual(checkDatabase(filePath).findings, []);
  writeFileSync(filePath, "this is not a database, but long enough to be looked at ".repeat(50));
  assert.match(checkDatabase(filePath).findings.join(), /file is not a database/);
});

test("references to missing rows and wrong totals are found", async () => {
  const filePath = await filledFile();
  change(filePath, "delete from organizations where id = 'org'");
  change(filePath, "update callTotals set calls = calls + 1");
  const findings = checkDatabase(filePath).findings.join("\n");
  assert.match(findings, /400 rows of calls refer to a row of organizations that is missing/);
  assert.match(findings, /there are 400 calls, and callTotals says 401/);
});

test("at most a hundred findings are reported", async () => {
  const filePath = await filledFile();
  const tables = Array.from({ length: 101 }, (_, index) => `lost${index}`);
  const made = (table: string) =>
    `create table ${table} (orgId text references organizations (id)); insert into ${table} values ('x');`;
  change(filePath, tables.map(made).join(""));
  assert.equal(checkDatabase(filePath).findings.length, 100);
});

test("a file without tables is not an intact database, and neither is another program's", () => {
  const filePath = temporaryFile();
  mkdirSync(dirname(filePath), { recursive: true });
  writeFileSync(filePath, "");
  assert.match(checkDatabase(filePath).findings.join(), /it has no tables: the file is empty/);
  const file = new Sqlite(filePath);
  file.exec("create table letters (text)");
  file.close();
  assert.match(checkDatabase(filePath).findings.join(), /not a Parley database: no table org/);
});
