import * as v from "valibot";
import { ApiKey, ApiKeyBody, CreatedApiKey } from "./api-key.js";
import { AuditEntries, AuditQuery } from "./audit.js";
import {
  Call,
  CallCount,
  CallCountQuery,
  Calls,
  CallsQuery,
  DailyUsage,
  PlaceCallBody,
  QueuedCall,
  UsageQuery,
} from "./call.js";
import { Success } from "./fields.js";
import {
  FoundModels,
  ModelSearchQuery,
  Organization,
  OrganizationBody,
  Stats,
} from "./organization.js";
import { OwnPlan } from "./plan.js";
import type { Route } from "./route.js";
import { created, downloaded, ok, refused } from "./route-answer.js";

const dashboard = { auth: "dashboard", limit: "general" } as const;

/** The organization itself, what it may do, its calls and its keys. */
export const ORGANIZATION_ROUTES = {
  getOrganization: {
    method: "get",
    path: "/api/dashboard/organization",
    group: "Organization",
    summary: "Show the organization with its plan",
    ...dashboard,
    success: ok("The organization", Organization),
  },
  renameOrganization: {
    method: "patch",
    path: "/api/dashboard/organization",
    group: "Organization",
    summary: "Rename the organization",
    ...dashboard,
    body: OrganizationBody,
    success: ok("The organization with its new name", Organization),
  },
  getStats: {
    method: "get",
    path: "/api/dashboard/stats",
    group: "Organization",
    summary: "Sum up calls and agents",
    ...dashboard,
    success: ok("Totals of all time", Stats),
  },
  getPlan: {
    method: "get",
    path: "/api/dashboard/plan",
    group: "Organization",
    summary: "Show what the plan includes",
    ...dashboard,
    success: ok("The plan", OwnPlan),
  },
  searchModels: {
    method: "get",
    path: "/api/dashboard/models/search",
    group: "Organization",
    summary: "Search the models of all providers",
    ...dashboard,
    query: ModelSearchQuery,
    success: ok("A page of models, those that the plan allows first", FoundModels),
  },
  listAudit: {
    method: "get",
    path: "/api/dashboard/audit",
    group: "Organization",
    summary: "List who changed what",
    ...dashboard,
    query: AuditQuery,
    success: ok("A page of changes of the last 400 days, newest first", AuditEntries),
  },
  listCalls: {
    method: "get",
    path: "/api/dashboard/calls",
    group: "Calls",
    summary: "List calls",
    ...dashboard,
    query: CallsQuery,
    success: ok("A page of calls without their transcripts, newest first", Calls),
  },
  placeCall: {
    method: "post",
    path: "/api/dashboard/calls",
    group: "Calls",
    summary: "Place a call: the agent calls a telephone",
    auth: "dashboard",
    limit: "vendor",
    body: PlaceCallBody,
    success: created("The call, which rings in a moment", QueuedCall),
    others: [
      refused(404, "There is no such agent, or it is not active"),
      refused(409, "A provider of the agent is not active"),
      refused(
        403,
        "The plan does not include the agent, `from` is not allowed, or a missing scope",
      ),
      refused(429, "The plan's limit of calls or minutes is reached, or too many requests"),
      refused(503, "The telephony account is not configured, or its vendor does not take calls"),
    ],
  },
  countCalls: {
    method: "get",
    path: "/api/dashboard/calls/count",
    group: "Calls",
    summary: "Count calls",
    ...dashboard,
    query: CallCountQuery,
    success: ok("The number of calls", CallCount),
  },
  getCall: {
    method: "get",
    path: "/api/dashboard/calls/:id",
    group: "Calls",
    summary: "Show a call with its transcript",
    ...dashboard,
    success: ok("The call", Call),
  },
  getCallRecording: {
    method: "get",
    path: "/api/dashboard/calls/:id/recording",
    group: "Calls",
    summary: "Hear the recording of a call",
    ...dashboard,
    success: downloaded("Stereo of 16 bits, the caller left, the agent right", "audio/wav"),
    others: [
      refused(404, "There is no recording of this call, or not yet"),
      refused(416, "The file has none of the bytes that `Range` asks for"),
    ],
  },
  getUsage: {
    method: "get",
    path: "/api/dashboard/analytics/usage",
    group: "Calls",
    summary: "Show daily usage",
    ...dashboard,
    query: UsageQuery,
    success: ok("One entry a day (UTC), oldest first, days without calls too", v.array(DailyUsage)),
  },
  listApiKeys: {
    method: "get",
    path: "/api/dashboard/api-keys",
    group: "API keys",
    summary: "List the API keys",
    ...dashboard,
    success: ok("All keys, revoked ones too, newest first", v.array(ApiKey)),
  },
  createApiKey: {
    method: "post",
    path: "/api/dashboard/api-keys",
    group: "API keys",
    summary: "Create an API key",
    ...dashboard,
    body: ApiKeyBody,
    success: created("The key: `rawKey` is never shown again", CreatedApiKey),
    others: [refused(403, "The organization is pending or has as many keys as it can have")],
  },
  revokeApiKey: {
    method: "delete",
    path: "/api/dashboard/api-keys/:id",
    group: "API keys",
    summary: "Revoke an API key",
    ...dashboard,
    success: ok("Revoked: it opens nothing any more; calls in progress go on", Success),
  },
} as const satisfies Record<string, Route>;
