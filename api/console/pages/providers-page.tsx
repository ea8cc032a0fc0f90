import type { Answered } from "../model/contract-paths.js";
import { isKnown } from "../model/known.js";
import { useAgents, useProviders, useRegistry } from "../model/queries.js";
import { NewProvider } from "../parts/new-provider.js";
import { PageHead } from "../parts/page-head.js";
import { ProviderCard } from "../parts/provider-card.js";
import { Loaded, Outline } from "../parts/states.js";
import type { Provider } from "../words/provider-words.js";

type Agent = Answered<"getAgent">;

const KINDS = [
  { category: "llm", title: "Thinking", about: "language models" },
  { category: "tts", title: "Speaking", about: "voices" },
  { category: "stt", title: "Listening", about: "recognizers" },
] as const;

export function ProvidersPage() {
  const providers = useProviders();
  const agents = useAgents();
  const registry = useRegistry();
  // Who uses a provider makes its card higher.
  const data = isKnown(agents) && isKnown(registry) ? providers.data : undefined;
  return (
    <>
      <PageHead title="Providers" about="The vendors that think, speak and listen for your agents.">
        <NewProvider entries={registry.data ?? []} />
      </PageHead>
      <Loaded
        query={{ data, error: providers.error, refetch: providers.refetch }}
        outline={<Outline lines={6} height={120} />}
      >
        {(all) =>
          KINDS.map(({ category, title, about }) => (
            <section key={category} className="stack">
              <h2>
                {title} <span className="soft">{about}</span>
              </h2>
              <div className="cards">
                {all
                  .filter((provider) => provider.category === category)
                  .map((provider) => (
                    <ProviderCard
                      key={provider._id}
                      provider={provider}
                      entry={registry.data?.find((entry) => isOf(provider, entry))}
                      agents={agents.data?.filter((agent) => isFirstOf(provider, agent))}
                      standInAgents={agents.data?.filter((agent) => isStandInOf(provider, agent))}
                    />
                  ))}
              </div>
            </section>
          ))
        }
      </Loaded>
    </>
  );
}

function isOf({ category, providerKey }: Provider, entry: Answered<"listRegistry">[number]) {
  return entry.category === category && entry.providerKey === providerKey;
}

function isFirstOf({ _id }: Provider, agent: Agent): boolean {
  return [agent.llmProviderId, agent.ttsProviderId, agent.sttProviderId].includes(_id);
}

function isStandInOf({ _id }: Provider, { fallbacks }: Agent): boolean {
  const links = [...fallbacks.llm, ...fallbacks.tts, ...fallbacks.stt];
  return links.some(({ providerId }) => providerId === _id);
}
