import { useMutation } from "@tanstack/react-query";
import { Link } from "wouter";
import { answered, api } from "../model/api.js";
import type { Answered } from "../model/contract-paths.js";
import { waitWords } from "../words/durations.js";
import {
  correctionWords,
  modelNoticeWords,
  type Provider,
  providerState,
  vendorFaultWords,
} from "../words/provider-words.js";
import { Moment } from "./moment.js";
import { OwnProvider } from "./own-provider.js";
import { Fault } from "./states.js";

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
  const { name, models, orgId, providerKey, lastFault } = provider;
  const labels = models.map(({ label }) => label);
  const rest = labels.length - MODELS_SHOWN;
  const state = providerState(provider);
  return (
    <article className="card stack tight">
      <div className="row">
        <h3>
          <bdi>{name}</bdi>
        </h3>
        <span className={`state ${state.tone}`}>{state.text}</span>
      </div>
      <p className="soft">
        {orgId === null ? "The platform’s" : "Your own"}, {providerKey}, id{" "}
        <code className="id">{provider._id}</code>
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
      <ProviderTest id={provider._id} name={name} />
      {orgId === null ? null : <OwnProvider provider={provider} entry={entry} />}
    </article>
  );
}

function UsersOf({ agents, standInAgents }: Pick<ProviderCardProps, "agents" | "standInAgents">) {
  if (agents === undefined || standInAgents === undefined) {
    return <p className="soft">Which agents use it could not be loaded.</p>;
  }
  if (agents.length + standInAgents.length === 0) return <p className="soft">No agent uses it.</p>;
  return (
    <>
      <AgentNames lead="Used by" agents={agents} />
      <AgentNames lead="Stands in for" agents={standInAgents} />
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
          {index === 0 ? "" : ", "}
          <Link href={`/agents/${_id}`} title={name}>
            <bdi className="short">{name}</bdi>
          </Link>
        </span>
      ))}
    </p>
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
