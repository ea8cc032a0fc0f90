import assert from "node:assert/strict";
import { test } from "node:test";
import { DialTargets } from "../../../../engine/tenancy/agents/dial-targets.js";
import { platformOfFile, refusal } from "../seeded-platform.js";

const sharedPlatform = platformOfFile();

async function dialling() {
  const platform = await sharedPlatform();
  const { database, clock, newId } = platform;
  const targets = new DialTargets({ database, clock, newId });
  const { organization } = await platform.tenantOn("pro");
  return { targets, email: organization.ownerEmail, orgId: organization.id };
}

test("an organization reaches no number until the administrator allows one", async () => {
  const { targets, email, orgId } = await dialling();
  const stranger = await dialling();
  assert.equal(await targets.mayReach(orgId, "+4930901820"), false);
  assert.equal(await targets.allow(email, "+49"), true);
  assert.equal(await targets.allow(email, "+49"), false, "allowed already");
  await targets.allow(email, "+15550101000");
  await targets.allow(email, "sip:desk@a.org");
  await targets.allow(email, "+7");
  for (const [target, may] of [
    ["+4930901820", true],
    ["+4830901820", false],
    ["+74951234567", true],
    ["+15550101000", true],
    ["+155501010001", true],
    ["+15550101001", false],
    ["sip:desk@a.org", true],
    ["sip:desk@a.org.example.com", false],
    ["sips:desk@a.org", false],
  ] as const) {
    assert.equal(await targets.mayReach(orgId, target), may, target);
    assert.equal(await targets.mayReach(stranger.orgId, target), false, target);
  }
  const own = (await targets.list()).find(({ organization }) => organization.id === orgId);
  assert.deepEqual(own?.targets, ["+15550101000", "+49", "+7", "sip:desk@a.org"]);
  await targets.revoke(email, "+49");
  assert.equal(await targets.mayReach(orgId, "+4930901820"), false);
  await assert.rejects(targets.revoke(email, "+49"), refusal("not_found"));
});

test("a target is a number, a prefix of a number or a SIP address", async () => {
  const { targets, email } = await dialling();
  for (const wrong of [
    "",
    "+",
    "49",
    "+0",
    "+49 30",
    "+1234567890123456",
    "tel:+49",
    "sip:a",
    "%",
  ]) {
    await assert.rejects(targets.allow(email, wrong), refusal("invalid_request"), wrong);
    await assert.rejects(targets.revoke(email, wrong), refusal("invalid_request"), wrong);
  }
  await assert.rejects(targets.allow("nobody@example.com", "+49"), refusal("not_found"));
});

test("an organization with one target is listed, and one without any is not", async () => {
  const { targets, email, orgId } = await dialling();
  const listed = async () =>
    (await targets.list()).find(({ organization }) => organization.id === orgId)?.targets;
  assert.equal(await listed(), undefined);
  await targets.allow(email, "+49");
  assert.deepEqual(await listed(), ["+49"]);
});
