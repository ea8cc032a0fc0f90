import { Link, useLocation } from "wouter";
import { useAgents } from "../model/queries.js";
import { SelectField } from "../parts/forms/field.js";
import { PageHead } from "../parts/page-head.js";
import { Empty, Loaded } from "../parts/states.js";
import { TryAgent } from "../parts/talk/try-agent.js";

export function TalkPage({ agentId }: { agentId: string | undefined }) {
  const agents = useAgents();
  const [, navigate] = useLocation();
  return (
    <>
      <PageHead title="Talk" about="As a caller would." />
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
            <div className="talk-page">
              <SelectField
                label="Agent"
                value={chosen._id}
                onChange={(id) => navigate(`/talk/${id}`, { replace: true })}
                options={all.map(({ _id, name }) => ({ value: _id, label: name }))}
              />
              <TryAgent key={chosen._id} agentId={chosen._id} hasChanges={false} />
            </div>
          );
        }}
      </Loaded>
    </>
  );
}
