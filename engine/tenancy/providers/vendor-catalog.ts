import type { RegistryRecord } from "../../../storage/records.js";
import { CATEGORIES } from "../../vendors/vendor.js";
import { VENDORS } from "../../vendors/vendors.js";

export type VendorEntry = Omit<RegistryRecord, "createdAtMs">;

/** Every vendor that the server has a client for, by category. Tenants cannot change it. */
export const VENDOR_CATALOG: readonly VendorEntry[] = CATEGORIES.flatMap((category) =>
  VENDORS.flatMap((vendor) => {
    const offer = vendor[category];
    if (offer === undefined) return [];
    const models = offer.models.map(({ modelId, label, description }) =>
      description === undefined ? { modelId, label } : { modelId, label, description },
    );
    const { displayName, settings } = offer;
    const requiresKey = vendor.apiKey.isRequired;
    return [{ category, providerKey: vendor.key, displayName, requiresKey, models, settings }];
  }),
);
