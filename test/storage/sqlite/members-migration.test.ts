import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { Sqlite } from "../../../storage/sqlite/sqlite-library.js";
import { insertOrganizations, NOON_MS } from "../sample-records.js";
import { releasedMigrations } from "../schema/releases.js";
import { temporaryDatabase, temporaryFile } from "../temporary-file.js";
import { makeOldDatabase } from "./old-database.js";

const BEFORE = releasedMigrations("sqlite").filter(({ name }) => name < "013-members").length;

test("the audit trail from before members existed keeps its entries, order, total and immutability", async (context) => {
  const todaysPath = temporaryFile();
  const database = await temporaryDatabase(context, todaysPath);
  await insertOrganizations(database);
  for (const name of ["Bakers", "Bakery again"]) {
    await database.organizations.rename("org", name, NOON_MS, {
      id: name,
      orgId: "org",
      atMs: NOON_MS,
      actor: { type: "user", id: "user" },
      action: "organization.rename",
      targetType: "organization",
      targetId: "org",
      targetName: name,
      changes: ["name"],
    });
  }
  const page = { skip: 0, limit: 10 };
  const told = await database.audit.list("org", page);
  assert.equal(told.total, 2);
  const filePath = join(dirname(todaysPath), "old.db");
  makeOldDatabase(todaysPath, filePath, BEFORE);
  const upgraded = await temporaryDatabase(context, filePath);
  assert.deepEqual(await upgraded.audit.list("org", page), told);
  assert.equal(await upgraded.audit.purge(NOON_MS + 1), 2);
  assert.equal((await upgraded.audit.list("org", page)).total, 0);
  const [newest] = told.items;
  assert.ok(newest);
  await upgraded.organizations.rename("org", "Bakers", NOON_MS, { ...newest, id: "later" });
  const file = new Sqlite(filePath);
  assert.throws(() => file.exec("update auditEntries set action = ''"), /is never changed/);
  file.close();
});
