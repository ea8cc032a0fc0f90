import { Link } from "wouter";
import { answered, api } from "../model/api.js";
import type { Answered } from "../model/contract-paths.js";
import { providersChanged, useAgents, useProviders, useRegistry } from "../model/queries.js";
import { isKnown } from "../model/query-state.js";
import { CopyButton } from "../parts/copy-button.js";
import { Moment } from "../parts/moment.js";
import { PageHead } from "../parts/page-head.js";
import {
  NewProvider,
  type ProviderActions,
  ProviderButtons,
  StoredTest,
} from "../parts/provider-forms.js";
import { Loaded, Outline } from "../parts/states.js";
import {
  correctionWords,
  keyWords,
  modelNoticeWords,
  type Provider,
  providerState,
  vendorFaultWords,
} from "../words/provider-words.js";

/** The organization's own accounts. */
const OWN_PROVIDERS: ProviderActions = {
  add: (body) => answered(api.POST("/api/dashboard/providers", { body })),
  change: (id, body) =>
    answered(api.PATCH("/api/dashboard/providers/{id}", { params: { path: { id } }, body })),
  remove: (id) =>
    answered(api.DELETE("/api/dashboard/providers/{id}", { params: { path: { id } } })),
  testNew: (body) => answered(api.POST("/api/dashboard/providers/test", { body })),
  test: (id) =>
    answered(api.POST("/api/dashboard/providers/{id}/test", { params: { path: { id } } })),
  onDone: providersChanged,
};

type Agent = Answered<"getAgent">;

const MODELS_SHOWN = 4;

interface ProviderCardProps {
  readonly provider: Provider;
  /** What the catalogue says of its vendor; undefined until it is known. */
  readonly entry: Answered<"listRegistry">[number] | undefined;
  /** Whose calls ask it first; undefined where that cannot be known. */
  readonly agents: readonly Agent[] | undefined;
  /** Whose calls turn to it when another one fails; undefined as `agents`. */
  readonly standInAgents: readonly Agent[] | undefined;
}

export function ProviderCard({ provider, entry, agents, standInAgents }: ProviderCardProps) {
  const { name, models, orgId, providerKey, lastFault, simulated } = provider;
  const labels = models.map(({ label }) => label);
  const rest = labels.length - MODELS_SHOWN;
  const state = providerState(provider);
  return (
    <article className="card stack tight provider" id={`provider-${provider._id}`}>
      <div className="section-head">
        <h3>
          <bdi>{name}</bdi>
        </h3>
        <span className="row">
          {simulated ? <span className="state warn">simulated</span> : null}
          {simulated && state.tone === "good" ? null : (
            <span className={`state ${state.tone}`}>{state.text}</span>
          )}
        </span>
      </div>
      <p className="soft">
        {providerKey} · {orgId === null ? "of this server" : "your own"} · {keyWords(provider)}
      </p>
      {lastFault === null ? null : (
        <p className="soft">
          Last fault: {vendorFaultWords(lastFault.fault)}, <Moment at={lastFault.at} />
        </p>
      )}
      <p>
        {labels.slice(0, MODELS_SHOWN).join(", ")}
        {rest > 0 ? ` and ${rest} more` : ""}
      </p>
      {provider.modelNotices.map(({ modelId, ...notice }) => (
        <p key={modelId} className={`state ${notice.stage === "retired" ? "fault" : "warn"}`}>
          {modelId} {modelNoticeWords(notice)}
        </p>
      ))}
      {provider.parameterCorrections.map((correction) => (
        <p key={`${correction.modelId} ${correction.parameter}`} className="soft">
          {correction.modelId} {correctionWords(correction)}, <Moment at={correction.at} />
        </p>
      ))}
      <UsersOf agents={agents} standInAgents={standInAgents} />
      <div className="actions stack tight">
        <StoredTest actions={OWN_PROVIDERS} provider={provider}>
          <CopyButton text={provider._id} what={`the id of ${name}`} label="Copy ID" />
        </StoredTest>
        {orgId === null ? null : (
          <ProviderButtons provider={provider} entry={entry} actions={OWN_PROVIDERS} />
        )}
      </div>
    </article>
  );
}

function UsersOf({ agents, standInAgents }: Pick<ProviderCardProps, "agents" | "standInAgents">) {
  if (agents === undefined || standInAgents === undefined) {
    return <p className="soft">Agents could not be loaded.</p>;
  }
  if (agents.length + standInAgents.length === 0) return <p className="soft">No agent uses it.</p>;
  return (
    <>
      <AgentNames lead="Used by" agents={agents} />
      <AgentNames lead="Fallback for" agents={standInAgents} />
    </>
  );
}

function AgentNames({ lead, agents }: { lead: string; agents: readonly Agent[] }) {
  if (agents.length === 0) return null;
  return (
    <p>
      {lead}{" "}
      {agents.map(({ _id, name }, index) => (
        <span key={_id}>
          <Link href={`/agents/${_id}`} title={name}>
            <bdi className="short">{name}</bdi>
          </Link>
          {index === agents.length - 1 ? "" : ", "}
        </span>
      ))}
    </p>
  );
}

const KINDS = [
  { category: "llm", title: "LLM", about: "language models" },
  { category: "tts", title: "TTS", about: "voices" },
  { category: "stt", title: "STT", about: "speech recognition" },
] as const;

export function ProvidersPage() {
  const providers = useProviders();
  const agents = useAgents();
  const registry = useRegistry();
  // Who uses a provider makes its card higher.
  const data = isKnown(agents) && isKnown(registry) ? providers.data : undefined;
  return (
    <>
      <PageHead title="Providers" about="The LLM, TTS and STT vendors of your agents.">
        <NewProvider
          entries={registry.data ?? []}
          actions={OWN_PROVIDERS}
          label="Own account"
          title="Your own account at a vendor"
        />
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
