import type { Database } from "../../storage/database.js";
import type { ProviderRecord } from "../../storage/records.js";
import type { CredentialCipher } from "../security/credential-cipher.js";
import type { Clock } from "../time/clock.js";
import { Plans } from "./plans.js";
import { isSandboxed, SANDBOX_SETTING } from "./provider-input.js";
import { VENDOR_CATALOG, type VendorEntry } from "./vendor-catalog.js";

/** The platform's own keys; of what is set, global providers are made. */
export interface VendorKeys {
  readonly deepgram?: string | undefined;
  readonly openai?: string | undefined;
  readonly groq?: string | undefined;
  readonly elevenlabs?: string | undefined;
}

export interface SeedOptions {
  readonly database: Pick<Database, "plans" | "providers" | "registry">;
  readonly cipher: CredentialCipher;
  readonly clock: Clock;
  readonly newId: () => string;
  readonly vendorKeys: VendorKeys;
  /** All seven global providers, marked to speak to the sandbox, without real keys. */
  readonly sandbox: boolean;
}

/** The sandbox takes any key that is not empty. */
const SANDBOX_API_KEY = "sandbox";
/** Owns nothing, so that what it sees is what is global. */
const NOBODY = "";

type Credentials = Pick<ProviderRecord, "sealedCredentials" | "settings">;

/** Stores the plans, the registry and the global providers. What exists stays, except what only the sandbox had made. */
export async function seedPlatform(options: SeedOptions): Promise<void> {
  const { database, clock } = options;
  await new Plans(options).seed();
  const createdAtMs = clock.epochMs();
  for (const entry of VENDOR_CATALOG) {
    await database.registry.insertIfAbsent({ ...entry, createdAtMs });
  }
  const globals = await database.providers.listVisible(NOBODY);
  for (const entry of VENDOR_CATALOG) {
    const existing = globals.find(
      ({ category, providerKey }) =>
        category === entry.category && providerKey === entry.providerKey,
    );
    if (existing === undefined) await insertGlobal(options, entry);
    else await switchMode(options, entry, existing);
  }
}

async function insertGlobal(options: SeedOptions, entry: VendorEntry): Promise<void> {
  const { database, clock, newId, sandbox } = options;
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

/** Between sandbox and real. A real provider with a key is never touched: its key could not be had back. */
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

/** Undefined when the vendor needs a key and none is set. */
function realCredentials(
  { cipher, vendorKeys }: SeedOptions,
  entry: VendorEntry,
): Credentials | undefined {
  if (!entry.requiresKey) return { sealedCredentials: null, settings: {} };
  const apiKey = keyOf(vendorKeys, entry.providerKey);
  if (apiKey === undefined || apiKey === "") return undefined;
  return { sealedCredentials: cipher.seal({ apiKey }), settings: {} };
}

function keyOf(vendorKeys: VendorKeys, providerKey: string): string | undefined {
  switch (providerKey) {
    case "deepgram":
      return vendorKeys.deepgram;
    case "openai":
      return vendorKeys.openai;
    case "groq":
      return vendorKeys.groq;
    case "elevenlabs":
      return vendorKeys.elevenlabs;
    default:
      return undefined;
  }
}
