import type { Organizations } from "../../engine/tenancy/organizations.js";
import type { Tenant } from "../../engine/tenancy/tenant.js";

/** The tenant of calls with a token of the organization; undefined if it may have no calls any more. */
export async function phoneTenant(
  organizations: Pick<Organizations, "find">,
  orgId: string,
): Promise<Tenant | undefined> {
  const found = await organizations.find(orgId);
  if (found === undefined || found.organization.status !== "active") return undefined;
  return { ...found, userId: undefined, apiKeyId: undefined, scopes: ["voice"] };
}
