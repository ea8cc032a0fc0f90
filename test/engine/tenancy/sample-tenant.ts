import { ALL_SCOPES, type Tenant } from "../../../engine/tenancy/tenant.js";
import { organizationRecord, planRecord } from "../../storage/sample-records.js";

/** Who is signed in to an organization that is let in, and may do all. */
export const TENANT: Tenant = {
  organization: organizationRecord({ status: "active" }),
  plan: planRecord(),
  userId: "user",
  apiKeyId: undefined,
  scopes: ALL_SCOPES,
};
