import assert from "node:assert/strict";
import { test } from "node:test";
import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from "kysely";
import { postgresMigrations } from "../../../storage/postgres/migration-list.js";
import { migrations } from "../../../storage/sqlite/migration-list.js";
import { openSqliteFile } from "../../../storage/sqlite/sqlite-file.js";
import { temporaryFile } from "../temporary-file.js";

/** SQLite had seven when PostgreSQL came, which makes the same in two. */
const BEFORE = { sqlite: 7, postgres: 2 };
/** What only connections to a server and several servers of one database need; SQLite has neither. */
const POSTGRES_ALONE = ["010-nodes", "012-commit-marks"];

/** A new column has a default, or may be empty: the release before writes none. */
const TAKES_AWAY =
  /\b(?:drop (?!constraint\b)|rename\b|truncate\b|alter column\b|add column (?![^]*(?:default|collate "C"$)))/i;

test("every migration since then is there for both databases, by the same name", () => {
  const sinceThen = Object.keys(postgresMigrations).slice(BEFORE.postgres);
  assert.deepEqual(
    sinceThen,
    [...Object.keys(migrations).slice(BEFORE.sqlite), ...POSTGRES_ALONE].toSorted(),
  );
});

/** All that PostgreSQL is told by the migrations, in order. */
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
  for (const migration of Object.values(postgresMigrations)) await migration.up(db);
  return statements;
}

/** `table.column`, as the statements make them. */
function columnsMade(statements: readonly string[]): readonly string[] {
  return statements.flatMap((statement) => {
    const [, made, added, column] =
      /^create table "(\w+)"|^alter table "(\w+)" add column "(\w+)"/.exec(statement) ?? [];
    if (made === undefined) return added === undefined ? [] : [`${added}.${column}`];
    return [...statement.matchAll(/^ +"(\w+)" /gm)].map(([, name]) => `${made}.${name}`);
  });
}

test("a migration takes nothing away that servers of the release before still use", async () => {
  const statements = await postgresStatements();
  assert.ok(statements.length > 30, `${statements.length} statements`);
  for (const statement of statements) {
    assert.doesNotMatch(statement, TAKES_AWAY);
    // A rule may be made wider, by another of the same name that follows.
    const [, rule] = /drop constraint "(\w+)"/.exec(statement) ?? [];
    if (rule === undefined) continue;
    const next = statements[statements.indexOf(statement) + 1] ?? "";
    assert.ok(next.includes(`add constraint "${rule}"`), statement);
  }
});

test("both databases have the same columns, but for those that only several servers need", async (context) => {
  const file = await openSqliteFile(temporaryFile());
  context.after(() => file.close());
  const inFile = file
    .prepare(
      `select t.name || '.' || c.name from sqlite_schema t, pragma_table_info(t.name) c
       where t.type = 'table' and t.name not like 'kysely%'`,
    )
    .pluck()
    .all();
  const made = columnsMade(await postgresStatements());
  const ofServers = /^(?:nodes|nodeRuns|callSlots|onceTokens|commitMarks|schemaState)\./;
  const shared = made.filter((column) => !ofServers.test(column));
  assert.deepEqual(new Set(shared), new Set(inFile));
  assert.ok(made.length - shared.length > 20, "those of several servers");
});

test("totals are counted, metadata merged and members noted by what the migrations make", async () => {
  const statements = await postgresStatements();
  const made = (pattern: RegExp) =>
    statements.filter((statement) => pattern.test(statement)).length;
  assert.ok(made(/^create (?:or replace )?function json_patch/i) > 0);
  const [targets = ""] = statements
    .filter((each) => each.includes('check ("targetType" in'))
    .slice(-1);
  assert.match(targets, /'node', 'member'/);
});
