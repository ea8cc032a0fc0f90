import assert from "node:assert/strict";
import { AccessTokens } from "../../engine/security/access-token.js";
import { CredentialCipher } from "../../engine/security/credential-cipher.js";
import type { AgentInput } from "../../engine/tenancy/agents/agent-input.js";
import { newTenancy, type Tenancy } from "../../engine/tenancy/tenancy.js";
import type { Tenant } from "../../engine/tenancy/tenant.js";
import type { Clock } from "../../engine/time/clock.js";
import type { Database } from "../../storage/database.js";
import type { AgentRecord, Category } from "../../storage/records.js";
import { SilentLogger } from "../doubles/silent-logger.js";

export const JWT_SECRET = "j".repeat(32);
export const ENCRYPTION_KEY = "5a".repeat(32);

/** An active organization, with its key. */
export interface Customer {
  readonly tenant: Tenant;
  readonly apiKey: string;
  readonly apiKeyId: string;
  readonly email: string;
}

/** The models of each vendor that the tests' agents use. */
export const MODELS = {
  llm: {
    openai: "gpt-6-luna",
    groq: "openai/gpt-oss-20b",
    ollama: "llama3.2",
    anthropic: "claude-haiku-4-5",
    gemini: "gemini-3.6-flash",
    mistral: "mistral-small-latest",
    openrouter: "openai/gpt-6-luna",
  },
  tts: {
    openai: "tts-1",
    elevenlabs: "eleven_flash_v2_5",
    edge: "en-US-AriaNeural",
    cartesia: "sonic-3.5",
    deepgram: "aura-2-thalia-en",
    kokoro: "kokoro",
  },
} as const;

export interface AgentVendorKeys {
  readonly llm?: keyof typeof MODELS.llm;
  readonly tts?: keyof typeof MODELS.tts;
  /** STT uses the provider's first model. */
  readonly stt?: "deepgram" | "assemblyai" | "whisper";
}

/** Customers and agents of a server under test, written into its database. */
export class TestCustomers {
  readonly #database: Database;
  readonly #tenancy: Tenancy;

  constructor(database: Database, tenancy: Tenancy) {
    this.#database = database;
    this.#tenancy = tenancy;
  }

  /** An active organization with an API key for everything, without the slow hashing of a password. */
  async customer(planSlug = "enterprise"): Promise<Customer> {
    const plan = await this.#database.plans.findBySlug(planSlug);
    assert.ok(plan);
    const id = crypto.randomUUID();
    const email = `${id}@example.com`;
    const times = { createdAtMs: Date.now(), updatedAtMs: Date.now() };
    const organization = { id, name: "Customer", planId: plan.id, ownerEmail: email, ...times };
    const owner = { id: crypto.randomUUID(), orgId: id, email, name: "Owner", passwordHash: "" };
    await this.#database.organizations.insertWithOwner(
      { ...organization, status: "active" },
      { ...owner, role: "admin", isOperator: false, createdAtMs: times.createdAtMs },
    );
    const { rawKey, record } = await this.#tenancy.apiKeys.create(id, { name: "Calls" });
    const tenant = await this.#tenancy.apiKeys.authenticate(rawKey);
    assert.ok(tenant);
    return { tenant, apiKey: rawKey, apiKeyId: record.id, email };
  }

  /** Creates an agent that says nothing by itself unless it has a greeting, and ends a turn after a short silence. */
  async agent(
    { tenant }: Customer,
    changes: Partial<AgentInput> = {},
    { llm = "openai", tts = "openai", stt = "deepgram" }: AgentVendorKeys = {},
  ): Promise<AgentRecord> {
    const { thresholds, persona, ...others } = changes;
    return this.#tenancy.agents.create(tenant, {
      name: "Reception",
      llmProviderId: await this.providerId("llm", llm),
      llmModelId: MODELS.llm[llm],
      ttsProviderId: await this.providerId("tts", tts),
      ttsModelId: MODELS.tts[tts],
      sttProviderId: await this.providerId("stt", stt),
      ...others,
      persona: { greeting: "", ...persona },
      // An agent that speaks by itself would send more TTS requests than a test has counted.
      thresholds: { endpointingMs: 100, fillerAfterMs: 0, idleTimeoutMs: 0, ...thresholds },
    });
  }

  async providerId(category: Category, providerKey: string): Promise<string> {
    const providers = await this.#database.providers.listVisible("");
    const found = providers.find(
      (each) => each.category === category && each.providerKey === providerKey,
    );
    assert.ok(found, `${category}/${providerKey} is seeded`);
    return found.id;
  }
}

/** The services as the server creates them, on its database, for actions of an administrator's command. */
export function tenancyOn(database: Database, clock: Clock): Tenancy {
  return newTenancy({
    database,
    cipher: new CredentialCipher(ENCRYPTION_KEY),
    tokens: new AccessTokens({ secret: JWT_SECRET, expiresIn: "1h", clock }),
    clock,
    newId: () => crypto.randomUUID(),
    // Bypasses the server's own check, so that a test can create a provider that predates it.
    allowPrivateAddresses: true,
    log: new SilentLogger(),
  });
}
