import type { CallReports } from "../../engine/calls/call-reports.js";
import { actorOf } from "../../engine/tenancy/audit-entry.js";
import type { AuditTrail } from "../../engine/tenancy/audit-trail.js";
import type { Organizations, OrganizationWithPlan } from "../../engine/tenancy/organizations.js";
import type { Account, Accounts } from "../../engine/tenancy/people/accounts.js";
import type { ApiKeys } from "../../engine/tenancy/people/api-keys.js";
import type { ClientAccess } from "../../engine/tenancy/people/client-access.js";
import { isOwner, type Members } from "../../engine/tenancy/people/members.js";
import type { ModelSearch } from "../../engine/tenancy/providers/model-search.js";
import type { ApiKeyRecord, OrganizationRecord, UserRecord } from "../../storage/records.js";
import type { AuditRecord } from "../../storage/tenancy/audit-record.js";
import type { Handlers } from "../http/endpoints/api-endpoint.js";
import { timestamp } from "./timestamp.js";

export function accountRoutes(
  accounts: Accounts,
): Handlers<"signUp" | "signIn" | "getMe" | "changePassword"> {
  return {
    signUp: async ({ body }) => {
      const { user, token } = await accounts.signUp(body);
      return { user: userView(user), token };
    },
    signIn: async ({ body }) => {
      const { token, ...account } = await accounts.signIn(body);
      const isPending = account.organization.status === "pending";
      return { ...accountView(account), token, ...(isPending ? { status: "pending" } : {}) };
    },
    getMe: ({ user, tenant: { organization } }) => ({
      ...accountView({ user, organization }),
      status: organization.status,
      ...(user.isOperator ? { isOperator: true } : {}),
    }),
    changePassword: async ({ user, body }) => {
      const token = await accounts.changePassword(user, body);
      return { success: true, token };
    },
  };
}

function accountView({ user, organization }: Account) {
  return { user: userView(user), organization: organizationViewOf(organization) };
}

function userView({ id, email, name, role }: UserRecord) {
  return { id, email, name, role };
}

function organizationViewOf({ id, name, status }: OrganizationRecord) {
  return { id, name, status };
}

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

/** Never includes the hash: anyone who has it can search for the key offline. */
function apiKeyView({ id, name, keyPrefix, scopes, createdAtMs }: ApiKeyRecord) {
  return { id, name, keyPrefix, scopes: [...scopes], createdAt: timestamp(createdAtMs) };
}

export function clientTokenRoutes(access: ClientAccess): Handlers<"createClientToken"> {
  return {
    createClientToken: async ({ tenant, body }) => {
      const { token, expiresAtMs } = await access.issue(tenant, body);
      return { token, expiresAt: timestamp(expiresAtMs) };
    },
  };
}

export function memberRoutes(
  members: Members,
): Handlers<"listMembers" | "addMember" | "changeMemberRole" | "removeMember"> {
  return {
    listMembers: async ({ tenant: { organization } }) =>
      (await members.list(organization.id)).map((user) => memberView(user, organization)),
    addMember: async ({ tenant, body }) => {
      const { organization } = tenant;
      const user = await members.add(organization.id, body, actorOf(tenant));
      return memberView(user, organization);
    },
    changeMemberRole: async ({ tenant, id, body }) => {
      const { organization } = tenant;
      const user = await members.changeRole(organization, id, body.role, actorOf(tenant));
      return memberView(user, organization);
    },
    removeMember: async ({ tenant, id }) => {
      await members.remove(tenant.organization, id, actorOf(tenant));
      return { success: true };
    },
  };
}

function memberView(user: UserRecord, organization: OrganizationRecord) {
  const { id, email, name, role, createdAtMs } = user;
  const createdAt = timestamp(createdAtMs);
  return { id, email, name, role, isOwner: isOwner(user, organization), createdAt };
}

/** Only operators see the account names of the platform's staff. */
const ADMINISTRATOR = { type: "administrator", id: "platform" } as const;

export function auditRoutes(auditTrail: AuditTrail): Handlers<"listAudit"> {
  return {
    listAudit: async ({ tenant, query }) => {
      const { items, total } = await auditTrail.list(tenant, query);
      const { id: orgId } = tenant.organization;
      return { items: items.map((entry) => auditView(entry, orgId)), total, ...query };
    },
  };
}

function auditView({ atMs, actor, changes, ...entry }: AuditRecord, orgId: string) {
  return {
    ...entry,
    orgId,
    at: timestamp(atMs),
    actor: actor.type === "administrator" ? ADMINISTRATOR : actor,
    changes: [...changes],
  };
}

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
