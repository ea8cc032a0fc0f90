import type { Database } from "../../../storage/database.js";
import type { AgentRecord } from "../../../storage/records.js";
import { invalidFields, RequestError } from "../../request-error.js";
import {
  CLIENT_TOKEN_CHARACTERS_MAX,
  type ClientToken,
  type ClientTokens,
  type IssuedToken,
} from "../../security/client-token.js";
import { matchesOrigin } from "../../security/origins.js";
import type { Clock } from "../../time/clock.js";
import { voiceFault } from "../../vendors/registry.js";
import type { Organizations } from "../organizations.js";
import { ReadCache } from "../read-cache.js";
import { accessRefusal, type Tenant } from "../tenant.js";
import { ActiveCredentials } from "./active-credentials.js";

/** Public agents cached for about a second: under 1 kB each. */
const KEPT_MAX = 1_000;

type PublicAgent = Pick<AgentRecord, "orgId" | "allowedOrigins">;

export interface ClientTokenInput {
  readonly agentId: string;
  readonly ttlSec: number;
  readonly callMaxSec?: number | undefined;
  readonly origin?: string | undefined;
  readonly variables?: Readonly<Record<string, string>> | undefined;
  readonly overrides?: Readonly<Record<string, string>> | undefined;
}

export interface ClientAccessOptions {
  readonly database: Pick<Database, "agents" | "apiKeys" | "providers" | "users" | "recordChanges">;
  readonly organizations: Pick<Organizations, "find">;
  readonly clientTokens: ClientTokens;
  readonly clock: Clock;
}

/** The organization and agent that a page may call, and the token that it came with. */
export interface ClientVisit {
  readonly tenant: Tenant;
  readonly agentId: string;
  readonly token: ClientToken | undefined;
}

/** Lets pages call agents without an API key: with a client token, or from an allowed origin of a public agent. */
export class ClientAccess {
  readonly #database: ClientAccessOptions["database"];
  readonly #organizations: ClientAccessOptions["organizations"];
  readonly #tokens: ClientTokens;
  readonly #public: ReadCache<PublicAgent>;
  readonly #standing: ActiveCredentials;

  constructor({ database, organizations, clientTokens, clock }: ClientAccessOptions) {
    this.#organizations = organizations;
    this.#public = new ReadCache({ changes: database.recordChanges, clock, entriesMax: KEPT_MAX });
    this.#database = database;
    this.#standing = new ActiveCredentials({ database, clock });
    this.#tokens = clientTokens;
  }

  /**
   * RequestError `not_found`: the organization has no such agent; `invalid_request`: variables and overrides are too
   * long together; `scope_missing`: overrides change what the agent says, which needs the scope `dashboard`.
   */
  async issue(tenant: Tenant, input: ClientTokenInput): Promise<IssuedToken> {
    const { agentId, callMaxSec, origin, variables = {}, overrides, ttlSec } = input;
    const refusal = overrides && accessRefusal(tenant, "dashboard");
    if (refusal !== undefined) throw refusal;
    const orgId = tenant.organization.id;
    const agent = await this.#database.agents.findById(orgId, agentId);
    if (agent === undefined) throw new RequestError("not_found", "there is no such agent");
    await this.#requireVoice(agent, overrides?.["voice"]);
    const { apiKeyId, userId } = tenant;
    const given = { agentId, callMaxSec, origin, variables, overrides };
    const claims = { orgId, ...given, apiKeyId, userId };
    const issued = this.#tokens.issue(claims, ttlSec);
    if (issued !== undefined) return issued;
    const message = `expected less: a token has at most ${CLIENT_TOKEN_CHARACTERS_MAX} characters`;
    throw invalidFields([{ path: "variables", message }]);
  }

  async #requireVoice({ ttsProviderId }: AgentRecord, voice: string | undefined): Promise<void> {
    if (voice === undefined) return;
    const [provider] = await this.#database.providers.findMany([ttsProviderId]);
    const message = provider && voiceFault(provider, voice);
    if (message !== undefined) throw invalidFields([{ path: "overrides.voice", message }]);
  }

  /** `origin`: that of the page that sends the token, or empty. A string is the reason of a refusal, for the page. */
  async byToken(text: string, origin: string): Promise<ClientVisit | string> {
    const token = this.#tokens.read(text);
    if (token === "wrong") return "the token is wrong";
    if (token === "expired") return "the token has expired";
    if (token.origin !== undefined && !matchesOrigin(token.origin, origin)) {
      return "the token is for pages of another origin";
    }
    const { orgId, apiKeyId, userId } = token;
    if (!(await this.#standing.areActive({ orgId, apiKeyId, userId }))) {
      return "the API key or the user that created the token is no longer active";
    }
    const tenant = await this.#tenant(orgId);
    return tenant === undefined ? "the token is wrong" : { tenant, agentId: token.agentId, token };
  }

  /** Returns undefined unless the agent is public for pages of that origin. */
  async byOrigin(agentId: string, origin: string): Promise<ClientVisit | undefined> {
    const agent = await this.#public.get(agentId, () => this.#findPublic(agentId));
    if (
      agent === undefined ||
      !agent.allowedOrigins.some((allowed) => matchesOrigin(allowed, origin))
    )
      return undefined;
    const tenant = await this.#tenant(agent.orgId);
    return tenant && { tenant, agentId, token: undefined };
  }

  async #findPublic(agentId: string): Promise<PublicAgent | undefined> {
    const agent = await this.#database.agents.findPublic(agentId);
    return agent && { orgId: agent.orgId, allowedOrigins: agent.allowedOrigins };
  }

  async #tenant(orgId: string): Promise<Tenant | undefined> {
    const owner = await this.#organizations.find(orgId);
    return owner && { ...owner, userId: undefined, apiKeyId: undefined, scopes: ["voice"] };
  }
}
