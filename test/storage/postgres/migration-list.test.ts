import assert from "node:assert/strict";
import { test } from "node:test";
import { postgresMigrations } from "../../../storage/postgres/migration-list.js";
import { migrations } from "../../../storage/sqlite/migration-list.js";

/** SQLite had seven when PostgreSQL came, which makes the same in two. */
const BEFORE = { sqlite: 7, postgres: 2 };

test("every migration since then is there for both databases, by the same name", () => {
  assert.deepEqual(
    Object.keys(postgresMigrations).slice(BEFORE.postgres),
    Object.keys(migrations).slice(BEFORE.sqlite),
  );
});
