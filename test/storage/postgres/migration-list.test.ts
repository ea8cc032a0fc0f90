import assert from "node:assert/strict";
import { test } from "node:test";
import { postgresMigrations } from "../../../storage/postgres/migration-list.js";
import { migrations } from "../../../storage/sqlite/migration-list.js";

/** SQLite had seven when PostgreSQL came, which makes the same in two. */
const BEFORE = { sqlite: 7, postgres: 2 };
/** What only connections to a server and several servers of one database need; SQLite has neither. */
const POSTGRES_ALONE = ["010-nodes", "012-commit-marks"];

test("every migration since then is there for both databases, by the same name", () => {
  const sinceThen = Object.keys(postgresMigrations).slice(BEFORE.postgres);
  assert.deepEqual(
    sinceThen,
    [...Object.keys(migrations).slice(BEFORE.sqlite), ...POSTGRES_ALONE].toSorted(),
  );
});
