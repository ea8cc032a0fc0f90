import assert from "node:assert/strict";
import { test } from "node:test";
import { DialTargets } from "../../../engine/tenancy/agents/dial-targets.js";
import { PhoneNumbers } from "../../../engine/tenancy/agents/phone-numbers.js";
import { Members } from "../../../engine/tenancy/people/members.js";
import { openPlatform, ownLlm } from "./seeded-platform.js";

const FULL = new Error("the disk is full");

test("an error of the store is not mistaken for a duplicate", async (t) => {
  const platform = await openPlatform(t);
  const { accounts, agents, database, providers } = platform;
  const tenant = await platform.tenantOn("pro");
  const { id: orgId, ownerEmail } = tenant.organization;
  const user = { type: "user", id: tenant.userId ?? "" } as const;
  const input = await platform.agentInput();
  const person = { name: "Mia", email: "mia@example.com", password: "correct horse" };
  const fail = () => Promise.reject(FULL);
  t.mock.method(database.dialTargets, "insert", fail);
  t.mock.method(database.phoneNumbers, "insert", fail);
  t.mock.method(database.users, "insertWithin", fail);
  t.mock.method(database.organizations, "insertWithOwner", fail);
  t.mock.method(database.providers, "insertOwned", fail);
  t.mock.method(database.agents, "insert", fail);
  const writes: Readonly<Record<string, () => Promise<unknown>>> = {
    "a target": () => new DialTargets(platform).allow(ownerEmail, "+49"),
    "a number": () => new PhoneNumbers(platform).allow(ownerEmail, "+15550101000"),
    "a member": () => new Members(platform).add(orgId, { ...person, role: "member" }, user),
    "an account": () => accounts.signUp(person),
    "a provider": () => providers.create(tenant, ownLlm()),
    "an agent": () => agents.create(tenant, input),
  };
  for (const [what, write] of Object.entries(writes)) await assert.rejects(write(), FULL, what);
});
