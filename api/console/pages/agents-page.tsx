import { useMutation } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { useRef, useState } from "react";
import { Link, useLocation } from "wouter";
import { AGENT_FILE_BYTES_MAX, importedAgent } from "../model/agent-file.js";
import { answered, api } from "../model/api.js";
import type { Answered } from "../model/contract-paths.js";
import { makeAgent } from "../model/new-agent.js";
import { queryClient, useAgents, useProviders } from "../model/queries.js";
import { TextField } from "../parts/forms/field.js";
import { FormDialog } from "../parts/forms/form-dialog.js";
import { PageHead } from "../parts/page-head.js";
import { Empty, Fault, Loaded } from "../parts/states.js";
import { AGENT_STATES } from "../words/agent-words.js";

type Agent = Answered<"getAgent">;

export function AgentsPage() {
  const agents = useAgents();
  const [isMaking, setMaking] = useState(false);
  const button = (
    <button type="button" className="button main" onClick={() => setMaking(true)}>
      <Plus size={16} aria-hidden /> New agent
    </button>
  );
  return (
    <>
      <PageHead title="Agents" about="They answer and place your calls.">
        <Link className="button" href="/start">
          From a template
        </Link>
        <ImportAgent />
        {button}
      </PageHead>
      <Loaded query={agents}>
        {(all) =>
          all.length === 0 ? (
            <Empty title="No agent yet">
              <p>An agent talks with your callers. A name is enough to begin; all else can wait.</p>
              {button}
            </Empty>
          ) : (
            <AgentTable agents={all} />
          )
        }
      </Loaded>
      {isMaking ? <NewAgent onClose={() => setMaking(false)} /> : null}
    </>
  );
}

/** Makes an agent of a file that an agent's page has exported. */
function ImportAgent() {
  const providers = useProviders();
  const [, navigate] = useLocation();
  const field = useRef<HTMLInputElement>(null);
  const importing = useMutation({
    mutationFn: async (file: File) => {
      if (file.size > AGENT_FILE_BYTES_MAX) throw new Error("The file is larger than 1 MiB.");
      const body = importedAgent(await file.text(), providers.data ?? []);
      return answered(api.POST("/api/dashboard/agents", { body }));
    },
    onSuccess: (agent) => {
      void queryClient.invalidateQueries({ queryKey: ["agents"], exact: true });
      navigate(`/agents/${agent._id}`);
    },
  });
  return (
    <>
      {importing.error === null ? null : <Fault error={importing.error} />}
      <button
        type="button"
        className="button"
        disabled={importing.isPending || providers.data === undefined}
        onClick={() => field.current?.click()}
      >
        Import
      </button>
      <input
        ref={field}
        type="file"
        accept="application/json,.json"
        aria-label="File of an agent"
        hidden
        onChange={({ target }) => {
          const [file] = target.files ?? [];
          if (file !== undefined) importing.mutate(file);
          target.value = "";
        }}
      />
    </>
  );
}

function AgentTable({ agents }: { agents: readonly Agent[] }) {
  const providers = useProviders();
  const nameOf = (id: string) => providers.data?.find(({ _id }) => _id === id)?.name ?? "";
  return (
    <div className="table">
      <table>
        <thead>
          <tr>
            <th scope="col">Agent</th>
            <th scope="col">State</th>
            <th scope="col" className="spare vendors">
              LLM, TTS, STT
            </th>
          </tr>
        </thead>
        <tbody>
          {agents.map((agent) => (
            <tr key={agent._id} className="linked">
              <td>
                <Link className="whole" href={`/agents/${agent._id}`} data-row>
                  <bdi className="clamped" title={agent.name}>
                    {agent.name}
                  </bdi>
                </Link>
              </td>
              <td>
                <span className={`state ${AGENT_STATES[agent.status].look}`}>
                  {AGENT_STATES[agent.status].words}
                </span>
                {agent.pauseReason === null ? null : (
                  <div className="soft">{agent.pauseReason}</div>
                )}
              </td>
              <td className="soft spare">
                {agent.llmModelId}, {agent.ttsModelId}, {nameOf(agent.sttProviderId)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function NewAgent({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState("");
  const [, navigate] = useLocation();
  const make = useMutation({
    mutationFn: () => makeAgent(name),
    onSuccess: async ({ _id }) => {
      await queryClient.invalidateQueries({ queryKey: ["agents"] });
      navigate(`/agents/${_id}`);
    },
  });
  return (
    <FormDialog
      title="New agent"
      action="Make the agent"
      isBusy={make.isPending}
      error={make.error}
      onSubmit={() => make.mutate()}
      onClose={onClose}
    >
      <TextField
        label="Name"
        hint="For you and your colleagues. Callers do not hear it unless the agent says it."
        value={name}
        onChange={setName}
        required
      />
    </FormDialog>
  );
}
