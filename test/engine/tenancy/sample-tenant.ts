import { ALL_SCOPES, type Tenant } from "../../../engine/tenancy/tenant.js";
import { organizationRecord, planRecord } from "../../storage/sample-records.js";

/** The user is signed in to an active organization, with all permissions. */
export const TENANT: Tenant = {
  organization: organizationRecord({ status: "active" }),
  plan: planRecord(),
  userId: "user",
  apiKeyId: undefined,
  scopes: ALL_SCOPES,
};
