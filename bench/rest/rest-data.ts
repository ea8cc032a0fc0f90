import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { AccessTokens } from "../../engine/security/access-token.js";
import { CredentialCipher } from "../../engine/security/credential-cipher.js";
import { seedPlatform } from "../../engine/tenancy/seeding/seeding.js";
import { newTenancy } from "../../engine/tenancy/tenancy.js";
import type { Tenant } from "../../engine/tenancy/tenant.js";
import { SystemClock } from "../../engine/time/clock.js";
import { type Database, openDatabase } from "../../storage/database.js";
import { storageThread } from "../../storage/sqlite/storage-thread.js";
import { ThreadClient } from "../../storage/sqlite/thread-client.js";

export const JWT_SECRET = "bench".repeat(8);
export const ENCRYPTION_KEY = "be".repeat(32);
export const AGENTS = 25;
const EMAIL = "bench@example.com";
const PASSWORD = "bench bench";
const CALL_EVERY_MS = 1_000;

/** What a client needs to ask for the organization's agents and calls. */
export interface RestData {
  readonly apiKey: string;
  readonly token: string;
  /** The first of the agents. */
  readonly agentId: string;
}

/** Services as the server makes them. */
export function tenancyOn(database: Database) {
  const clock = new SystemClock();
  return newTenancy({
    database,
    clock,
    newId: randomUUID,
    allowPrivateAddresses: false,
    cipher: new CredentialCipher(ENCRYPTION_KEY),
    tokens: new AccessTokens({ secret: JWT_SECRET, expiresIn: "1h", clock }),
    log: { debug: ignore, info: ignore, warn: console.error, error: console.error },
  });
}

/** An organization with an API key, 25 agents, and so many calls of the first of them, in a new database. */
export async function makeRestData(dataDir: string, callCount: number): Promise<RestData> {
  const filePath = join(dataDir, "parley.db");
  const database = await openDatabase({ filePath });
  const clock = new SystemClock();
  const cipher = new CredentialCipher(ENCRYPTION_KEY);
  const seed = { database, clock, cipher, newId: randomUUID };
  const vendorKeys = { deepgram: "bench", openai: "bench" };
  await seedPlatform({ ...seed, vendorKeys, sandbox: false });
  const { accounts, agents, apiKeys, organizations } = tenancyOn(database);
  const planSlug = "enterprise";
  const set = { orgName: "Bench", email: EMAIL, password: PASSWORD, planSlug };
  const { apiKey, organization } = await organizations.setUp(set);
  const tenant = await apiKeys.authenticate(apiKey.rawKey);
  if (tenant === undefined) throw new Error("the new key is not accepted");
  const draft = await agentDraft(database, tenant);
  const first = await agents.create(tenant, { ...draft, name: "Agent 1" });
  for (let index = 2; index <= AGENTS; index += 1) {
    await agents.create(tenant, { ...draft, name: `Agent ${index}` });
  }
  const { token } = await accounts.signIn({ email: EMAIL, password: PASSWORD });
  await database.close();
  await insertCalls(filePath, organization.id, first.id, callCount);
  return { apiKey: apiKey.rawKey, token, agentId: first.id };
}

async function agentDraft(database: Database, tenant: Tenant) {
  const providers = await database.providers.listVisible(tenant.organization.id);
  const idOf = (category: string, providerKey: string) => {
    const found = providers.find(
      (each) => each.category === category && each.providerKey === providerKey,
    );
    if (found === undefined) throw new Error(`no ${category} provider ${providerKey}`);
    return found.id;
  };
  return {
    llmProviderId: idOf("llm", "openai"),
    llmModelId: "gpt-6-luna",
    ttsProviderId: idOf("tts", "openai"),
    ttsModelId: "gpt-4o-mini-tts",
    sttProviderId: idOf("stt", "deepgram"),
  };
}

/** In one statement: what the store does call by call would take a minute for a million. */
async function insertCalls(
  filePath: string,
  orgId: string,
  agentId: string,
  count: number,
): Promise<void> {
  const onFailure = (error: Error) => process.emitWarning(error);
  const client = await ThreadClient.open(storageThread(), { filePath }, { onFailure });
  const sql = `with recursive counted (n) as (select 1 union all select n + 1 from counted where n < ?)
    insert into calls (id, orgId, agentId, sessionId, runId, channel, status, startedAtMs, endedAtMs, durationSec,
      ttfbMs, avgLatencyMs, totalTokens, ttsChars, interruptions, turnCount, summary, sentiment, metadata,
      lastSavedAtMs, createdAtMs)
    select 'call-' || n, ?, ?, 'session-' || n, 'bench', 'web', 'completed', ? + n * ?, ? + n * ? + 60000, 60,
      700, 800, 1000, 900, 1, 6, 'The caller asked for the opening hours.', 'neutral', '{"endReason":"callerLeft"}',
      0, ? + n * ?
    from counted`;
  const startMs = Date.now() - count * CALL_EVERY_MS;
  const at = [startMs, CALL_EVERY_MS];
  const parameters = [count, orgId, agentId, ...at, ...at, ...at];
  await client.send([{ sql, parameters }], false);
  await client.close();
}

function ignore(): void {}
