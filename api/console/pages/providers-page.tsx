import { useMutation } from "@tanstack/react-query";
import { Link } from "wouter";
import { answered, api } from "../model/api.js";
import type { Answered } from "../model/contract-paths.js";
import { useAgents, useProviders, useRegistry } from "../model/queries.js";
import { NewProvider } from "../parts/new-provider.js";
import { PageHead } from "../parts/page-head.js";
import { Fault, Loaded, Outline } from "../parts/states.js";
import { waitWords } from "../words/durations.js";

type Provider = Answered<"getProvider">;
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
  return (
    <>
      <PageHead title="Providers" about="The vendors that think, speak and listen for your agents.">
        <NewProvider entries={registry.data ?? []} />
      </PageHead>
      <Loaded query={providers} outline={<Outline lines={6} height={120} />}>
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
                      agents={usersOf(provider, agents.data ?? [])}
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

function usersOf({ _id }: Provider, agents: readonly Agent[]): readonly Agent[] {
  return agents.filter(
    (agent) =>
      agent.llmProviderId === _id || agent.ttsProviderId === _id || agent.sttProviderId === _id,
  );
}

const MODELS_SHOWN = 4;

function ProviderCard({ provider, agents }: { provider: Provider; agents: readonly Agent[] }) {
  const { name, active, models, orgId, providerKey } = provider;
  const labels = models.map(({ label }) => label);
  const rest = labels.length - MODELS_SHOWN;
  return (
    <article className="card stack tight">
      <div className="row">
        <h3>
          <bdi>{name}</bdi>
        </h3>
        <span className={`state ${active ? "good" : ""}`}>
          {active ? "active" : "switched off"}
        </span>
      </div>
      <p className="soft">
        {orgId === null ? "The platform’s" : "Your own"}, {providerKey}, id{" "}
        <code className="id">{provider._id}</code>
      </p>
      <p>
        {labels.slice(0, MODELS_SHOWN).join(", ")}
        {rest > 0 ? ` and ${rest} more` : ""}
      </p>
      {agents.length === 0 ? (
        <p className="soft">No agent uses it.</p>
      ) : (
        <p>
          Used by{" "}
          {agents.map(({ _id, name: agentName }, index) => (
            <span key={_id}>
              {index === 0 ? "" : ", "}
              <Link href={`/agents/${_id}`}>{agentName}</Link>
            </span>
          ))}
        </p>
      )}
      <ProviderTest id={provider._id} name={name} />
    </article>
  );
}

/** One small call to the vendor, told in words. */
function ProviderTest({ id, name }: { id: string; name: string }) {
  const test = useMutation({
    mutationFn: () =>
      answered(api.POST("/api/dashboard/providers/{id}/test", { params: { path: { id } } })),
  });
  const { data } = test;
  return (
    <div className="stack tight">
      <div>
        <button
          type="button"
          className="button"
          disabled={test.isPending}
          aria-label={`Test ${name}`}
          onClick={() => test.mutate()}
        >
          {test.isPending ? "Asking the vendor" : "Test"}
        </button>
      </div>
      <div role="status">
        {data === undefined ? null : (
          <p className={`state ${data.ok ? "good" : "fault"}`}>
            {data.ok
              ? `It answered in ${waitWords(data.latencyMs)}.`
              : `${data.error} (after ${waitWords(data.latencyMs)})`}
          </p>
        )}
      </div>
      {test.error === null ? null : <Fault error={test.error} />}
    </div>
  );
}
