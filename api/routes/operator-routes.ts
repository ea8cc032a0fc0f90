import type { ListedNode, NodeList } from "../../engine/cluster/node-registry.js";
import type { OrganizationOverviews } from "../../engine/tenancy/organization-overviews.js";
import type { Organizations } from "../../engine/tenancy/organizations.js";
import type { Plans } from "../../engine/tenancy/plans.js";
import type { UserRecord } from "../../storage/records.js";
import type { AuditActor } from "../../storage/tenancy/audit-record.js";
import type { OrganizationOverview } from "../../storage/tenancy/organization-overview-store.js";
import type { OPERATOR_ROUTES } from "../contract/routes/operator-routes.js";
import type { Handlers } from "../http/endpoints/api-endpoint.js";
import { timestamp } from "./timestamp.js";

export interface OperatorParts {
  readonly nodeList: NodeList;
  readonly organizationOverviews: OrganizationOverviews;
  readonly organizations: Organizations;
  readonly plans: Plans;
}

export function operatorRoutes({
  nodeList,
  organizationOverviews,
  organizations,
  plans,
}: OperatorParts): Handlers<keyof typeof OPERATOR_ROUTES> {
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
    listAllPlans: async () =>
      (await plans.list()).map(({ slug, name, limits }) => ({ slug, name, limits })),
    listNodes: async () => (await nodeList.list()).map(nodeView),
    drainNode: async ({ id, user }) => {
      await nodeList.drain(id, actorOf(user));
      return { success: true };
    },
  };
}

/** For the organization it is the platform that acts, whoever does it. */
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
