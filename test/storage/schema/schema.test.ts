import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { type TestContext, test } from "node:test";
import type BetterSqlite3 from "better-sqlite3";
import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from "kysely";
import { migrationNames } from "../../../storage/schema/migrations.js";
import { migrationsOf } from "../../../storage/schema/schema.js";
import { checkDatabase } from "../../../storage/sqlite/database-check.js";
import { updateSchema } from "../../../storage/sqlite/schema-update.js";
import { SCHEMA_VERSION } from "../../../storage/sqlite/sqlite-file.js";
import { Sqlite } from "../../../storage/sqlite/sqlite-library.js";
import { tables } from "../../../storage/tables.js";
import { createDatabaseFile, temporaryDatabase, temporaryFile } from "../temporary-file.js";
import {
  notedMigrations,
  releasedAgentToday,
  releasedMigrations,
  writeReleasedFile,
} from "./releases.js";
import { sqliteShape } from "./schema-shape.js";

/** More rows than a migration reads at once. */
const ROWS = 1_203;

function opened(context: TestContext, filePath: string): BetterSqlite3.Database {
  const file = new Sqlite(filePath);
  context.after(() => file.close());
  return file;
}

async function newShape(context: TestContext) {
  const filePath = temporaryFile();
  await createDatabaseFile(filePath);
  return sqliteShape(opened(context, filePath));
}

function rowsOf(file: BetterSqlite3.Database, table: string): readonly object[] {
  return file.prepare(`select * from "${table}" order by 1, 2`).all() as object[];
}

test("a file created by f0d55b19 is migrated, and has the same rows", async (context) => {
  const filePath = temporaryFile();
  await mkdir(dirname(filePath), { recursive: true });
  await writeReleasedFile(filePath);
  const file = opened(context, filePath);
  const names = file
    .prepare("select name from sqlite_schema where type = 'table' and name not like 'kysely%'")
    .pluck()
    .all()
    .map(String);
  const before = names.map((name) => rowsOf(file, name));
  const agents = before[names.indexOf("agents")]?.map(releasedAgentToday) ?? [];
  assert.equal(agents.length, 2);
  assert.ok(before.every((rows) => rows.length > 0));
  assert.equal(file.pragma("user_version", { simple: true }), 14);

  const database = await temporaryDatabase(context, filePath);
  for (const [index, name] of names.entries()) {
    const expected = name === "agents" ? agents : before[index];
    const columns = Object.keys(expected?.[0] ?? {});
    const after = rowsOf(file, name).map((row) =>
      Object.fromEntries(Object.entries(row).filter(([column]) => columns.includes(column))),
    );
    assert.deepEqual(
      after,
      expected?.map((row) => ({ ...row })),
      name,
    );
  }
  assert.equal(file.pragma("user_version", { simple: true }), SCHEMA_VERSION);
  assert.deepEqual(sqliteShape(file), await newShape(context));
  assert.deepEqual(checkDatabase(filePath).findings, []);
  const call = await database.calls.findById("org", "one");
  assert.deepEqual(
    [call?.status, call?.transcript.map(({ text }) => text)],
    ["completed", ["¿Sí?"]],
  );
  assert.equal((await database.agents.list("org")).length, 1);
});

test("a file of every earlier schema is migrated to the current tables, columns, indexes and keys", async (context) => {
  const expected = await newShape(context);
  const released = releasedMigrations("sqlite");
  assert.equal(released.length, 14);
  for (let count = 1; count <= released.length; count += 1) {
    const file = opened(context, ":memory:");
    const first = released.slice(0, count);
    for (const { sql } of first) file.exec(sql);
    file.exec(notedMigrations(first));
    await updateSchema(file, SCHEMA_VERSION);
    assert.deepEqual(sqliteShape(file), expected, first.at(-1)?.name);
  }
});

test("calls and agents of the previous schema get the new names of their fields, however many there are", async (context) => {
  const file = opened(context, ":memory:");
  const released = releasedMigrations("sqlite");
  for (const { sql } of released) file.exec(sql);
  file.exec(notedMigrations(released));
  file.pragma("foreign_keys = off");
  file.pragma("ignore_check_constraints = on");
  const turns = [{ turn: 1, waitingWords: 2, earlyMs: 80.5, underruns: 1 }, { turn: 2 }];
  const metadata = JSON.stringify({
    direction: "web",
    deafMs: 900,
    deafForLong: true,
    turns,
    endReason: "listeningFailed",
  });
  const plain = JSON.stringify({ direction: "web", note: "waitingWords", endReason: "callerLeft" });
  const insert = insertOf(file, "calls");
  for (let n = 0; n < ROWS; n += 1) {
    insert({ id: String(n).padStart(4, "0"), metadata: n === 3 ? plain : metadata });
  }
  const agents = insertOf(file, "agents");
  agents({ id: "reply", thresholds: '{"agreementWords":"answered","patienceMs":900}' });
  agents({ id: "both", thresholds: '{"patienceMs":900,"maxEndpointingDelayMs":1000}' });

  await updateSchema(file, SCHEMA_VERSION);
  const stored = file.prepare("select metadata from calls order by id").pluck().all();
  const renamed = {
    direction: "web",
    sttOutageMs: 900,
    longSttOutage: true,
    turns: [{ turn: 1, fillerCount: 2, preemptiveMs: 80.5, underruns: 1 }, { turn: 2 }],
    endReason: "sttFailed",
  };
  assert.equal(stored[3], plain);
  stored.splice(3, 1);
  assert.deepEqual(stored, Array(ROWS - 1).fill(JSON.stringify(renamed)));
  const thresholds = file.prepare("select thresholds from agents order by id desc").pluck().all();
  assert.deepEqual(thresholds, [
    '{"backchannels":"reply","maxEndpointingDelayMs":900}',
    '{"maxEndpointingDelayMs":1000}',
  ]);
});

/** Inserts rows of which only some columns matter; the others get a unique value of their type. */
function insertOf(file: BetterSqlite3.Database, table: string) {
  const columns = file.pragma(`table_info("${table}")`) as readonly {
    readonly name: string;
    readonly type: string;
    readonly notnull: number;
    readonly dflt_value: string | null;
  }[];
  const needed = columns.filter(({ notnull, dflt_value }) => notnull === 1 && dflt_value === null);
  let count = 0;
  return (given: Readonly<Record<string, unknown>>) => {
    count += 1;
    const values = Object.fromEntries(
      needed.map(({ name, type }) => [name, type.toUpperCase() === "TEXT" ? `${count}` : count]),
    );
    const row = { ...values, ...given };
    const names = Object.keys(row);
    file
      .prepare(
        `insert into "${table}" (${names.map((name) => `"${name}"`).join()}) values (${names.map(() => "?").join()})`,
      )
      .run(...Object.values(row));
  };
}

test("released migrations keep their names, and new ones come after them", () => {
  for (const kind of ["sqlite", "postgres"] as const) {
    const released = releasedMigrations(kind).map(({ name }) => name);
    assert.deepEqual(migrationNames(kind).slice(0, released.length), released);
  }
});

/** Every statement that an empty PostgreSQL database gets, in order. */
async function postgresStatements(): Promise<readonly string[]> {
  const statements: string[] = [];
  const db = new Kysely<unknown>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (kysely) => new PostgresIntrospector(kysely),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
    log: ({ query }) => void statements.push(query.sql),
  });
  for (const migration of Object.values(migrationsOf("postgres"))) await migration.up(db);
  return statements;
}

test("a migration removes nothing that servers of the previous release still use", async () => {
  const statements = await postgresStatements();
  assert.ok(statements.length > 30, `${statements.length} statements`);
  // Migration 018 ran before the first release, so no released server needs the old column.
  const dropped = 'alter table "agents" drop column "publicOrigins"';
  for (const statement of statements.filter((one) => one !== dropped)) {
    assert.doesNotMatch(
      statement,
      /\b(?:drop (?!constraint\b)|rename\b|truncate\b|alter column\b)/i,
    );
  }
});

test("a server of f0d55b19, which does not write newer columns, can write every row", () => {
  const sql = releasedMigrations("postgres")
    .map((migration) => migration.sql)
    .join("");
  const written = new Map<string, string>();
  for (const [, name = "", columns = ""] of sql.matchAll(/^create table "(\w+)" \((.*?)^ +\)/gms)) {
    written.set(name, columns);
  }
  for (const [, name = "", column = ""] of sql.matchAll(/^alter table "(\w+)" add column (.*)/gm)) {
    written.set(name, `${written.get(name)}${column}`);
  }
  assert.ok(written.size > 20);
  for (const [name, { columns }] of Object.entries(tables)) {
    for (const [column, { shape }] of Object.entries(columns)) {
      const text = written.get(name);
      if (text === undefined || text.includes(`"${column}" `)) continue;
      assert.ok(shape.isNullable === true || shape.defaultValue !== undefined, `${name}.${column}`);
    }
  }
});
