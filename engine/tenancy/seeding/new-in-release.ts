import type { ProviderModel, RegistryRecord } from "../../../storage/records.js";
import { VENDOR_CATALOG, type VendorEntry } from "../providers/vendor-catalog.js";

/** What this release has that the database's registry, written by the last one, has not. */
export interface NewInRelease {
  /** In the form of the plans: `vendor/model`. */
  isNew(category: VendorEntry["category"], modelString: string): boolean;
  modelsOf(entry: VendorEntry): readonly ProviderModel[];
  /** The release's entry, behind whose models stand those that only the database knows. */
  registryEntry(entry: VendorEntry): VendorEntry;
}

export function newInRelease(stored: readonly RegistryRecord[]): NewInRelease {
  const storedModels = (entry: VendorEntry): readonly ProviderModel[] =>
    stored.find(
      ({ category, providerKey }) =>
        category === entry.category && providerKey === entry.providerKey,
    )?.models ?? [];
  const modelsOf = (entry: VendorEntry) => without(entry.models, storedModels(entry));
  const added = new Set(
    VENDOR_CATALOG.flatMap((entry) =>
      modelsOf(entry).map(({ modelId }) => `${entry.category} ${entry.providerKey}/${modelId}`),
    ),
  );
  return {
    isNew: (category, modelString) => added.has(`${category} ${modelString}`),
    modelsOf,
    registryEntry: (entry) => ({
      ...entry,
      models: [...entry.models, ...without(storedModels(entry), entry.models)],
    }),
  };
}

function without(
  models: readonly ProviderModel[],
  others: readonly ProviderModel[],
): readonly ProviderModel[] {
  const ids = new Set(others.map(({ modelId }) => modelId));
  return models.filter(({ modelId }) => !ids.has(modelId));
}
