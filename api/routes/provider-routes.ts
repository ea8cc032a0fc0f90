import type { Providers } from "../../engine/tenancy/providers.js";
import type { ProviderRecord, RegistryRecord } from "../../storage/records.js";
import type { Handlers } from "../http/api-endpoint.js";
import { timestamp } from "./timestamp.js";

export function providerRoutes(
  providers: Providers,
): Handlers<
  | "listRegistry"
  | "listProviders"
  | "getProvider"
  | "createProvider"
  | "updateProvider"
  | "deleteProvider"
> {
  return {
    listRegistry: async () => (await providers.registry()).map(registryView),
    listProviders: async ({ tenant, query }) => {
      const found = await providers.list(tenant, { clientOnly: query.client === "true" });
      return found.map(providerView);
    },
    getProvider: async ({ tenant, id }) => providerView(await providers.get(tenant, id)),
    createProvider: async ({ tenant, body }) => providerView(await providers.create(tenant, body)),
    updateProvider: async ({ tenant, id, body }) =>
      providerView(await providers.update(tenant, id, body)),
    deleteProvider: async ({ tenant, id }) => {
      await providers.remove(tenant, id);
      return { success: true };
    },
  };
}

/** Field by field, so that nothing that a record gets one day, such as credentials, slips out. */
function providerView(provider: ProviderRecord) {
  return {
    _id: provider.id,
    orgId: provider.orgId,
    category: provider.category,
    providerKey: provider.providerKey,
    name: provider.name,
    models: [...provider.models],
    settings: provider.settings,
    active: provider.active,
    createdAt: timestamp(provider.createdAtMs),
    updatedAt: timestamp(provider.updatedAtMs),
  };
}

function registryView({ createdAtMs, models, settings, ...entry }: RegistryRecord) {
  return {
    ...entry,
    models: [...models],
    settings: [...settings],
    createdAt: timestamp(createdAtMs),
  };
}
