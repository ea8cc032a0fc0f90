import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { hashPassword } from "../../../engine/security/password.js";
import { auditEntry } from "../../../engine/tenancy/audit-entry.js";
import type { Clock } from "../../../engine/time/clock.js";
import type { Database } from "../../../storage/database.js";
import type { OrganizationRecord, UserRecord } from "../../../storage/records.js";

export const PASSWORD = "correct horse";

let passwordHash: Promise<string> | undefined;

interface NewOwner {
  readonly email: string;
  readonly status: OrganizationRecord["status"];
  readonly planSlug: string;
}

/**
 * Writes what `Accounts.createOwner` writes for a user whose password is `PASSWORD`. The password is hashed once per
 * process: two hashes for every organization of a test would be most of its cost.
 */
export async function insertOwner(
  database: Database,
  clock: Clock,
  { email, status, planSlug }: NewOwner,
): Promise<UserRecord> {
  passwordHash ??= hashPassword(PASSWORD);
  const plan = await database.plans.findBySlug(planSlug);
  assert.ok(plan, `there is a plan "${planSlug}"`);
  const atMs = clock.epochMs();
  const orgId = randomUUID();
  const name = "Organization";
  const times = { createdAtMs: atMs, updatedAtMs: atMs };
  const organization = { id: orgId, name, planId: plan.id, status, ownerEmail: email, ...times };
  const user: UserRecord = {
    id: randomUUID(),
    orgId,
    email,
    passwordHash: await passwordHash,
    name: "Owner",
    role: "admin",
    isOperator: false,
    createdAtMs: atMs,
  };
  const entry = auditEntry({
    id: randomUUID(),
    atMs,
    actor: { type: "user", id: user.id },
    action: "organization.create",
    target: { type: "organization", id: orgId, orgId, name },
  });
  await database.organizations.insertWithOwner(organization, user, entry);
  return user;
}
