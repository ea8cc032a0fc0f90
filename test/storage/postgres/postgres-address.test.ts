import assert from "node:assert/strict";
import { test } from "node:test";
import { addressOf, isEscaped } from "../../../storage/postgres/postgres-address.js";

test("an address contains host, port and database, and neither user nor password", () => {
  for (const [url, told] of [
    ["postgres://parley:secret@db.internal/calls", "db.internal:5432/calls"],
    ["postgres://parley:secret@db.internal:6432/calls?sslmode=require", "db.internal:6432/calls"],
    ["postgres:///calls?host=/run/postgresql&user=parley", "/run/postgresql:5432/calls"],
    ["postgres:///calls", "localhost:5432/calls"],
    ["postgres://parley:secret@/calls?host=/run/postgresql", "/run/postgresql:5432/calls"],
  ] as const) {
    assert.equal(addressOf(url), told);
  }
});

test("an address whose password is not percent-encoded is never reported in part", () => {
  for (const url of [
    "postgres://parley:12/34@db/calls",
    "postgres://parley:12?34@db/calls",
    "postgres://parley:12#34@db/calls",
    "postgres://parley:se/cret@db/calls",
    "postgres://parley:1@2/3@db/calls",
    "postgres://parley:100%@db/calls",
  ]) {
    assert.equal(isEscaped(url), false, url);
    assert.equal(addressOf(url), "the address in DATABASE_URL", url);
  }
  for (const url of [
    "postgres://parley:12%2F34@db/calls",
    "postgres://parley:1@2@db/calls",
    "postgres://db/calls?user=parley@db&password=x",
  ]) {
    assert.equal(isEscaped(url), true, url);
  }
});
