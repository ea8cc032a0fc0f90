import { isDeepStrictEqual } from "node:util";
import type { Database } from "../../../storage/database.js";
import type { AgentRecord, PlanRecord } from "../../../storage/records.js";
import { ForeignKeyViolationError } from "../../../storage/statements/foreign-key-violation.js";
import type { AgentReplacement } from "../../../storage/tenancy/agent-store.js";
import type { AuditRecord } from "../../../storage/tenancy/audit-record.js";
import { invalidFields, RequestError } from "../../request-error.js";
import type { CredentialCipher } from "../../security/credential-cipher.js";
import type { Clock } from "../../time/clock.js";
import { actorOf, auditEntry } from "../audit-entry.js";
import { changeNewest, nextVersionMs } from "../next-version.js";
import { ReadCache } from "../read-cache.js";
import type { Tenant } from "../tenant.js";
import {
  type AgentAvailability,
  type AgentModelNotice,
  accessFaults,
  agentAvailability,
  agentLimitReason,
  agentModelNotices,
  type ProvidersById,
  providerIdsOf,
  voiceFaults,
} from "./agent-access.js";
import { requireDocuments } from "./agent-documents.js";
import { type AgentForCall, agentForCall, type StoredAgents } from "./agent-for-call.js";
import {
  type AgentInput,
  type AgentPatch,
  type AgentVendorChoice,
  changedAgentFields,
  newAgent,
  patchedAgent,
} from "./agent-input.js";
import { sameLanguages } from "./agent-languages.js";
import { openMcpSecrets, requirePublicMcpServers, sealedMcpServers } from "./agent-mcp.js";
import { requirePublicPreCall, sealedPreCall } from "./agent-pre-call.js";
import {
  type Headers,
  openToolHeaders,
  requireNamedTools,
  requirePublicTools,
  requireTransferTarget,
  sealedTools,
} from "./agent-tools.js";

/** Entries cached for about a second: about 5 kB per agent with its providers. */
const KEPT_MAX = 200;
/** Larger organizations are not cached: each list, and each call that names no agent, reads all their agents. */
const AGENTS_KEPT_TOGETHER_MAX = 25;
const NO_AGENTS: StoredAgents = { agents: [], providersById: new Map() };

export type AgentView = AgentRecord &
  AgentAvailability & { readonly modelNotices: readonly AgentModelNotice[] };

interface AvailableAgents {
  readonly plan: PlanRecord;
  readonly views: readonly AgentView[];
}

export interface AgentsOptions {
  readonly database: Pick<Database, "agents" | "knowledge" | "providers" | "recordChanges">;
  readonly cipher: CredentialCipher;
  readonly clock: Clock;
  readonly newId: () => string;
  /** Lets tools lead to private addresses; an operator decides this. Default: false. */
  readonly allowPrivateAddresses?: boolean;
}

export class Agents {
  readonly #database: AgentsOptions["database"];
  readonly #cipher: CredentialCipher;
  readonly #clock: Clock;
  readonly #newId: () => string;
  readonly #allowPrivateAddresses: boolean;
  readonly #cached: ReadCache<StoredAgents>;
  /** Kept, since computing it for 25 agents takes longer than sending them. Depends on stored records and the plan. */
  readonly #availability = new WeakMap<StoredAgents, AvailableAgents>();

  constructor({ database, cipher, clock, newId, allowPrivateAddresses = false }: AgentsOptions) {
    this.#database = database;
    this.#cipher = cipher;
    this.#clock = clock;
    this.#newId = newId;
    this.#allowPrivateAddresses = allowPrivateAddresses;
    this.#cached = new ReadCache({
      changes: database.recordChanges,
      clock,
      entriesMax: KEPT_MAX,
      isKept: ({ agents }) => agents.length <= AGENTS_KEPT_TOGETHER_MAX,
    });
  }

  /** Returns the tenant's agents in creation order. */
  async list(tenant: Tenant): Promise<readonly AgentView[]> {
    return this.#withAvailability(await this.#read(tenant, undefined), tenant.plan);
  }

  /** Throws RequestError `not_found`. */
  async get(tenant: Tenant, id: string): Promise<AgentView> {
    const [view] = this.#withAvailability(await this.#read(tenant, id), tenant.plan);
    if (view === undefined) throw noSuchAgent();
    return view;
  }

  /** RequestError `invalid_request`: a wrong reference; `model_not_allowed`, `plan_limit_reached`: not in the plan. */
  async create(tenant: Tenant, input: AgentInput): Promise<AgentView> {
    const nowMs = this.#clock.epochMs();
    const identity = {
      id: this.#newId(),
      orgId: tenant.organization.id,
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    };
    this.#requirePublic(input);
    const tools = sealedTools(input.tools ?? [], this.#cipher);
    const preCall = sealedPreCall(input.preCall ?? null, this.#cipher);
    const mcp = sealedMcpServers(input.mcpServers ?? [], this.#cipher);
    const agent = { ...newAgent(identity, input), ...tools, ...preCall, ...mcp };
    requireTransferTarget(agent);
    requireNamedTools(agent);
    await this.#requireAccess(tenant, agent);
    await this.#requireKnownVoices(agent);
    await this.#requireDocuments(agent);
    const { maxAgents } = tenant.plan.limits;
    const entry = this.#entry(tenant, "agent.create", agent);
    const inserted = await this.#explained(tenant, agent, () =>
      this.#database.agents.insert(agent, maxAgents, entry),
    );
    if (!inserted) throw new RequestError("plan_limit_reached", agentLimitReason(tenant.plan));
    return this.#view(tenant, agent);
  }

  /** RequestErrors as in `create`, and `not_found`. An inactive agent may keep providers that it could not get now. */
  async update(tenant: Tenant, id: string, patch: AgentPatch): Promise<AgentView> {
    const stored = await changeNewest({
      read: () => this.#find(tenant, id),
      change: (agent) => this.#updateFrom(agent, tenant, patch),
      notFound: noSuchAgent,
      recordName: "agent",
    });
    return this.#view(tenant, stored);
  }

  /** Returns undefined if the stored agent has changed meanwhile. */
  async #updateFrom(
    agent: AgentRecord,
    tenant: Tenant,
    patch: AgentPatch,
  ): Promise<AgentRecord | undefined> {
    const { id } = agent;
    this.#requirePublic(patch);
    const tools = patch.tools && sealedTools(patch.tools, this.#cipher, agent);
    const preCall =
      patch.preCall !== undefined && sealedPreCall(patch.preCall, this.#cipher, agent);
    const mcp = patch.mcpServers && sealedMcpServers(patch.mcpServers, this.#cipher, agent);
    const nowMs = nextVersionMs(agent, this.#clock);
    const patched = { ...patchedAgent(agent, patch, nowMs), ...tools, ...preCall, ...mcp };
    requireTransferTarget(patched);
    requireNamedTools(patched);
    if (patched.active || !sameVendors(agent, patched)) {
      await this.#requireAccess(tenant, patched);
    }
    if (patch.ttsConfig !== undefined) await this.#requireKnownVoices(patched);
    if (patch.knowledge !== undefined) await this.#requireDocuments(patched);
    const changes = changedAgentFields(agent, patched);
    const entry = this.#entry(tenant, "agent.update", patched, changes);
    const { agents } = this.#database;
    const next = replacement(agent, patched);
    return this.#explained(tenant, patched, () =>
      agents.update(tenant.organization.id, id, next, entry, agent.updatedAtMs),
    );
  }

  /**
   * The values of headers and fixed parameters, which can hold variables. Empty where no key opens them: the agent is
   * shown nevertheless.
   */
  sealedTexts(agent: AgentRecord): readonly Headers[] {
    try {
      const servers = [...openMcpSecrets(agent, this.#cipher).values()];
      const headers = servers.map((server) => server.headers);
      return [...openToolHeaders(agent, this.#cipher).values(), ...headers];
    } catch {
      return [];
    }
  }

  /** Throws RequestError `not_found`. */
  async remove(tenant: Tenant, id: string): Promise<void> {
    const agent = await this.#find(tenant, id);
    const entry = this.#entry(tenant, "agent.delete", agent);
    const removed = await this.#database.agents.remove(tenant.organization.id, id, entry);
    if (!removed) throw noSuchAgent();
  }

  /** Without an id, takes the first active agent in creation order. Throws AgentUnavailableError with the reason. */
  async forCall(tenant: Tenant, agentId: string | undefined): Promise<AgentForCall> {
    return agentForCall(await this.#read(tenant, agentId), tenant.plan, agentId);
  }

  /** Without an id, reads all agents of the organization. */
  async #read(tenant: Tenant, agentId: string | undefined): Promise<StoredAgents> {
    const orgId = tenant.organization.id;
    const asked = await this.#cached.get(`${orgId} ${agentId ?? ""}`, async () => {
      const agents = await this.#database.agents.list(orgId);
      const wanted = agents
        .map((agent, position) => ({ agent, position }))
        .filter(({ agent }) => agentId === undefined || agent.id === agentId);
      const providersById = await this.#providersOf(wanted.map(({ agent }) => agent));
      return wanted.length > 0 ? { agents: wanted, providersById } : undefined;
    });
    return asked ?? NO_AGENTS;
  }

  #withAvailability(asked: StoredAgents, plan: PlanRecord): readonly AgentView[] {
    const known = this.#availability.get(asked);
    if (known?.plan === plan) return known.views;
    const nowMs = this.#clock.epochMs();
    const views = asked.agents.map(({ agent, position }) => ({
      ...agent,
      ...agentAvailability(agent, position, plan, asked.providersById),
      modelNotices: agentModelNotices(agent, plan, asked.providersById, nowMs),
    }));
    this.#availability.set(asked, { plan, views });
    return views;
  }

  #requirePublic({
    tools = [],
    preCall,
    mcpServers = [],
  }: Pick<AgentPatch, "tools" | "preCall" | "mcpServers">): void {
    if (this.#allowPrivateAddresses) return;
    requirePublicTools(tools);
    requirePublicPreCall(preCall);
    requirePublicMcpServers(mcpServers);
  }

  async #requireDocuments({ orgId, knowledge: { documentIds } }: AgentRecord): Promise<void> {
    const known = await this.#database.knowledge.known(orgId, documentIds);
    requireDocuments(documentIds, known, "knowledge.documentIds");
  }

  #entry(
    tenant: Tenant,
    action: "agent.create" | "agent.update" | "agent.delete",
    { id, orgId, name }: AgentRecord,
    changes: readonly string[] = [],
  ): AuditRecord {
    const target = { type: "agent", id, orgId, name } as const;
    const atMs = this.#clock.epochMs();
    return auditEntry({
      id: this.#newId(),
      atMs,
      actor: actorOf(tenant),
      action,
      target,
      changes,
    });
  }

  async #find(tenant: Tenant, id: string): Promise<AgentRecord> {
    const agent = await this.#database.agents.findById(tenant.organization.id, id);
    if (agent === undefined) throw noSuchAgent();
    return agent;
  }

  async #view(tenant: Tenant, agent: AgentRecord): Promise<AgentView> {
    const [agents, providersById] = await Promise.all([
      this.#database.agents.list(tenant.organization.id),
      this.#providersOf([agent]),
    ]);
    const position = agents.findIndex((each) => each.id === agent.id);
    const { plan } = tenant;
    return {
      ...agent,
      ...agentAvailability(agent, position, plan, providersById),
      modelNotices: agentModelNotices(agent, plan, providersById, this.#clock.epochMs()),
    };
  }

  async #providersOf(agents: readonly AgentVendorChoice[]): Promise<ProvidersById> {
    const ids = new Set(agents.flatMap(providerIdsOf));
    const providers = await this.#database.providers.findMany([...ids]);
    return new Map(providers.map((provider) => [provider.id, provider]));
  }

  /** A provider can be removed between the check and the write; then the check is repeated for its error message. */
  async #explained<Result>(
    tenant: Tenant,
    choice: AgentVendorChoice,
    write: () => Promise<Result>,
  ): Promise<Result> {
    try {
      return await write();
    } catch (error) {
      if (error instanceof ForeignKeyViolationError) await this.#requireAccess(tenant, choice);
      throw error;
    }
  }

  async #requireKnownVoices(choice: AgentVendorChoice): Promise<void> {
    const faults = voiceFaults(choice, await this.#providersOf([choice]));
    if (faults.length > 0) throw invalidFields(faults);
  }

  async #requireAccess(tenant: Tenant, choice: AgentVendorChoice): Promise<void> {
    const providersById = await this.#providersOf([choice]);
    const { organization, plan } = tenant;
    const { refused, gated } = accessFaults(organization.id, plan, choice, providersById);
    if (refused.length > 0) throw invalidFields(refused);
    if (gated.length > 0) throw invalidFields(gated, "model_not_allowed");
  }
}

/** Leaves out sealed text that has not changed, since it may have been resealed meanwhile. */
function replacement(agent: AgentRecord, patched: AgentRecord): AgentReplacement {
  const { sealedToolHeaders, sealedPreCall: sealed, sealedMcpSecrets, ...others } = patched;
  return {
    ...others,
    ...(sealedToolHeaders !== agent.sealedToolHeaders && { sealedToolHeaders }),
    ...(sealed !== agent.sealedPreCall && { sealedPreCall: sealed }),
    ...(sealedMcpSecrets !== agent.sealedMcpSecrets && { sealedMcpSecrets }),
  };
}

function sameVendors(a: AgentVendorChoice, b: AgentVendorChoice): boolean {
  return (
    a.llmProviderId === b.llmProviderId &&
    a.llmModelId === b.llmModelId &&
    a.ttsProviderId === b.ttsProviderId &&
    a.ttsModelId === b.ttsModelId &&
    a.sttProviderId === b.sttProviderId &&
    a.sttModelId === b.sttModelId &&
    isDeepStrictEqual(a.fallbacks, b.fallbacks) &&
    a.analysis?.llmProviderId === b.analysis?.llmProviderId &&
    a.analysis?.llmModelId === b.analysis?.llmModelId &&
    sameLanguages(a, b)
  );
}

function noSuchAgent(): RequestError {
  return new RequestError("not_found", "there is no such agent");
}
