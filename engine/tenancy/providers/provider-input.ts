import type {
  Category,
  JsonObject,
  ProviderModel,
  ProviderRecord,
  RegistryRecord,
} from "../../../storage/records.js";
import type { FieldFault } from "../../request-error.js";
import { vendorSettingFaults } from "../../vendors/registry.js";
import {
  namesPrivateHost,
  PUBLIC_ADDRESS_EXPECTED,
} from "../../vendors/transport/private-addresses.js";

/** The fields of a new provider in a request. */
export interface ProviderInput {
  readonly category: Category;
  readonly providerKey: string;
  readonly name: string;
  readonly credentials?: JsonObject | undefined;
  readonly models: readonly ProviderModel[];
  readonly settings?: JsonObject | undefined;
}

/** Settings merge key by key; null removes a key. Credentials are replaced as a whole: they cannot be read back. */
export type ProviderPatch = {
  readonly [Key in "name" | "credentials" | "models" | "settings"]?: ProviderInput[Key] | undefined;
} & { readonly active?: boolean | undefined };

/** Marks a global provider that uses the sandbox; tenants may not set it. */
export const SANDBOX_SETTING = "sandbox";

/** The characters that an HTTP header may contain; other keys would fail in the first call. */
const KEY_FORMAT = /^[\x21-\x7e]+$/;

/** Limits the JSON of settings and of credentials, which every list of providers and every call reads. */
const FREE_FORM_CHARACTERS_MAX = 64 * 1024;

export function mergedSettings(settings: JsonObject, patch: JsonObject | undefined): JsonObject {
  const merged = Object.entries({ ...settings, ...patch });
  return Object.fromEntries(merged.filter(([, value]) => value !== null && value !== undefined));
}

export function settingFaults(
  { category, providerKey, settings: known }: RegistryRecord,
  settings: JsonObject,
): readonly FieldFault[] {
  const faults: FieldFault[] = [];
  if (SANDBOX_SETTING in settings) faults.push({ path: SANDBOX_SETTING, message: "is reserved" });
  for (const { key, required } of known) {
    if (required && settings[key] === undefined) faults.push({ path: key, message: "is required" });
  }
  faults.push(...vendorSettingFaults(category, providerKey, settings));
  return [
    ...lengthFaults("settings", settings),
    ...faults.map(({ path, message }) => ({ path: `settings.${path}`, message })),
  ];
}

/** Connections to private addresses are refused as well; this check reports the address before the first call. */
export function privateUrlFaults({ baseUrl }: JsonObject): readonly FieldFault[] {
  if (typeof baseUrl !== "string" || !URL.canParse(baseUrl)) return [];
  const url = new URL(baseUrl);
  // A scheme that no vendor uses is reported as a separate fault.
  if (!/^(?:http|ws)s?:$/.test(url.protocol) || !namesPrivateHost(url)) return [];
  const message = PUBLIC_ADDRESS_EXPECTED;
  return [{ path: "settings.baseUrl", message }];
}

function lengthFaults(path: string, value: JsonObject): readonly FieldFault[] {
  if (JSON.stringify(value).length <= FREE_FORM_CHARACTERS_MAX) return [];
  return [{ path, message: `expected at most ${FREE_FORM_CHARACTERS_MAX} characters of JSON` }];
}

export function modelFaults(models: readonly ProviderModel[]): readonly FieldFault[] {
  const seen = new Set<string>();
  const faults: FieldFault[] = [];
  for (const [index, { modelId }] of models.entries()) {
    if (seen.has(modelId)) {
      faults.push({ path: `models.${index}.modelId`, message: `"${modelId}" is listed twice` });
    }
    seen.add(modelId);
  }
  return faults;
}

export function credentialFaults(
  entry: Pick<RegistryRecord, "displayName" | "requiresKey">,
  credentials: JsonObject | undefined,
): readonly FieldFault[] {
  const tooLong = lengthFaults("credentials", credentials ?? {});
  if (tooLong.length > 0) return tooLong;
  const path = "credentials.apiKey";
  const apiKey = credentials?.["apiKey"];
  if (apiKey === undefined) {
    return entry.requiresKey ? [{ path, message: `${entry.displayName} requires an API key` }] : [];
  }
  if (typeof apiKey === "string" && KEY_FORMAT.test(apiKey)) return [];
  return [{ path, message: "expected a text of printable ASCII characters without blanks" }];
}

/**
 * A patch with a new address has to contain the credentials again, so that stored ones are never sent to another
 * server. `settings`: the settings after the patch.
 */
export function keptCredentialFaults(
  { sealedCredentials, settings: before }: ProviderRecord,
  { credentials }: ProviderPatch,
  settings: JsonObject,
): readonly FieldFault[] {
  if (sealedCredentials === null || credentials !== undefined) return [];
  if (originIn(before) === originIn(settings)) return [];
  const message = "expected them again, since the address leads to another server";
  return [{ path: "credentials", message }];
}

/** Returns undefined if the vendor's own address is used. */
function originIn({ baseUrl }: JsonObject): string | undefined {
  return typeof baseUrl === "string" && URL.canParse(baseUrl) ? new URL(baseUrl).origin : undefined;
}

/**
 * Returns the names of the fields that a patch changes. Given credentials count as changed, since they cannot be
 * compared. The keys of settings are not named, since users choose them.
 */
export function changedProviderFields(
  before: ProviderRecord,
  { name, active, models, credentials }: ProviderPatch,
  settings: JsonObject,
): readonly string[] {
  const given = { name, active, models, settings };
  const fields = ["name", "active", "models", "settings"] as const;
  const changed = fields.filter((field) => {
    const value = given[field];
    return value !== undefined && JSON.stringify(value) !== JSON.stringify(before[field]);
  });
  return credentials === undefined ? changed : [...changed, "credentials"];
}

export function isSandboxed(provider: Pick<ProviderRecord, "settings">): boolean {
  return provider.settings[SANDBOX_SETTING] === true;
}
