import assert from "node:assert/strict";
import { test } from "node:test";
import { postgresFault } from "../../../storage/postgres/postgres-fault.js";

const PLACE = "db.example:5432/parley";

test("a known fault is reported with advice and the database's address", () => {
  const known: readonly [code: string, advice: RegExp][] = [
    ["PG_08006", /DATABASE_URL/],
    ["PG_28P01", /pg_hba\.conf/],
    ["PG_3D000", /createdb/],
    ["PG_53100", /make room/],
    ["PG_53300", /DATABASE_CONNECTIONS/],
    ["PG_25006", /standby/],
    ["PG_57014", /pg_stat_activity/],
    ["PG_55P03", /pg_stat_activity/],
  ];
  for (const [code, advice] of known) {
    const told = postgresFault({ kind: "other", code, message: "it said so" }, PLACE)?.advice ?? "";
    assert.match(told, advice, code);
    assert.ok(told.startsWith(`PostgreSQL at ${PLACE}: it said so (${code}); `), told);
  }
});

test("any other fault is reported with the database's message", () => {
  assert.deepEqual(postgresFault({ kind: "other", code: "PG_XX000", message: "odd" }, PLACE), {
    reason: "the database cannot be written (PG_XX000)",
    advice: `PostgreSQL at ${PLACE}: odd (PG_XX000)`,
  });
  assert.equal(postgresFault(undefined, PLACE), undefined);
});
