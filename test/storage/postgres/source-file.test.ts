import assert from "node:assert/strict";
import { test } from "node:test";
import {
  measureOf,
  measureSource,
  measureSql,
  tablesOf,
} from "../../../storage/postgres/copy-to-postgres.js";
import { Sqlite } from "../../../storage/sqlite/sqlite-library.js";

test("tables come after those that they refer to, with the names of their columns and of numeric ones", (context) => {
  const file = new Sqlite(":memory:");
  context.after(() => file.close());
  file.exec(`create table books (id integer primary key, title text, shelf text references shelves (id));
    create table loans (book integer references books (id), shelf text references shelves (id), days real);
    create table shelves (id text primary key, above text references shelves (id));
    create table kysely_migration (name text)`);
  assert.deepEqual(tablesOf(file), [
    { name: "shelves", columns: ["id", "above"], numbers: [] },
    { name: "books", columns: ["id", "title", "shelf"], numbers: ["id"] },
    { name: "loans", columns: ["book", "shelf", "days"], numbers: ["book", "days"] },
  ]);
  file.exec("create table one (id references two (id)); create table two (id references one (id))");
  assert.throws(() => tablesOf(file), /^Error: the tables refer to each other in a circle$/);
});

test("a table's size is its rows and the sums of its numeric columns, in the columns' order", (context) => {
  const file = new Sqlite(":memory:");
  context.after(() => file.close());
  file.exec("create table loans (book integer, shelf text, days real)");
  const [loans] = tablesOf(file);
  assert.ok(loans);
  assert.equal(
    measureSql(loans),
    'select count(*) as "rows", coalesce(sum("book"), 0) as "sum0", coalesce(sum("days"), 0) as "sum1" from "loans"',
  );
  assert.deepEqual(measureSource(file, loans), { rows: 0, sums: [0, 0] });
  file.exec("insert into loans values (1, 'a', 1.5), (2, 'b', null)");
  assert.deepEqual(measureSource(file, loans), { rows: 2, sums: [3, 1.5] });
  assert.throws(() => measureOf({ rows: 2, sum0: "3" }));
  assert.throws(() => measureOf(undefined));
});
