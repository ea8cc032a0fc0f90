import type { Category, ProviderRecord } from "../../../storage/records.js";
import { VENDORS } from "../../vendors/vendors.js";

/** Provider keys, preferred first. A vendor without a key is listed whether its server runs or not. */
export type ConfiguredVendors = Readonly<
  Record<Category, { readonly withKey: readonly string[]; readonly withoutKey: readonly string[] }>
>;

/** Whether an organization, or the operator with a key, has set the provider up. */
export function isSetUp({ orgId, sealedCredentials }: ProviderRecord): boolean {
  return orgId !== null || sealedCredentials !== null;
}

/**
 * An organization's own providers come first, then the platform's with a key, then those without a key. The platform's
 * are in the order of `VENDORS`.
 */
export function byPreference(one: ProviderRecord, other: ProviderRecord): number {
  return rank(one) - rank(other);
}

/** The vendors of the active providers, preferred first. */
export function configuredVendors(providers: readonly ProviderRecord[]): ConfiguredVendors {
  const active = providers.filter((provider) => provider.active).sort(byPreference);
  const of = (category: Category) => {
    const vendors = active.filter((provider) => provider.category === category);
    return {
      withKey: vendors.filter(isSetUp).map(({ providerKey }) => providerKey),
      withoutKey: vendors.filter((one) => !isSetUp(one)).map(({ providerKey }) => providerKey),
    };
  };
  return { llm: of("llm"), tts: of("tts"), stt: of("stt") };
}

function rank(provider: ProviderRecord): number {
  if (provider.orgId !== null) return -1;
  const place = VENDORS.findIndex(({ key }) => key === provider.providerKey);
  const among = place < 0 ? VENDORS.length : place;
  return isSetUp(provider) ? among : among + VENDORS.length;
}
