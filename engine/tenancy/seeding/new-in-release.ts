import type { ProviderModel, RegistryRecord } from "../../../storage/records.js";
import { VENDOR_CATALOG, type VendorEntry } from "../providers/vendor-catalog.js";

/** The models that this release adds to the database's registry, which the last release wrote. */
export interface NewInRelease {
  /** `modelString`: `vendor/model`, as in the plans. */
  isNew(category: VendorEntry["category"], modelString: string): boolean;
  modelsOf(entry: VendorEntry): readonly ProviderModel[];
  /** The release's entry, followed by the models that only the database has. */
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
