import assert from "node:assert/strict";
import { test } from "node:test";
import { Kysely } from "kysely";
import { CompiledStatement } from "../../../storage/statements/compiled-statement.js";
import { sqliteDialect } from "../../../storage/statements/statement-dialect.js";
import type { Tables } from "../../../storage/tables.js";

const db = new Kysely<Tables>({ dialect: sqliteDialect({ send: () => Promise.resolve([]) }) });

test("a statement is built once, and each run has its own values and the fixed ones", () => {
  let builds = 0;
  const statement = new CompiledStatement<{ readonly id: string; readonly limit: number }>(
    (value) => {
      builds += 1;
      return db
        .selectFrom("jobs")
        .select("id")
        .where("id", ">", value("id"))
        .where("kind", "=", "webhook")
        .limit(value("limit"));
    },
  );
  const one = statement.with({ id: "one", limit: 1 }).compile();
  const other = statement.with({ id: "other", limit: 2 }).compile();
  assert.deepEqual(one.parameters, ["one", "webhook", 1]);
  assert.deepEqual(other.parameters, ["other", "webhook", 2]);
  assert.deepEqual([other.sql, builds], [one.sql, 1]);
});
