import assert from "node:assert/strict";
import { test } from "node:test";
import { UniqueViolationError } from "../../../storage/statements/unique-violation.js";
import { insertOrganizations, NOON_MS } from "../sample-records.js";
import { temporaryDatabase } from "../temporary-file.js";

const GERMANY = { orgId: "org", target: "+49", createdAtMs: NOON_MS };
const DESK = { orgId: "org", target: "sip:desk@bakery.test", createdAtMs: NOON_MS + 1 };
const THEIRS = { orgId: "other", target: "+49", createdAtMs: NOON_MS + 2 };

test("each organization has its own targets, which are found among others and listed in order", async (context) => {
  const database = await temporaryDatabase(context);
  const { dialTargets } = database;
  await insertOrganizations(database);
  for (const target of [THEIRS, DESK, GERMANY]) await dialTargets.insert(target);
  await assert.rejects(dialTargets.insert(GERMANY), UniqueViolationError);
  assert.deepEqual(await dialTargets.list(), [GERMANY, DESK, THEIRS]);
  assert.equal(await dialTargets.hasAny("org", ["+4", "+49", "+493"]), true);
  assert.equal(await dialTargets.hasAny("org", ["+4", "+493"]), false);
  assert.equal(await dialTargets.hasAny("other", ["sip:desk@bakery.test"]), false);
});

test("a target is removed once, from the organization that has it", async (context) => {
  const database = await temporaryDatabase(context);
  const { dialTargets } = database;
  await insertOrganizations(database);
  for (const target of [GERMANY, THEIRS]) await dialTargets.insert(target);
  assert.equal(await dialTargets.remove("org", "+4"), false);
  assert.equal(await dialTargets.remove("org", "+49"), true);
  assert.equal(await dialTargets.remove("org", "+49"), false);
  assert.deepEqual(await dialTargets.list(), [THEIRS]);
});
