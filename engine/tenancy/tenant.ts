import type { Database } from "../../storage/database.js";
import type { ApiKeyScope, OrganizationRecord, PlanRecord } from "../../storage/records.js";
import { RequestError } from "../request-error.js";

export const ALL_SCOPES: readonly ApiKeyScope[] = ["voice", "dashboard"];

/** Who makes a request. The organization may still be `pending`; the API decides what that allows. */
export interface Tenant {
  readonly organization: OrganizationRecord;
  readonly plan: PlanRecord;
  /** Undefined unless the tenant is a signed-in user. */
  readonly userId: string | undefined;
  /** Undefined unless the request has an API key. */
  readonly apiKeyId: string | undefined;
  /** A signed-in user has both scopes. */
  readonly scopes: readonly ApiKeyScope[];
}

/** Returns the refusal if the tenant may not do this, with a message for the requester; undefined if it may. */
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

/** Returns undefined if the organization is unknown. */
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
