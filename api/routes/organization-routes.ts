import type { CallReports } from "../../engine/calls/call-reports.js";
import type { Organizations, OrganizationWithPlan } from "../../engine/tenancy/organizations.js";
import type { ModelSearch } from "../../engine/tenancy/providers/model-search.js";
import type { Handlers } from "../http/endpoints/api-endpoint.js";
import { timestamp } from "./timestamp.js";

export interface OrganizationParts {
  readonly organizations: Organizations;
  readonly modelSearch: ModelSearch;
  readonly callReports: CallReports;
}

export function organizationRoutes({
  organizations,
  modelSearch,
  callReports,
}: OrganizationParts): Handlers<
  "getOrganization" | "renameOrganization" | "getStats" | "getPlan" | "searchModels"
> {
  return {
    getOrganization: ({ tenant }) => organizationView(organizations.describe(tenant)),
    renameOrganization: async ({ tenant, body }) =>
      organizationView(await organizations.rename(tenant, body.name)),
    getStats: ({ tenant }) => callReports.stats(tenant.organization.id),
    getPlan: ({ tenant: { plan } }) => ({
      slug: plan.slug,
      name: plan.name,
      limits: plan.limits,
      models: {
        llm: [...plan.models.llm],
        tts: [...plan.models.tts],
        stt: [...plan.models.stt],
      },
      features: plan.features,
    }),
    searchModels: async ({ tenant, query }) => {
      const page = await modelSearch.search(tenant, query);
      return { ...page, items: [...page.items] };
    },
  };
}

function organizationView({ organization, plan }: OrganizationWithPlan) {
  return {
    id: organization.id,
    name: organization.name,
    status: organization.status,
    ownerEmail: organization.ownerEmail,
    planId: plan.id,
    planSlug: plan.slug,
    planName: plan.name,
    limits: plan.limits,
    createdAt: timestamp(organization.createdAtMs),
    updatedAt: timestamp(organization.updatedAtMs),
  };
}
