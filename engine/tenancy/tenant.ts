import type { Database } from "../../storage/database.js";
import type { ApiKeyScope, OrganizationRecord, PlanRecord } from "../../storage/records.js";
import { RequestError } from "../request-error.js";

export const ALL_SCOPES: readonly ApiKeyScope[] = ["voice", "dashboard"];

/** On whose behalf a request is made. The organization may still be `pending`: the edge decides what that opens. */
export interface Tenant {
  readonly organization: OrganizationRecord;
  readonly plan: PlanRecord;
  /** Undefined unless the tenant is a signed-in user. */
  readonly userId: string | undefined;
  /** Undefined unless the tenant came with an API key. */
  readonly apiKeyId: string | undefined;
  /** A user carries both. */
  readonly scopes: readonly ApiKeyScope[];
}

/** Why this may not be done on the tenant's behalf, in words that the requester may read; undefined when it may. */
export function accessRefusal(
  { organization, scopes }: Tenant,
  scope: ApiKeyScope,
): RequestError | undefined {
  if (organization.status !== "active") {
    const message = "the organization is pending: it has not been activated yet";
    return new RequestError("organization_pending", message);
  }
  if (scopes.includes(scope)) return undefined;
  return new RequestError("scope_missing", `the API key lacks the scope "${scope}"`);
}

export type TenantStores = Pick<Database, "organizations" | "plans">;

/** The organization with its plan; undefined when the organization is unknown. */
export async function findOrganizationWithPlan(
  stores: TenantStores,
  orgId: string,
): Promise<Pick<Tenant, "organization" | "plan"> | undefined> {
  const organization = await stores.organizations.findById(orgId);
  if (organization === undefined) return undefined;
  const plan = await stores.plans.findById(organization.planId);
  if (plan === undefined) throw new Error(`organization ${orgId} refers to a plan that is missing`);
  return { organization, plan };
}
