import assert from "node:assert/strict";
import { test } from "node:test";
import { addressOf } from "../../../storage/postgres/postgres-address.js";

test("an address names host, port and database, and neither user nor password", () => {
  for (const [url, told] of [
    ["postgres://parley:secret@db.internal/calls", "db.internal:5432/calls"],
    ["postgres://parley:secret@db.internal:6432/calls?sslmode=require", "db.internal:6432/calls"],
    ["postgres:///calls?host=/run/postgresql&user=parley", "/run/postgresql:5432/calls"],
    ["postgres:///calls", "localhost:5432/calls"],
  ] as const) {
    assert.equal(addressOf(url), told);
  }
});
