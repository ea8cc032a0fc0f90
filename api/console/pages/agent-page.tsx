import { useMutation } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { Link, useLocation, useSearchParams } from "wouter";
import {
  type AgentDraft,
  changesOf,
  draftAfterSaving,
  draftOf,
  isChanged,
  toolsFault,
} from "../model/agent-draft.js";
import { agentFile, newAgentOf } from "../model/agent-file.js";
import { ApiError, answered, api } from "../model/api.js";
import type { Answered } from "../model/contract-paths.js";
import { queryClient, useAgent, useProviders } from "../model/queries.js";
import { SERVER_URL } from "../model/server-address.js";
import { saveFile } from "../parts/calls/csv-button.js";
import { ConfirmDialog } from "../parts/forms/confirm-dialog.js";
import { useFocusOnFault } from "../parts/forms/focus-on-fault.js";
import { useLeaveGuard } from "../parts/forms/leave-guard.js";
import { ToolTrials } from "../parts/forms/tool-trial.js";
import { McpToolList } from "../parts/mcp-tool-list.js";
import { PageHead } from "../parts/page-head.js";
import { Fault, Loaded, Outline } from "../parts/states.js";
import { Tabs } from "../parts/tabs.js";
import { TryAgent } from "../parts/talk/try-agent.js";
import { WebPageSnippet } from "../parts/web-page-snippet.js";
import { AGENT_STATES } from "../words/agent-words.js";
import { KIND_NAMES, modelNoticeWords } from "../words/provider-words.js";
import { AGENT_TABS, AgentSections, tabOfPath } from "./agent-sections.js";

type Agent = Answered<"getAgent">;

export function AgentPage({ id }: { id: string }) {
  const agent = useAgent(id);
  return (
    <Loaded
      query={agent}
      outline={<Outline lines={8} height={64} />}
      head={<PageHead title="Agent" />}
      notFoundContent={
        <Link className="button" href="/agents">
          All agents
        </Link>
      }
    >
      {(data) => <AgentEditor key={data._id} agent={data} />}
    </Loaded>
  );
}

function AgentEditor({ agent }: { agent: Agent }) {
  const [saved, setSaved] = useState(() => draftOf(agent));
  const [draft, setDraft] = useState(saved);
  const hasChanges = isChanged(saved, draft);
  useLeaveGuard(hasChanges);
  const save = useMutation({
    mutationFn: (sent: AgentDraft) => {
      const params = { path: { id: agent._id } };
      const body = changesOf(saved, sent);
      return answered(api.PATCH("/api/dashboard/agents/{id}", { params, body }));
    },
    onSuccess: (answer, sent) => {
      const stored = draftOf(answer);
      setSaved(stored);
      setDraft((current) => draftAfterSaving(sent, current, stored));
      queryClient.setQueryData(["agents", agent._id], answer);
      void queryClient.invalidateQueries({ queryKey: ["agents"], exact: true });
    },
  });
  const isSound = toolsFault(draft) === undefined;
  const wrong = save.error instanceof ApiError ? save.error.details : [];
  const [search] = useSearchParams();
  const [, navigate] = useLocation();
  const tab = AGENT_TABS.find(({ id }) => id === search.get("tab")) ?? AGENT_TABS[0];
  const addressOf = (id: string) => `/agents/${agent._id}?tab=${id}`;
  const form = useRef<HTMLFormElement>(null);
  const faultyIds = wrong.map(({ path }) => tabOfPath(path));
  // One stays in a tab that has a refused field; otherwise the first such tab is shown.
  const faultyId = faultyIds.includes(tab.id)
    ? tab.id
    : AGENT_TABS.find(({ id }) => faultyIds.includes(id))?.id;
  const [followed, setFollowed] = useState<Error | null>(null);
  // A refused field is shown in its own tab, once: the person may then look at other tabs.
  useEffect(() => {
    if (save.error === followed) return;
    setFollowed(save.error);
    if (faultyId !== undefined && faultyId !== tab.id) {
      navigate(addressOf(faultyId), { replace: true });
    }
  });
  useFocusOnFault(form, save.error, faultyId === undefined || faultyId === tab.id);
  return (
    <>
      <AgentHead agent={agent} draft={saved} />
      <Tabs
        label="Settings"
        tabs={AGENT_TABS}
        currentId={tab.id}
        addressOf={addressOf}
        faultyIds={faultyIds}
      />
      <div className="two">
        <div className="stack">
          <form
            ref={form}
            className="stack"
            onSubmit={(event) => {
              event.preventDefault();
              save.mutate(draft);
            }}
          >
            <AgentSections tab={tab} draft={draft} wrong={wrong} onChange={setDraft} />
            <SaveBar
              error={save.error}
              hasChanges={hasChanges}
              canSave={hasChanges && isSound && !save.isPending}
              onUndo={() => {
                setDraft(saved);
                save.reset();
              }}
            />
          </form>
          {tab.id === "tools" ? <McpToolList agentId={agent._id} /> : null}
          {tab.id === "tools" ? <ToolTrials agentId={agent._id} /> : null}
          {tab.id === "channels" ? <Channels agentId={agent._id} /> : null}
        </div>
        <aside className="beside">
          <TryAgent agentId={agent._id} hasChanges={hasChanges} />
        </aside>
      </div>
    </>
  );
}

/** What has nothing to be saved. */
function Channels({ agentId }: { agentId: string }) {
  return (
    <>
      <section className="card stack" aria-labelledby="web-page-title">
        <h2 id="web-page-title">Put it on a web page</h2>
        <WebPageSnippet agentId={agentId} />
      </section>
      <section className="card stack" aria-labelledby="phone-title">
        <h2 id="phone-title">Telephone</h2>
        <p>
          At your telephony vendor, set the address for incoming calls.{" "}
          <Link href="/numbers">Numbers</Link> has the whole setup.
        </p>
        <code className="secret">
          {SERVER_URL}/api/telephony/voice?api_key=vk_…&amp;agent_id={agentId}
        </code>
      </section>
    </>
  );
}

function AgentHead({ agent, draft }: { agent: Agent; draft: AgentDraft }) {
  const state = AGENT_STATES[agent.status];
  return (
    <PageHead
      title={agent.name}
      about={
        <>
          <span className={`state ${state.look}`}>
            {state.words}
            {agent.pauseReason === null ? "" : `: ${agent.pauseReason}`}
          </span>
          {agent.modelNotices.map(({ category, modelId, ...notice }) => (
            <span
              key={`${category} ${modelId}`}
              className={`state ${notice.stage === "retired" ? "fault" : "warn"}`}
            >
              Its {KIND_NAMES[category]} {modelId} {modelNoticeWords(notice)}
            </span>
          ))}
        </>
      }
    >
      <CopyAgent draft={draft} />
      <DeleteAgent agent={agent} />
    </PageHead>
  );
}

interface SaveBarProps {
  /** Why the last try to save failed: said where one has clicked, however far down the page goes. */
  readonly error: Error | null;
  readonly hasChanges: boolean;
  readonly canSave: boolean;
  readonly onUndo: () => void;
}

function SaveBar({ error, hasChanges, canSave, onUndo }: SaveBarProps) {
  return (
    <div className={hasChanges ? "savebar changed" : "savebar"}>
      {error === null ? null : <Fault error={error} />}
      <span className="soft" role="status">
        {hasChanges ? "Unsaved changes. Calls use the saved version." : "Saved."}
      </span>
      <span className="row end" style={{ marginLeft: "auto" }}>
        <button type="button" className="button" disabled={!hasChanges} onClick={onUndo}>
          Undo
        </button>
        <button type="submit" className="button main" disabled={!canSave}>
          Save
        </button>
      </span>
    </div>
  );
}

/** Copies of the saved agent: a second one here, and a file. */
function CopyAgent({ draft }: { draft: AgentDraft }) {
  const [, navigate] = useLocation();
  const providers = useProviders();
  const duplicate = useMutation({
    mutationFn: () => {
      const body = newAgentOf(draft, `${draft.name} (copy)`);
      return answered(api.POST("/api/dashboard/agents", { body }));
    },
    onSuccess: (copy) => {
      void queryClient.invalidateQueries({ queryKey: ["agents"], exact: true });
      navigate(`/agents/${copy._id}`);
    },
  });
  return (
    <>
      {duplicate.error === null ? null : <Fault error={duplicate.error} />}
      <button
        type="button"
        className="button"
        disabled={duplicate.isPending}
        title="Secrets of tools and MCP servers are not copied."
        onClick={() => duplicate.mutate()}
      >
        Duplicate
      </button>
      <button
        type="button"
        className="button"
        disabled={providers.data === undefined}
        onClick={() =>
          saveFile(`${draft.name}.json`, "application/json", agentFile(draft, providers.data ?? []))
        }
      >
        Export
      </button>
    </>
  );
}

function DeleteAgent({ agent }: { agent: Agent }) {
  const [isAsking, setAsking] = useState(false);
  const [, navigate] = useLocation();
  const remove = useMutation({
    mutationFn: () => {
      const params = { path: { id: agent._id } };
      return answered(api.DELETE("/api/dashboard/agents/{id}", { params }));
    },
    onSuccess: () => {
      void queryClient.invalidateQueries({ queryKey: ["agents"], exact: true });
      navigate("/agents");
    },
  });
  return (
    <>
      <button type="button" className="button fault" onClick={() => setAsking(true)}>
        Delete
      </button>
      {isAsking ? (
        <ConfirmDialog
          title={`Delete ${agent.name}?`}
          consequence="It will stop taking calls. Past calls are kept."
          keep="Keep it"
          action="Delete"
          isBusy={remove.isPending}
          error={remove.error}
          onKeep={() => setAsking(false)}
          onAct={() => remove.mutate()}
        />
      ) : null}
    </>
  );
}
