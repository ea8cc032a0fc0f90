import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import {
  type AgentDraft,
  changesOf,
  draftAfterSaving,
  draftOf,
  isChanged,
  toolsFault,
} from "../model/agent-draft.js";
import { ApiError, answered, api } from "../model/api.js";
import type { Answered } from "../model/contract-paths.js";
import { queryClient, useAgent } from "../model/queries.js";
import { AskDialog } from "../parts/forms/ask-dialog.js";
import { useLeaveGuard } from "../parts/forms/leave-guard.js";
import { PageHead } from "../parts/page-head.js";
import { Fault, Loaded, Outline } from "../parts/states.js";
import { TryAgent } from "../parts/talk/try-agent.js";
import { WebPageSnippet } from "../parts/web-page-snippet.js";
import { AGENT_STATES } from "../words/agent-words.js";
import { KIND_NAMES, modelNoticeWords } from "../words/provider-words.js";
import { AgentSections, SECTIONS } from "./agent-sections.js";

type Agent = Answered<"getAgent">;

/** The section that has nothing to be saved. */
const WEB_PAGE = "web-page";

export function AgentPage({ id }: { id: string }) {
  const agent = useAgent(id);
  return (
    <Loaded
      query={agent}
      outline={<Outline lines={8} height={64} />}
      head={<PageHead title="Agent" />}
      elsewhere={
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
  return (
    <>
      <AgentHead agent={agent} />
      <nav className="contents" aria-label="Sections">
        {SECTIONS.map(({ id, title }) => (
          <a key={id} href={`#${id}`}>
            {title}
          </a>
        ))}
        <a href={`#${WEB_PAGE}`}>Web page</a>
      </nav>
      <div className="two">
        <div className="stack">
          <form
            className="stack"
            onSubmit={(event) => {
              event.preventDefault();
              save.mutate(draft);
            }}
          >
            <AgentSections draft={draft} wrong={wrong} onChange={setDraft} />
            <SaveBar
              error={save.error}
              hasChanges={hasChanges}
              canSave={hasChanges && isSound && !save.isPending}
              onUndo={() => setDraft(saved)}
            />
          </form>
          <WebPage agentId={agent._id} />
        </div>
        <aside className="beside">
          <TryAgent agentId={agent._id} hasChanges={hasChanges} />
        </aside>
      </div>
    </>
  );
}

function WebPage({ agentId }: { agentId: string }) {
  return (
    <section id={WEB_PAGE} className="card stack" aria-labelledby={`${WEB_PAGE}-title`}>
      <h2 id={`${WEB_PAGE}-title`}>Put it on a web page</h2>
      <WebPageSnippet agentId={agentId} />
    </section>
  );
}

function AgentHead({ agent }: { agent: Agent }) {
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
    <div className="savebar">
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
        <AskDialog
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
