import { answered, api } from "../model/api.js";
import type { Answered } from "../model/contract-paths.js";
import { globalProvidersChanged, useGlobalProviders } from "../model/platform-queries.js";
import { useRegistry } from "../model/queries.js";
import {
  NewProvider,
  type ProviderActions,
  ProviderButtons,
  StoredTest,
} from "../parts/provider-forms.js";
import { Fault, Loaded } from "../parts/states.js";
import { KIND_NAMES } from "../words/provider-words.js";

const GLOBAL_PROVIDERS: ProviderActions = {
  add: (body) => answered(api.POST("/api/operator/providers", { body })),
  change: (id, body) =>
    answered(api.PATCH("/api/operator/providers/{id}", { params: { path: { id } }, body })),
  remove: (id) =>
    answered(api.DELETE("/api/operator/providers/{id}", { params: { path: { id } } })),
  testNew: (body) => answered(api.POST("/api/operator/providers/test", { body })),
  test: (id) =>
    answered(api.POST("/api/operator/providers/{id}/test", { params: { path: { id } } })),
  onDone: globalProvidersChanged,
};

type GlobalProvider = Answered<"listGlobalProviders">[number];

/** The providers that every organization may use as its plan allows. */
export function PlatformProviders() {
  const providers = useGlobalProviders();
  const registry = useRegistry();
  return (
    <>
      <div className="section-head">
        <p className="soft">
          Every organization can use these as its plan allows. Those of the environment follow its
          variables and are changed there.
        </p>
        <NewProvider
          entries={registry.data ?? []}
          actions={GLOBAL_PROVIDERS}
          label="New provider"
          title="A provider for all organizations"
          isSimulated={
            providers.data?.every(({ active, simulated }) => simulated || !active) === true
          }
        />
      </div>
      {registry.error === null ? null : <Fault error={registry.error} retry={registry.refetch} />}
      <Loaded query={providers}>
        {(all) => <ProviderTable providers={all} entries={registry.data ?? []} />}
      </Loaded>
    </>
  );
}

function toneOf({ active, simulated }: GlobalProvider): string {
  if (!active) return "";
  return simulated ? "warn" : "good";
}

interface ProviderTableProps {
  readonly providers: readonly GlobalProvider[];
  readonly entries: Answered<"listRegistry">;
}

function ProviderTable({ providers, entries }: ProviderTableProps) {
  return (
    <div className="table">
      <table>
        <thead>
          <tr>
            <th scope="col">Provider</th>
            <th scope="col">State</th>
            <th scope="col" className="spare">
              Models
            </th>
            <th scope="col">
              <span className="hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {providers.map((provider) => (
            <tr key={provider._id}>
              <th scope="row" className="name">
                <bdi className="clamped">{provider.name}</bdi>
                <div className="soft">
                  {KIND_NAMES[provider.category]} · {provider.providerKey}
                </div>
              </th>
              <td>
                <span className={`state ${toneOf(provider)}`}>
                  {provider.active ? "active" : "switched off"}
                  {provider.simulated ? ", simulated" : ""}
                </span>
                {provider.origin === "environment" ? (
                  <div className="soft">from the environment</div>
                ) : null}
              </td>
              <td className="spare">{provider.models.length}</td>
              <td>
                <StoredTest actions={GLOBAL_PROVIDERS} provider={provider}>
                  {provider.origin === "environment" ? null : (
                    <ProviderButtons
                      provider={provider}
                      entry={entries.find(
                        ({ category, providerKey }) =>
                          category === provider.category && providerKey === provider.providerKey,
                      )}
                      actions={GLOBAL_PROVIDERS}
                    />
                  )}
                </StoredTest>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
