import { Link, useLocation } from "wouter";
import type { Answered } from "../model/contract-paths.js";
import { useAgents, useProviders } from "../model/queries.js";
import { Figures } from "../parts/figures.js";
import { SelectField } from "../parts/forms/field.js";
import { PageHead } from "../parts/page-head.js";
import { Empty, Loaded } from "../parts/states.js";
import { TryAgent } from "../parts/talk/try-agent.js";

export function TalkPage({ agentId }: { agentId: string | undefined }) {
  const agents = useAgents();
  const [, navigate] = useLocation();
  return (
    <>
      <PageHead title="Talk" about="Call your agent as a caller would." />
      <Loaded query={agents}>
        {(all) => {
          const chosen = all.find(({ _id }) => _id === agentId) ?? all.find(({ active }) => active);
          if (chosen === undefined) {
            return (
              <Empty title="Nobody to talk to">
                <p>
                  {all.length === 0
                    ? "An agent answers the call. Creating one takes a minute."
                    : "None of your agents takes calls. Switch one on, or make another."}
                </p>
                <div className="row">
                  <Link className="button main" href="/start">
                    Make an agent
                  </Link>
                  {all.length === 0 ? null : (
                    <Link className="button" href="/agents">
                      All agents
                    </Link>
                  )}
                </div>
              </Empty>
            );
          }
          return (
            <div className="two">
              <div className="stack">
                <SelectField
                  label="Agent"
                  value={chosen._id}
                  onChange={(id) => navigate(`/talk/${id}`, { replace: true })}
                  options={all.map(({ _id, name }) => ({ value: _id, label: name }))}
                />
                <TryAgent key={chosen._id} agentId={chosen._id} hasChanges={false} />
              </div>
              <AgentFacts agent={chosen} />
            </div>
          );
        }}
      </Loaded>
    </>
  );
}

/** What answers: read while one talks, and the way to change it. */
function AgentFacts({ agent }: { agent: Answered<"getAgent"> }) {
  const providers = useProviders();
  const nameOf = (id: string) => providers.data?.find(({ _id }) => _id === id)?.name ?? "";
  const withModel = (id: string, model: string | null) =>
    [nameOf(id), model ?? ""].filter((words) => words !== "").join(" · ") || "–";
  return (
    <aside className="beside card stack" aria-label="About the agent">
      <div className="section-head">
        <h2>
          <bdi className="clamped">{agent.name}</bdi>
        </h2>
        <Link href={`/agents/${agent._id}`}>Edit</Link>
      </div>
      <Figures
        figures={[
          ["First sentence", agent.persona.greeting === "" ? "–" : agent.persona.greeting],
          ["Language", agent.persona.language],
          ["LLM", withModel(agent.llmProviderId, agent.llmModelId)],
          ["TTS", withModel(agent.ttsProviderId, agent.ttsModelId)],
          ["STT", withModel(agent.sttProviderId, agent.sttModelId)],
        ]}
      />
      <Link href={`/calls?agent=${agent._id}`}>Calls of this agent</Link>
    </aside>
  );
}
