import assert from "node:assert/strict";
import { test } from "node:test";
import { DialTargets } from "../../../engine/tenancy/agents/dial-targets.js";
import { PhoneNumbers } from "../../../engine/tenancy/agents/phone-numbers.js";
import { Members } from "../../../engine/tenancy/people/members.js";
import { Operators } from "../../../engine/tenancy/people/operators.js";
import { openPlatform, ownLlm } from "./seeded-platform.js";

const ROOT = { type: "administrator", id: "root" } as const;
const NUMBER = "+15550101000";

/** The entries have to say who did what to which object even after all of these were deleted. */
test("every change writes one audit entry with its actor and its object", async (t) => {
  const platform = await openPlatform(t);
  const { agents, apiKeys, clock, database, newId, organizations, providers } = platform;
  const members = new Members(platform);
  const numbers = new PhoneNumbers({ database, clock, newId, administratorId: ROOT.id });
  const targets = new DialTargets({ database, clock, newId, administratorId: ROOT.id });
  const operators = new Operators({ database, clock, newId, administrator: ROOT });
  const tenant = await platform.tenantOn("pro");
  const { organization } = tenant;
  const { id: orgId, ownerEmail } = organization;
  const user = { type: "user", id: tenant.userId ?? "" } as const;

  const provider = await providers.create(tenant, ownLlm());
  await providers.update(tenant, provider.id, { active: false, credentials: { apiKey: "sk-2" } });
  await providers.remove(tenant, provider.id);
  const agent = await agents.create(tenant, await platform.agentInput());
  await agents.update(tenant, agent.id, { persona: { greeting: "Good evening!" } });
  await agents.remove(tenant, agent.id);
  const { record: key } = await apiKeys.create(orgId, { name: "Website" }, user);
  await apiKeys.revoke(orgId, key.id);
  const newcomer = { name: "Mia", email: "mia@example.com", password: "correct horse" };
  const member = await members.add(orgId, { ...newcomer, role: "member" }, user);
  await members.changeRole(organization, member.id, "admin", user);
  await members.remove(organization, member.id, user);
  await numbers.allow(ownerEmail, NUMBER);
  await numbers.assign(tenant, NUMBER, { agentId: null });
  await numbers.revoke(NUMBER);
  await targets.allow(ownerEmail, "+49");
  await targets.revoke(ownerEmail, "+49");
  await operators.grant(ownerEmail);
  await operators.revoke(ownerEmail);
  await organizations.rename(tenant, "Engines");
  const made = await organizations.setUp({ orgName: "New", email: "new@example.com" });

  const entries = (await database.audit.listNewest(100)).toReversed();
  const byUser = `user ${user.id}`;
  const [byRoot, byServer] = ["administrator root", "administrator server"];
  const of = (type: string, { id, name }: { readonly id: string; readonly name: string }) =>
    `${type} ${id} ${name}`;
  const ofOrganization = of("organization", organization);
  assert.deepEqual(
    entries.map(({ orgId: owner, atMs, actor, targetType, targetId, targetName, ...entry }) => {
      assert.equal(
        owner,
        targetName === "New" || targetName === "Setup" ? made.organization.id : orgId,
      );
      assert.equal(atMs, clock.epochMs());
      const target = of(targetType, { id: targetId, name: targetName });
      return [`${actor.type} ${actor.id}`, entry.action, target, ...entry.changes];
    }),
    [
      [byUser, "provider.create", of("provider", provider)],
      [byUser, "provider.update", of("provider", provider), "active", "credentials"],
      [byUser, "provider.delete", of("provider", provider)],
      [byUser, "agent.create", of("agent", agent)],
      [byUser, "agent.update", of("agent", agent), "persona.greeting"],
      [byUser, "agent.delete", of("agent", agent)],
      [byUser, "apiKey.create", of("apiKey", key)],
      [byServer, "apiKey.revoke", of("apiKey", key)],
      [byUser, "member.create", of("member", member)],
      [byUser, "member.update", of("member", member), "role"],
      [byUser, "member.delete", of("member", member)],
      [byRoot, "organization.allowNumber", ofOrganization, "phoneNumbers"],
      [byUser, "organization.assignNumber", ofOrganization, "phoneNumbers"],
      [byRoot, "organization.revokeNumber", ofOrganization, "phoneNumbers"],
      [byRoot, "organization.allowNumber", ofOrganization, "dialTargets"],
      [byRoot, "organization.revokeNumber", ofOrganization, "dialTargets"],
      [byRoot, "organization.grantOperator", ofOrganization],
      [byRoot, "organization.revokeOperator", ofOrganization],
      [byUser, "organization.rename", of("organization", { id: orgId, name: "Engines" }), "name"],
      [byServer, "organization.create", of("organization", made.organization)],
      [byServer, "apiKey.create", of("apiKey", made.apiKey.record)],
    ],
  );
});
