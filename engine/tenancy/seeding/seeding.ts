import type { Database } from "../../../storage/database.js";
import type { ProviderModel, ProviderRecord } from "../../../storage/records.js";
import type { Logger } from "../../log.js";
import type { CredentialCipher } from "../../security/credential-cipher.js";
import type { Clock } from "../../time/clock.js";
import type { VendorKeys, VendorUrls } from "../../vendors/vendor-environment.js";
import { vendorOf } from "../../vendors/vendors.js";
import { modelString, providerModelNotice } from "../agents/agent-access.js";
import { auditEntry, SERVER_ACTOR } from "../audit-entry.js";
import { Plans } from "../plans.js";
import { isSandboxed, SANDBOX_SETTING } from "../providers/provider-input.js";
import { VENDOR_CATALOG, type VendorEntry } from "../providers/vendor-catalog.js";
import { newInRelease } from "./new-in-release.js";

export interface SeedOptions {
  readonly database: Pick<Database, "plans" | "providers" | "registry">;
  readonly cipher: CredentialCipher;
  readonly clock: Clock;
  readonly newId: () => string;
  /** The API keys from the environment: a vendor with a key gets global providers. */
  readonly vendorKeys: VendorKeys;
  /** Addresses of vendors without a public one; entries for other vendors are ignored. */
  readonly vendorUrls?: VendorUrls;
  /** Creates global providers of every vendor that can have one, marked for the sandbox and without a real key. */
  readonly sandbox: boolean;
}

/** The sandbox accepts any key that is not empty. */
const SANDBOX_API_KEY = "sandbox";
/** An id that owns no providers, so only global ones are visible to it. */
const NOBODY = "";

type Credentials = Pick<ProviderRecord, "sealedCredentials" | "settings">;

/**
 * Stores the plans, the global providers and the registry. Existing records stay, with three exceptions: what only the
 * sandbox had created, models that are new in this release, and keys that were changed in the environment. Returns the
 * vendors whose keys were changed.
 */
export async function seedPlatform(options: SeedOptions): Promise<readonly string[]> {
  const changedKeys = new Set<string>();
  const { database, clock } = options;
  const release = newInRelease(await database.registry.list());
  await new Plans(options).seed(release);
  const globals = await database.providers.listVisible(NOBODY);
  for (const entry of VENDOR_CATALOG) {
    const existing = globals.find(
      ({ category, providerKey, origin }) =>
        category === entry.category && providerKey === entry.providerKey && origin !== "operator",
    );
    if (existing === undefined) await insertGlobal(options, entry);
    else {
      await addModels(options, existing, release.modelsOf(entry));
      await switchMode(options, entry, existing);
      if (await followKey(options, entry, existing)) changedKeys.add(entry.providerKey);
    }
  }
  // The registry is written last, since it records which models were offered: the next start completes an interrupted
  // one.
  const createdAtMs = clock.epochMs();
  for (const entry of VENDOR_CATALOG) {
    const { models } = release.registryEntry(entry);
    await database.registry.put({ ...entry, models, createdAtMs });
  }
  return [...changedKeys];
}

/** Limits the warnings at a start; the console shows all of them. */
const WARNINGS_MAX = 20;

/** Warns the operator of models that active agents use and that their vendor has retired or will retire soon. */
export async function warnOfRetiringModels({
  database,
  clock,
  log,
}: {
  readonly database: Pick<Database, "agents" | "providers">;
  readonly clock: Clock;
  readonly log: Logger;
}): Promise<void> {
  const uses = await database.agents.listModelUses();
  const providers = await database.providers.findMany([
    ...new Set(uses.map(({ providerId }) => providerId)),
  ]);
  const nowMs = clock.epochMs();
  const agentsOf = new Map<string, { readonly facts: object; agents: number }>();
  for (const { providerId, modelId, agents } of uses) {
    const provider = providers.find(({ id }) => id === providerId);
    const notice = provider && providerModelNotice(provider, modelId, nowMs);
    if (provider === undefined || notice === undefined) continue;
    const { providerKey, category } = provider;
    const facts = { category, model: modelString(provider, modelId), ...notice };
    const known = agentsOf.get(`${category} ${providerKey}/${modelId}`) ?? { facts, agents: 0 };
    known.agents += agents;
    agentsOf.set(`${category} ${providerKey}/${modelId}`, known);
  }
  for (const { facts, agents } of [...agentsOf.values()].slice(0, WARNINGS_MAX)) {
    log.warn({ ...facts, agents }, "active agents use a model that its vendor is retiring");
  }
}

async function insertGlobal(options: SeedOptions, entry: VendorEntry): Promise<void> {
  const { database, clock, newId, sandbox } = options;
  if (vendorOf(entry.providerKey)?.address.variable === undefined) return;
  const credentials = sandbox
    ? sandboxCredentials(options, entry)
    : realCredentials(options, entry);
  if (credentials === undefined) return;
  const nowMs = clock.epochMs();
  await database.providers.insertGlobalIfAbsent({
    id: newId(),
    orgId: null,
    category: entry.category,
    providerKey: entry.providerKey,
    name: entry.displayName,
    models: entry.models,
    ...credentials,
    active: true,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  });
}

/** Keeps the operator's own models, and does not restore a model that the operator has removed. */
async function addModels(
  { database, clock }: SeedOptions,
  { id, models }: ProviderRecord,
  added: readonly ProviderModel[],
): Promise<void> {
  const known = new Set(models.map(({ modelId }) => modelId));
  const missing = added.filter(({ modelId }) => !known.has(modelId));
  if (missing.length === 0) return;
  await database.providers.update(id, null, { models: [...models, ...missing] }, clock.epochMs());
}

/**
 * Follows the environment, which is the only source of a platform's key. A removed variable changes nothing: calls
 * continue with the stored key. Returns true if the key was changed.
 */
async function followKey(
  { database, cipher, clock, newId, vendorKeys, sandbox }: SeedOptions,
  { providerKey, requiresKey }: VendorEntry,
  { id, name, settings, sealedCredentials }: ProviderRecord,
): Promise<boolean> {
  const apiKey = vendorKeys[providerKey];
  if (sandbox || !requiresKey || isSandboxed({ settings })) return false;
  if (apiKey === undefined || apiKey === "") return false;
  if (sealedCredentials !== null && storedKey(cipher, sealedCredentials) === apiKey) return false;
  const atMs = clock.epochMs();
  const auditRecord = auditEntry({
    id: newId(),
    atMs,
    actor: SERVER_ACTOR,
    action: "provider.update",
    target: { type: "provider", id, orgId: null, name },
    changes: ["credentials"],
  });
  const sealed = { sealedCredentials: cipher.seal({ apiKey }) };
  await database.providers.update(id, null, sealed, atMs, auditRecord);
  return true;
}

/** Returns undefined if the key cannot be decrypted; calls cannot use it either. */
function storedKey(cipher: CredentialCipher, sealed: string): unknown {
  try {
    return cipher.open(sealed)["apiKey"];
  } catch {
    return undefined;
  }
}

/** Switches between sandbox and real, except a real provider with a key, since its key would be lost. */
async function switchMode(
  options: SeedOptions,
  entry: VendorEntry,
  existing: ProviderRecord,
): Promise<void> {
  const { database, clock, sandbox } = options;
  const { id } = existing;
  const nowMs = clock.epochMs();
  if (sandbox) {
    if (!isSandboxed(existing) && entry.requiresKey) return;
    if (isSandboxed(existing) && existing.active) return;
    const credentials = sandboxCredentials(options, entry);
    await database.providers.update(id, null, { ...credentials, active: true }, nowMs);
    return;
  }
  if (!isSandboxed(existing)) return;
  const credentials = realCredentials(options, entry);
  if (credentials !== undefined) {
    await database.providers.update(id, null, { ...credentials, active: true }, nowMs);
  } else if (existing.active) {
    await database.providers.update(id, null, { active: false }, nowMs);
  }
}

function sandboxCredentials({ cipher }: SeedOptions, entry: VendorEntry): Credentials {
  return {
    sealedCredentials: entry.requiresKey ? cipher.seal({ apiKey: SANDBOX_API_KEY }) : null,
    settings: { [SANDBOX_SETTING]: true },
  };
}

/** Returns undefined if the vendor needs a key or an address and none is set. */
function realCredentials(
  { cipher, vendorKeys, vendorUrls = {} }: SeedOptions,
  entry: VendorEntry,
): Credentials | undefined {
  const { providerKey } = entry;
  const isPublic = vendorOf(providerKey)?.address.publicUrl !== undefined;
  if (!isPublic && vendorUrls[providerKey] === undefined) return undefined;
  if (!entry.requiresKey) return { sealedCredentials: null, settings: {} };
  const apiKey = vendorKeys[providerKey];
  if (apiKey === undefined || apiKey === "") return undefined;
  return { sealedCredentials: cipher.seal({ apiKey }), settings: {} };
}
