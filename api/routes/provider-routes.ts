import { providerModelNotice } from "../../engine/tenancy/agents/agent-access.js";
import { isSandboxed } from "../../engine/tenancy/providers/provider-input.js";
import type { Providers } from "../../engine/tenancy/providers/providers.js";
import type { Tenant } from "../../engine/tenancy/tenant.js";
import type { Clock } from "../../engine/time/clock.js";
import type { BreakerHealth, Breakers } from "../../engine/vendors/chain/breakers.js";
import type {
  LearnedCorrection,
  LearnedParameters,
} from "../../engine/vendors/learned-parameters.js";
import { vendorSettingOptions } from "../../engine/vendors/registry.js";
import type { ProviderRecord, ProviderTest, RegistryRecord } from "../../storage/records.js";
import type { Handlers } from "../http/endpoints/api-endpoint.js";
import { timestamp } from "./timestamp.js";

interface ProviderServices {
  readonly providers: Providers;
  readonly breakers: Pick<Breakers, "healthOf">;
  readonly learned: Pick<LearnedParameters, "ofProvider">;
  readonly clock: Clock;
  /** With the sandbox, every vendor of the platform has the sandbox's address. */
  readonly usesSandbox?: boolean;
}

export function providerRoutes({
  providers,
  breakers,
  learned,
  clock,
  usesSandbox = false,
}: ProviderServices): Handlers<
  | "listRegistry"
  | "listProviders"
  | "getProvider"
  | "createProvider"
  | "updateProvider"
  | "deleteProvider"
> {
  /** Shows a platform provider with its state in this organization's calls. */
  const viewOf = (tenant: Tenant, provider: ProviderRecord) => {
    const { id, updatedAtMs: version } = provider;
    const user = provider.orgId === null ? { orgId: tenant.organization.id } : {};
    return {
      ...providerView(provider, breakers.healthOf({ id, version, ...user })),
      simulated: provider.orgId === null && (usesSandbox || isSandboxed(provider)),
      modelNotices: noticesOf(provider, clock.epochMs()),
      parameterCorrections: learned.ofProvider({ id, version }).map(correctionView),
    };
  };
  return {
    listRegistry: async () => (await providers.registry()).map(registryView),
    listProviders: async ({ tenant, query }) => {
      const found = await providers.list(tenant, { clientOnly: query.client === "true" });
      return found.map((provider) => viewOf(tenant, provider));
    },
    getProvider: async ({ tenant, id }) => viewOf(tenant, await providers.get(tenant, id)),
    createProvider: async ({ tenant, body }) =>
      viewOf(tenant, await providers.create(tenant, body)),
    updateProvider: async ({ tenant, id, body }) =>
      viewOf(tenant, await providers.update(tenant, id, body)),
    deleteProvider: async ({ tenant, id }) => {
      await providers.remove(tenant, id);
      return { success: true };
    },
  };
}

/** Fields are listed one by one, so that a field added later, such as credentials, is never included by accident. */
function providerView(provider: ProviderRecord, health: BreakerHealth) {
  const { phase, recentFailures, lastFault } = health;
  return {
    _id: provider.id,
    orgId: provider.orgId,
    category: provider.category,
    providerKey: provider.providerKey,
    name: provider.name,
    models: [...provider.models],
    settings: provider.settings,
    active: provider.active,
    hasKey: provider.sealedCredentials !== null,
    breaker: phase,
    recentFailures,
    lastFault:
      lastFault === undefined ? null : { fault: lastFault.fault, at: timestamp(lastFault.atMs) },
    lastTest: testView(provider.lastTest),
    createdAt: timestamp(provider.createdAtMs),
    updatedAt: timestamp(provider.updatedAtMs),
  };
}

export function testView(test: ProviderTest | undefined) {
  if (test === undefined) return null;
  const { atMs, ...result } = test;
  return { ...result, at: timestamp(atMs) };
}

function noticesOf(provider: ProviderRecord, nowMs: number) {
  return provider.models.flatMap(({ modelId }) => {
    const notice = providerModelNotice(provider, modelId, nowMs);
    return notice === undefined ? [] : [{ modelId, ...notice }];
  });
}

function correctionView({
  modelId,
  parameter,
  value,
  sentAs,
  onlyWithTools,
  atMs,
}: LearnedCorrection) {
  return {
    modelId,
    parameter,
    value: value ?? null,
    sentAs: sentAs ?? null,
    onlyWithTools: onlyWithTools === true,
    at: timestamp(atMs),
  };
}

function registryView({ createdAtMs, models, settings, ...entry }: RegistryRecord) {
  const { category, providerKey } = entry;
  return {
    ...entry,
    models: [...models],
    settings: settings.map((setting) => ({
      ...setting,
      options: [...vendorSettingOptions(category, providerKey, setting.key)],
    })),
    createdAt: timestamp(createdAtMs),
  };
}
