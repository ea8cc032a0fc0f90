import type { ListedNode, NodeList } from "../../engine/cluster/node-registry.js";
import type { OrganizationOverviews } from "../../engine/tenancy/organization-overviews.js";
import type { Organizations } from "../../engine/tenancy/organizations.js";
import type { Plans } from "../../engine/tenancy/plans.js";
import type { ProviderChecks } from "../../engine/tenancy/providers/provider-check.js";
import { isSandboxed } from "../../engine/tenancy/providers/provider-input.js";
import type { Providers } from "../../engine/tenancy/providers/providers.js";
import type { ProviderRecord, UserRecord } from "../../storage/records.js";
import type { AuditActor } from "../../storage/tenancy/audit-record.js";
import type { OrganizationOverview } from "../../storage/tenancy/organization-overview-store.js";
import type { OPERATOR_ROUTES } from "../contract/routes/operator-routes.js";
import type { Handlers } from "../http/endpoints/api-endpoint.js";
import { testView } from "./provider-routes.js";
import { timestamp } from "./timestamp.js";

export interface OperatorParts {
  readonly nodeList: NodeList;
  readonly organizationOverviews: OrganizationOverviews;
  readonly organizations: Organizations;
  readonly plans: Plans;
  readonly providerChecks: ProviderChecks;
  readonly providers: Providers;
  /** With the sandbox, every vendor of the platform has the sandbox's address. */
  readonly usesSandbox?: boolean;
}

export function operatorRoutes({
  nodeList,
  organizationOverviews,
  organizations,
  plans,
  providerChecks,
  providers,
  usesSandbox = false,
}: OperatorParts): Handlers<keyof typeof OPERATOR_ROUTES> {
  /** Fields are listed one by one, so that credentials are never included. */
  const providerView = (provider: ProviderRecord) => ({
    _id: provider.id,
    category: provider.category,
    providerKey: provider.providerKey,
    name: provider.name,
    origin: provider.origin ?? "environment",
    models: [...provider.models],
    settings: provider.settings,
    active: provider.active,
    simulated: usesSandbox || isSandboxed(provider),
    lastTest: testView(provider.lastTest),
    createdAt: timestamp(provider.createdAtMs),
    updatedAt: timestamp(provider.updatedAtMs),
  });
  return {
    listOrganizations: async ({ query }) => {
      const { items, total } = await organizationOverviews.list(query);
      const { skip, limit } = query;
      return { items: items.map(overviewView), total, skip, limit };
    },
    getAnyOrganization: async ({ id }) => overviewView(await organizationOverviews.get(id)),
    changeOrganization: async ({ id, body, user }) => {
      await organizations.change(id, body, actorOf(user));
      return overviewView(await organizationOverviews.get(id));
    },
    changeOwnPlan: async ({ id, body, user }) => {
      await organizations.setOwnPlan(id, body, actorOf(user));
      return overviewView(await organizationOverviews.get(id));
    },
    listGlobalProviders: async () => (await providers.listGlobal()).map(providerView),
    createGlobalProvider: async ({ body, user }) =>
      providerView(await providers.createGlobal(body, actorOf(user))),
    testNewGlobalProvider: ({ tenant, body, signal }) =>
      providerChecks.checkNewGlobal(tenant, body, signal),
    testGlobalProvider: ({ tenant, id, signal }) => providerChecks.checkGlobal(tenant, id, signal),
    updateGlobalProvider: async ({ id, body, user }) =>
      providerView(await providers.updateGlobal(id, body, actorOf(user))),
    deleteGlobalProvider: async ({ id, user }) => {
      await providers.removeGlobal(id, actorOf(user));
      return { success: true };
    },
    listAllPlans: async () =>
      (await plans.list()).map(({ slug, name, limits }) => ({ slug, name, limits })),
    listNodes: async () => (await nodeList.list()).map(nodeView),
    drainNode: async ({ id, user }) => {
      await nodeList.drain(id, actorOf(user));
      return { success: true };
    },
  };
}

/** The organization's audit trail shows the platform as the actor, not the operator. */
function actorOf({ id }: UserRecord): AuditActor {
  return { type: "administrator", id };
}

const DECIMALS = 100;

function overviewView({ organization, plan, calls, minutes }: OrganizationOverview) {
  return {
    id: organization.id,
    name: organization.name,
    ownerEmail: organization.ownerEmail,
    status: organization.status,
    planSlug: plan.slug,
    planName: plan.name,
    limits: plan.limits,
    activeCalls: calls,
    monthMinutes: rounded(minutes),
    createdAt: timestamp(organization.createdAtMs),
    updatedAt: timestamp(organization.updatedAtMs),
  };
}

function nodeView({ startedAtMs, load, address, ...node }: ListedNode) {
  return {
    ...node,
    load: rounded(load),
    address: address ?? null,
    startedAt: timestamp(startedAtMs),
  };
}

function rounded(value: number): number {
  return Math.round(value * DECIMALS) / DECIMALS;
}
