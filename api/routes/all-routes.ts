import type { AnalysisRuns } from "../../engine/analysis/analysis-runs.js";
import type { AgentChats } from "../../engine/calls/agent-chats.js";
import type { CallListening } from "../../engine/calls/call-listening.js";
import type { CallReports } from "../../engine/calls/call-reports.js";
import type { CallSupervision } from "../../engine/calls/call-supervision.js";
import type { IdempotentRequests } from "../../engine/calls/idempotent-requests.js";
import type { CallLists } from "../../engine/calls/lists/call-lists.js";
import type { OutboundCalls } from "../../engine/calls/outbound/outbound-calls.js";
import type { SandboxPeople } from "../../engine/calls/outbound/sandbox-people.js";
import type { Recordings } from "../../engine/calls/recording/recordings.js";
import type { TelephonyAccounts } from "../../engine/calls/telephony-accounts.js";
import type { ToolTests } from "../../engine/calls/tool-tests.js";
import type { NodeList } from "../../engine/cluster/node-registry.js";
import type { Embeddings } from "../../engine/knowledge/embeddings.js";
import type { Knowledge } from "../../engine/knowledge/knowledge.js";
import type { Agents } from "../../engine/tenancy/agents/agents.js";
import type { DoNotCall } from "../../engine/tenancy/agents/do-not-call.js";
import type { PhoneNumbers } from "../../engine/tenancy/agents/phone-numbers.js";
import type { AuditTrail } from "../../engine/tenancy/audit-trail.js";
import type { OrganizationOverviews } from "../../engine/tenancy/organization-overviews.js";
import type { Organizations } from "../../engine/tenancy/organizations.js";
import type { Accounts } from "../../engine/tenancy/people/accounts.js";
import type { ApiKeys } from "../../engine/tenancy/people/api-keys.js";
import type { ClientAccess } from "../../engine/tenancy/people/client-access.js";
import type { Members } from "../../engine/tenancy/people/members.js";
import type { Plans } from "../../engine/tenancy/plans.js";
import type { ModelSearch } from "../../engine/tenancy/providers/model-search.js";
import type { ProviderChecks } from "../../engine/tenancy/providers/provider-check.js";
import type { ProviderVoices } from "../../engine/tenancy/providers/provider-voices.js";
import type { Providers } from "../../engine/tenancy/providers/providers.js";
import type { AgentMcpTools } from "../../engine/tools/agent-mcp-tools.js";
import type { Breakers } from "../../engine/vendors/chain/breakers.js";
import type { LearnedParameters } from "../../engine/vendors/learned-parameters.js";
import type { Webhooks } from "../../engine/webhooks/webhooks.js";
import type { RouteId } from "../contract/routes/route-table.js";
import type { Handlers } from "../http/endpoints/api-endpoint.js";
import { agentRoutes, analysisRoutes, trialRoutes } from "./agent-routes.js";
import { callListRoutes } from "./call-list-routes.js";
import { callRoutes, recordingRoutes, supervisionRoutes } from "./call-routes.js";
import { knowledgeRoutes } from "./knowledge-routes.js";
import { operatorRoutes } from "./operator-routes.js";
import {
  accountRoutes,
  apiKeyRoutes,
  auditRoutes,
  clientTokenRoutes,
  memberRoutes,
  organizationRoutes,
} from "./organization-routes.js";
import { providerRoutes } from "./provider-routes.js";
import { type ServiceParts, serviceRoutes } from "./service-routes.js";
import { telephonyAccountRoutes } from "./telephony-account-routes.js";
import { webhookRoutes } from "./webhook-routes.js";

/** The services that the REST API exposes. */
export interface ApiServices {
  readonly accounts: Accounts;
  readonly agentChats: AgentChats;
  readonly agentMcpTools: AgentMcpTools;
  readonly toolTests: ToolTests;
  readonly agents: Agents;
  readonly analysisRuns: AnalysisRuns;
  readonly apiKeys: ApiKeys;
  readonly auditTrail: AuditTrail;
  readonly breakers: Breakers;
  readonly learned: LearnedParameters;
  readonly callLists: CallLists;
  readonly callReports: CallReports;
  readonly callSupervision: CallSupervision;
  readonly callListening: CallListening;
  readonly clientAccess: ClientAccess;
  readonly doNotCall: DoNotCall;
  readonly recordings: Recordings;
  readonly idempotentRequests: Pick<IdempotentRequests, "run">;
  readonly outboundCalls: Pick<OutboundCalls, "place" | "numbers">;
  readonly knowledge: Knowledge;
  readonly embeddings: Embeddings;
  readonly members: Members;
  readonly modelSearch: ModelSearch;
  readonly nodeList: NodeList;
  readonly organizationOverviews: OrganizationOverviews;
  readonly organizations: Organizations;
  readonly phoneNumbers: PhoneNumbers;
  readonly plans: Plans;
  readonly providerChecks: ProviderChecks;
  readonly providerVoices: ProviderVoices;
  readonly providers: Providers;
  readonly sandboxPeople: SandboxPeople;
  readonly telephonyAccounts: TelephonyAccounts;
  readonly webhooks: Webhooks;
}

/** One handler for every row of the route table: code without one does not compile. */
export function allRoutes(
  services: ApiServices,
  state: Pick<
    ServiceParts,
    "clock" | "isDraining" | "isDrained" | "isReady" | "storeRefusal" | "keyRefusal"
  > & { readonly usesSandbox?: boolean },
): Handlers<RouteId> {
  return {
    ...serviceRoutes({ ...services, ...state }),
    ...accountRoutes(services.accounts),
    ...organizationRoutes(services),
    ...agentRoutes(services.agents),
    ...analysisRoutes(services.analysisRuns),
    ...knowledgeRoutes(services.knowledge, services.embeddings),
    ...callListRoutes(services.callLists, services.idempotentRequests),
    ...auditRoutes(services.auditTrail),
    ...callRoutes(
      services.callReports,
      services.outboundCalls,
      services.phoneNumbers,
      services.doNotCall,
      services.sandboxPeople,
      services.idempotentRequests,
    ),
    ...supervisionRoutes(services.callSupervision, services.callListening),
    ...recordingRoutes(services.recordings),
    ...memberRoutes(services.members),
    ...apiKeyRoutes(services.apiKeys),
    ...providerRoutes({ ...services, ...state }),
    ...clientTokenRoutes(services.clientAccess),
    ...trialRoutes(services),
    ...operatorRoutes({ ...services, ...state }),
    ...webhookRoutes(services.webhooks),
    ...telephonyAccountRoutes(services.telephonyAccounts),
  };
}
