import { useMutation } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { useState } from "react";
import { Link } from "wouter";
import { answered, api } from "../model/api.js";
import type { Answered, Sent } from "../model/contract-paths.js";
import { isKnown } from "../model/known.js";
import {
  changesOfProvider,
  draftOfProvider,
  newProvider,
  type ProviderDraft,
  sentOfDraft,
} from "../model/provider-draft.js";
import { providersChanged, useAgents, useProviders, useRegistry } from "../model/queries.js";
import { CopyButton } from "../parts/copy-button.js";
import { AskDialog } from "../parts/forms/ask-dialog.js";
import { CheckField, SelectField } from "../parts/forms/field.js";
import { FormDialog } from "../parts/forms/form-dialog.js";
import { Moment } from "../parts/moment.js";
import { PageHead } from "../parts/page-head.js";
import { ProviderFields } from "../parts/provider-fields.js";
import { Fault, Loaded, Outline } from "../parts/states.js";
import { waitWords } from "../words/durations.js";
import {
  correctionWords,
  KIND_NAMES,
  keyWords,
  modelNoticeWords,
  type Provider,
  providerState,
  vendorFaultWords,
} from "../words/provider-words.js";

type Entry = Answered<"listRegistry">[number];

interface OwnProviderProps {
  readonly provider: Provider;
  /** What the catalogue says of its vendor; undefined until it is known. */
  readonly entry: Entry | undefined;
}

/** What its owners may do with a provider. */
export function OwnProvider({ provider, entry }: OwnProviderProps) {
  const [open, setOpen] = useState<"change" | "delete">();
  const close = () => setOpen(undefined);
  return (
    <div className="row">
      <button
        type="button"
        className="button"
        aria-label={`Change ${provider.name}`}
        disabled={entry === undefined}
        onClick={() => setOpen("change")}
      >
        Change
      </button>
      <button
        type="button"
        className="button fault"
        aria-label={`Delete ${provider.name}`}
        onClick={() => setOpen("delete")}
      >
        Delete
      </button>
      {open === "change" && entry !== undefined ? (
        <ChangeForm provider={provider} entry={entry} onClose={close} />
      ) : null}
      {open === "delete" ? <DeleteDialog provider={provider} onClose={close} /> : null}
    </div>
  );
}

interface ChangeFormProps {
  readonly provider: Provider;
  readonly entry: Entry;
  readonly onClose: () => void;
}

function ChangeForm({ provider, entry, onClose }: ChangeFormProps) {
  const [draft, setDraft] = useState(() => draftOfProvider(entry, provider));
  const [isActive, setActive] = useState(provider.active);
  const change = useMutation({
    mutationFn: (body: Sent<"updateProvider">) => {
      const params = { path: { id: provider._id } };
      return answered(api.PATCH("/api/dashboard/providers/{id}", { params, body }));
    },
    onSuccess: async () => {
      await providersChanged();
      onClose();
    },
  });
  return (
    <FormDialog
      title={`Change ${provider.name}`}
      action="Save"
      isBusy={change.isPending}
      error={change.error}
      onSubmit={() =>
        change.mutate({ ...changesOfProvider(entry, provider, draft), active: isActive })
      }
      onClose={onClose}
    >
      <CheckField
        label="Switched on"
        hint="Switched off, calls that need it turn to the agents’ fallbacks, or are refused."
        value={isActive}
        onChange={setActive}
      />
      <ProviderFields
        entry={entry}
        draft={draft}
        isKeyRequired={false}
        keyHint="Left empty, the one that is stored stays. It is asked for again where the address leads to another server."
        error={change.error}
        onChange={setDraft}
      />
    </FormDialog>
  );
}

function DeleteDialog({ provider, onClose }: Pick<ChangeFormProps, "provider" | "onClose">) {
  const remove = useMutation({
    mutationFn: () => {
      const params = { path: { id: provider._id } };
      return answered(api.DELETE("/api/dashboard/providers/{id}", { params }));
    },
    onSuccess: async () => {
      await providersChanged();
      onClose();
    },
  });
  return (
    <AskDialog
      title={`Delete ${provider.name}?`}
      consequence="Its key is forgotten. A provider that an agent uses cannot be deleted."
      keep="Keep it"
      action="Delete"
      isBusy={remove.isPending}
      error={remove.error}
      onKeep={onClose}
      onAct={() => remove.mutate()}
    />
  );
}

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
          <span className={`state ${state.tone}`}>{state.text}</span>
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
        <ProviderTest provider={provider} />
        {orgId === null ? null : <OwnProvider provider={provider} entry={entry} />}
      </div>
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
function ProviderTest({ provider: { _id: id, name } }: { provider: Provider }) {
  const test = useMutation({
    mutationFn: () =>
      answered(api.POST("/api/dashboard/providers/{id}/test", { params: { path: { id } } })),
  });
  const { data } = test;
  return (
    <div className="stack tight">
      <div className="row">
        <button
          type="button"
          className="button"
          disabled={test.isPending}
          aria-label={`Test ${name}`}
          onClick={() => test.mutate()}
        >
          {test.isPending ? "Asking the vendor" : "Test"}
        </button>
        <CopyButton text={id} what={`the id of ${name}`} label="Copy ID" />
      </div>
      <TestResult result={data} atMs={test.submittedAt} />
      {test.error === null ? null : <Fault error={test.error} />}
    </div>
  );
}

interface TestResultProps {
  /** Undefined before a test. */
  readonly result: Answered<"testProvider"> | undefined;
  readonly atMs: number;
}

function TestResult({ result, atMs }: TestResultProps) {
  return (
    <div role="status">
      {result === undefined ? null : (
        <p className={`state ${result.ok ? "good" : "fault"}`}>
          <span>
            {result.ok
              ? `It answered in ${waitWords(result.latencyMs)}.`
              : `${result.error} (after ${waitWords(result.latencyMs)})`}{" "}
            <span className="soft">
              Tried <Moment at={new Date(atMs).toISOString()} />
            </span>
          </span>
        </p>
      )}
    </div>
  );
}

export function NewProvider({ entries }: { entries: readonly Entry[] }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button
        type="button"
        className="button main"
        disabled={entries.length === 0}
        onClick={() => setOpen(true)}
      >
        <Plus size={16} aria-hidden /> Own account
      </button>
      {isOpen ? <ProviderForm entries={entries} onClose={() => setOpen(false)} /> : null}
    </>
  );
}

const KEY_HINT = "Sealed when it is stored, and never shown again.";
const NO_DRAFT: ProviderDraft = { name: "", apiKey: "", settings: {}, models: "" };

interface ProviderFormProps {
  readonly entries: readonly Entry[];
  readonly onClose: () => void;
}

function ProviderForm({ entries, onClose }: ProviderFormProps) {
  const [at, setAt] = useState(0);
  const entry = entries[at];
  const [draft, setDraft] = useState(() => draftFor(entry));
  const add = useMutation({
    mutationFn: (chosen: Entry) => addProvider(chosen, draft),
    onSuccess: async () => {
      await providersChanged();
      onClose();
    },
  });
  const test = useMutation({
    mutationFn: (chosen: Entry) => testProvider(chosen, draft),
  });
  const choose = (value: string) => {
    const index = Number(value);
    setAt(index);
    // What a person has typed of the account is for the vendor that it was typed for, but for its name.
    setDraft({ ...draftFor(entries[index]), name: draft.name });
    add.reset();
    test.reset();
  };
  return (
    <FormDialog
      title="A vendor’s account of your own"
      action="Add the provider"
      isBusy={add.isPending}
      error={add.error}
      onSubmit={() => {
        if (entry !== undefined) add.mutate(entry);
      }}
      onClose={onClose}
    >
      <SelectField
        label="Vendor"
        value={String(at)}
        onChange={choose}
        options={entries.map(({ displayName, category }, index) => ({
          value: String(index),
          label: `${displayName} (${KIND_NAMES[category]})`,
        }))}
      />
      {entry === undefined ? null : (
        <ProviderFields
          entry={entry}
          draft={draft}
          isKeyRequired={entry.requiresKey}
          keyHint={
            entry.requiresKey ? KEY_HINT : `Empty where its server asks for none. ${KEY_HINT}`
          }
          error={add.error ?? test.error}
          onChange={(next) => {
            setDraft(next);
            test.reset();
          }}
        />
      )}
      <div>
        <button
          type="button"
          className="button"
          disabled={entry === undefined || test.isPending}
          onClick={() => {
            add.reset();
            if (entry !== undefined) test.mutate(entry);
          }}
        >
          {test.isPending ? "Asking the vendor" : "Test"}
        </button>
      </div>
      <TestResult result={test.data} atMs={test.submittedAt} />
      {test.error === null ? null : <Fault error={test.error} />}
    </FormDialog>
  );
}

function draftFor(entry: Entry | undefined): ProviderDraft {
  return entry === undefined ? NO_DRAFT : newProvider(entry);
}

function addProvider(entry: Entry, draft: ProviderDraft) {
  const { category, providerKey } = entry;
  const body = { category, providerKey, ...sentOfDraft(entry, draft) };
  return answered(api.POST("/api/dashboard/providers", { body }));
}

/** Tried without being stored; a name that is still missing is no reason not to. */
function testProvider(entry: Entry, draft: ProviderDraft) {
  const { category, providerKey, displayName } = entry;
  const sent = sentOfDraft(entry, draft);
  const name = sent.name === "" ? displayName : sent.name;
  const body = { category, providerKey, ...sent, name };
  return answered(api.POST("/api/dashboard/providers/test", { body }));
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
