import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, type TestContext } from "node:test";
import { RequestError } from "../../../engine/request-error.js";
import { AccessTokens } from "../../../engine/security/access-token.js";
import { CredentialCipher } from "../../../engine/security/credential-cipher.js";
import type { AgentInput } from "../../../engine/tenancy/agents/agent-input.js";
import { Agents } from "../../../engine/tenancy/agents/agents.js";
import { Organizations } from "../../../engine/tenancy/organizations.js";
import { Accounts } from "../../../engine/tenancy/people/accounts.js";
import { ApiKeys } from "../../../engine/tenancy/people/api-keys.js";
import { Plans } from "../../../engine/tenancy/plans.js";
import { ModelSearch } from "../../../engine/tenancy/providers/model-search.js";
import type { ProviderInput } from "../../../engine/tenancy/providers/provider-input.js";
import { Providers } from "../../../engine/tenancy/providers/providers.js";
import { type SeedOptions, seedPlatform } from "../../../engine/tenancy/seeding/seeding.js";
import {
  ALL_SCOPES,
  findOrganizationWithPlan,
  type Tenant,
} from "../../../engine/tenancy/tenant.js";
import { type Database, openDatabase } from "../../../storage/database.js";
import type { RequestErrorCode } from "../../../storage/parley-error.js";
import type { Category, OrganizationRecord } from "../../../storage/records.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";
import { createDatabaseFile } from "../../storage/temporary-file.js";

/** The services of a platform on a real database in its own folder, seeded for the sandbox by default. */
export class SeededPlatform {
  readonly clock = new VirtualClock();
  readonly cipher = new CredentialCipher("5a".repeat(32));
  readonly backgroundErrors: unknown[] = [];
  readonly database: Database;
  readonly tokens: AccessTokens;
  readonly accounts: Accounts;
  readonly apiKeys: ApiKeys;
  readonly organizations: Organizations;
  readonly plans: Plans;
  readonly providers: Providers;
  readonly agents: Agents;
  readonly modelSearch: ModelSearch;
  #idCount = 0;

  constructor(database: Database) {
    const { clock, cipher, newId } = this;
    this.database = database;
    this.tokens = new AccessTokens({ secret: "s".repeat(32), expiresIn: "1h", clock });
    this.accounts = new Accounts({ database, tokens: this.tokens, clock, newId });
    this.apiKeys = new ApiKeys({
      database,
      clock,
      newId,
      onBackgroundError: (error) => this.backgroundErrors.push(error),
    });
    this.organizations = new Organizations({
      database,
      accounts: this.accounts,
      apiKeys: this.apiKeys,
      clock,
      newId,
    });
    this.plans = new Plans({ database, clock, newId });
    this.providers = new Providers({
      database,
      cipher,
      clock,
      newId,
      allowPrivateAddresses: false,
    });
    this.agents = new Agents({ database, cipher, clock, newId });
    this.modelSearch = new ModelSearch({ database, clock });
  }

  readonly newId = (): string => `id-${++this.#idCount}`;

  seed(options: Seed): Promise<readonly string[]> {
    const { database, cipher, clock, newId } = this;
    return seedPlatform({ database, cipher, clock, newId, ...options });
  }

  /** An active organization on a plan, without the slow hashing of a password. */
  async tenantOn(planSlug: string): Promise<Tenant> {
    const plan = await this.database.plans.findBySlug(planSlug);
    assert.ok(plan);
    const nowMs = this.clock.epochMs();
    const id = this.newId();
    const userId = this.newId();
    const email = `${id}@example.com`;
    const organization: OrganizationRecord = {
      id,
      name: `Organization ${id}`,
      planId: plan.id,
      status: "active",
      ownerEmail: email,
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    };
    await this.database.organizations.insertWithOwner(organization, {
      id: userId,
      orgId: id,
      email,
      passwordHash: "",
      name: "Owner",
      role: "admin",
      isOperator: false,
      createdAtMs: nowMs,
    });
    return { organization, plan, userId, apiKeyId: undefined, scopes: ALL_SCOPES };
  }

  /** Returns the organization as a later request reads it. */
  async refreshed(tenant: Tenant): Promise<Tenant> {
    const found = await findOrganizationWithPlan(this.database, tenant.organization.id);
    assert.ok(found);
    return { ...tenant, ...found };
  }

  async globalId(category: Category, providerKey: string): Promise<string> {
    const all = await this.database.providers.listVisible("");
    const found = all.find(
      (each) => each.category === category && each.providerKey === providerKey,
    );
    assert.ok(found, `${category}/${providerKey} is seeded`);
    return found.id;
  }

  /** Returns an agent whose models the free plan includes. */
  async agentInput(changes: Partial<AgentInput> = {}): Promise<AgentInput> {
    return {
      name: "Reception",
      llmProviderId: await this.globalId("llm", "ollama"),
      llmModelId: "llama3.2",
      ttsProviderId: await this.globalId("tts", "edge"),
      ttsModelId: "en-US-AriaNeural",
      sttProviderId: await this.globalId("stt", "deepgram"),
      ...changes,
    };
  }
}

type Seed = Pick<SeedOptions, "vendorKeys" | "vendorUrls" | "sandbox">;
const SANDBOX: Seed = { vendorKeys: {}, sandbox: true };

/**
 * Returns one platform for all tests of a file, since opening one takes longer than most tests; each test has its own
 * organization. The platform is opened on first use and closed after the file's last test.
 */
export function platformOfFile(): () => Promise<SeededPlatform> {
  let shared: Promise<SeededPlatform> | undefined;
  const closings: (() => Promise<void>)[] = [];
  after(async () => {
    for (const close of closings) await close();
  });
  return () => {
    shared ??= open(SANDBOX, (close) => closings.push(close));
    return shared;
  };
}

/** Opens a platform for one test only. */
export function openPlatform(context: TestContext, seed = SANDBOX): Promise<SeededPlatform> {
  return open(seed, (close) => context.after(close));
}

async function open(
  seed: Seed,
  onClose: (close: () => Promise<void>) => void,
): Promise<SeededPlatform> {
  const folder = await mkdtemp(join(tmpdir(), "parley-tenancy-"));
  const filePath = join(folder, "parley.db");
  await createDatabaseFile(filePath);
  const database = await openDatabase({ filePath });
  onClose(async () => {
    await database.close();
    await rm(folder, { recursive: true, force: true });
  });
  const platform = new SeededPlatform(database);
  await platform.seed(seed);
  return platform;
}

export function ownLlm(changes: Partial<ProviderInput> = {}): ProviderInput {
  return {
    category: "llm",
    providerKey: "openai",
    name: "Our models",
    credentials: { apiKey: "sk-ours" },
    models: [{ modelId: "house-model", label: "House model" }],
    settings: {},
    ...changes,
  };
}

/** A check for assert.rejects: the error has this code, and details for exactly these paths. */
export function refusal(code: RequestErrorCode, ...paths: string[]): (error: unknown) => true {
  return (error) => {
    assert.ok(error instanceof RequestError, String(error));
    assert.equal(error.code, code, error.message);
    assert.deepEqual(
      (error.details ?? []).map((fault) => fault.path),
      paths,
    );
    return true;
  };
}
