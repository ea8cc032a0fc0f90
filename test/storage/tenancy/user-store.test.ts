import assert from "node:assert/strict";
import { test } from "node:test";
import { UniqueViolationError } from "../../../storage/statements/unique-violation.js";
import type { AuditRecord } from "../../../storage/tenancy/audit-record.js";
import { insertOrganizations, NOON_MS, userRecord } from "../sample-records.js";
import { temporaryDatabase } from "../temporary-file.js";

const MEMBER = userRecord({ id: "member", email: "mia@bakery.test", name: "Mia", role: "member" });

let entries = 0;

function entry(action: Extract<AuditRecord["action"], `member.${string}`>): AuditRecord {
  return {
    id: `entry ${++entries}`,
    orgId: "org",
    atMs: NOON_MS + entries,
    actor: { type: "user", id: "user" },
    action,
    targetType: "member",
    targetId: "member",
    targetName: "Mia",
    changes: [],
  };
}

test("a member can be added, get another role and another password, and be removed; the audit trail records it", async (context) => {
  const database = await temporaryDatabase(context);
  const { users, audit } = database;
  await insertOrganizations(database);
  await users.insert(MEMBER, entry("member.create"));
  assert.deepEqual(await users.listOf("org"), [userRecord(), MEMBER]);
  assert.equal(await users.setRole("org", "member", "admin", entry("member.update")), true);
  assert.equal(await users.replacePassword(MEMBER, "11:ee", entry("member.update")), true);
  const changed = { ...MEMBER, role: "admin", passwordHash: "11:ee" };
  assert.deepEqual(await users.findById("member"), changed);
  assert.equal(await users.delete("org", "member", entry("member.delete")), true);
  assert.deepEqual(await users.listOf("org"), [userRecord()]);
  const { items, total } = await audit.list("org", { skip: 0, limit: 10 });
  assert.equal(total, 4);
  assert.deepEqual(
    items.map(({ action, targetType }) => [action, targetType]),
    ["member.delete", "member.update", "member.update", "member.create"].map((action) => [
      action,
      "member",
    ]),
  );
});

test("a change of an unknown member changes nothing and leaves no entry", async (context) => {
  const database = await temporaryDatabase(context);
  const { users, audit } = database;
  await insertOrganizations(database);
  await users.insert(MEMBER);
  assert.equal(await users.setRole("other", "member", "admin", entry("member.update")), false);
  const stale = { id: "member", passwordHash: "the one before" };
  assert.equal(await users.replacePassword(stale, "11:ee", entry("member.update")), false);
  assert.equal(await users.delete("other", "member", entry("member.delete")), false);
  const twin = users.insert({ ...MEMBER, id: "twin" }, entry("member.create"));
  await assert.rejects(twin, UniqueViolationError);
  assert.deepEqual(await users.findById("member"), MEMBER);
  assert.equal((await audit.list("org", { skip: 0, limit: 10 })).total, 0);
});

test("operators are listed by address, and only existing users can get or lose the role", async (context) => {
  const database = await temporaryDatabase(context);
  const { users } = database;
  await insertOrganizations(database);
  await users.insert(MEMBER);
  const operators = async () => (await users.listOperators()).map(({ id }) => id);
  assert.deepEqual(await operators(), []);
  assert.equal(await users.setOperator("nobody", true), false);
  assert.equal(await users.setOperator("user", true), true);
  assert.equal(await users.setOperator("member", true), true);
  assert.deepEqual(await operators(), ["member", "user"]);
  assert.equal((await users.findByEmail("mia@bakery.test"))?.isOperator, true);
  assert.equal(await users.setOperator("user", false), true);
  assert.deepEqual(await operators(), ["member"]);
});
