import assert from "node:assert/strict";
import { test } from "node:test";
import { DatabaseError } from "pg";
import {
  faultOfPostgres,
  isCollision,
  isLostConnection,
} from "../../../storage/postgres/postgres-fault.js";
import { saidByServer } from "./scripted-pool.js";

test("a violated constraint is reported with its table and columns, whatever the server's language", () => {
  const unique = saidByServer("23505", { constraint: "shelves(room,place)", table: "calls" });
  assert.deepEqual(faultOfPostgres(unique), {
    kind: "unique",
    table: "shelves",
    columns: "room,place",
  });
  const unnamed = saidByServer("23505", { constraint: "calls_pkey", table: "calls" });
  assert.deepEqual(faultOfPostgres(unnamed), { kind: "unique", table: "calls", columns: "" });
  assert.deepEqual(faultOfPostgres(saidByServer("23503")), { kind: "foreignKey" });
});

test("another fault keeps the server's code and message", () => {
  const told = (error: unknown) => {
    const fault = faultOfPostgres(error);
    return fault.kind === "other" ? [fault.code, fault.message] : fault.kind;
  };
  assert.deepEqual(told(saidByServer("53100")), ["PG_53100", "as the server says"]);
  assert.deepEqual(told(new DatabaseError("no code", 0, "error")), ["PG_ERROR", "no code"]);
});

test("an error of the driver itself counts as a connection error, unless a value cannot be sent", () => {
  const refused = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
  const selfSigned = Object.assign(new Error("self-signed certificate"), {
    code: "DEPTH_ZERO_SELF_SIGNED_CERT",
  });
  for (const [error, code, isLost] of [
    [refused, "PG_UNREACHABLE", true],
    [selfSigned, "PG_UNTRUSTED", true],
    [new TypeError("a bigint is not JSON"), "ERROR", false],
    [new RangeError("too long"), "ERROR", false],
    ["no error", "ERROR", false],
  ] as const) {
    const fault = faultOfPostgres(error);
    assert.equal(fault.kind === "other" && fault.code, code, String(error));
    assert.equal(isLostConnection(error), isLost, String(error));
  }
});

test("only conflicts are retried immediately, and only a lost connection leaves the outcome unknown", () => {
  const codes = ["40001", "40P01", "40002", "08006", "57P01", "23505", "57014"];
  assert.deepEqual(
    codes.filter((code) => isCollision(saidByServer(code))),
    ["40001", "40P01"],
  );
  assert.equal(isCollision(new Error("40001")), false);
  assert.deepEqual(
    codes.filter((code) => isLostConnection(saidByServer(code))),
    ["08006", "57P01"],
  );
});
