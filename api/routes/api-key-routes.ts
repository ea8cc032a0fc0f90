import { actorOf } from "../../engine/tenancy/audit-entry.js";
import type { ApiKeys } from "../../engine/tenancy/people/api-keys.js";
import type { ApiKeyRecord } from "../../storage/records.js";
import type { Handlers } from "../http/endpoints/api-endpoint.js";
import { timestamp } from "./timestamp.js";

export function apiKeyRoutes(
  apiKeys: ApiKeys,
): Handlers<"listApiKeys" | "createApiKey" | "revokeApiKey"> {
  return {
    listApiKeys: async ({ tenant }) =>
      (await apiKeys.list(tenant.organization.id)).map((key) => ({
        ...apiKeyView(key),
        lastUsedAt: key.lastUsedAtMs === null ? null : timestamp(key.lastUsedAtMs),
        revokedAt: key.revokedAtMs === null ? null : timestamp(key.revokedAtMs),
      })),
    createApiKey: async ({ tenant, body }) => {
      const { id: orgId } = tenant.organization;
      const actor = actorOf(tenant);
      const { record, rawKey } = await apiKeys.create(orgId, body, actor, tenant.scopes);
      return { ...apiKeyView(record), rawKey };
    },
    revokeApiKey: async ({ tenant, id }) => {
      await apiKeys.revoke(tenant.organization.id, id, actorOf(tenant));
      return { success: true };
    },
  };
}

/** Never the hash: whoever has it can look for the key at leisure. */
function apiKeyView({ id, name, keyPrefix, scopes, createdAtMs }: ApiKeyRecord) {
  return { id, name, keyPrefix, scopes: [...scopes], createdAt: timestamp(createdAtMs) };
}
