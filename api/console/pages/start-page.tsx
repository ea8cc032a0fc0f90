import { useMutation } from "@tanstack/react-query";
import { Link, useLocation } from "wouter";
import { AGENT_TEMPLATES, type AgentTemplate } from "../model/agent-templates.js";
import { makeAgent } from "../model/new-agent.js";
import { queryClient, useAgent } from "../model/queries.js";
import { SERVER_URL } from "../model/server-address.js";
import { PageHead } from "../parts/page-head.js";
import { Fault, Loaded } from "../parts/states.js";
import { TalkPanel } from "../parts/talk/talk.js";
import { WebPageSnippet } from "../parts/web-page-snippet.js";

/** From nothing to an agent on a telephone number: choose a template, talk to it, put it on a number. */
export function StartPage({ agentId }: { agentId: string | undefined }) {
  return (
    <>
      <PageHead
        title="Make an agent"
        about="Choose what it does, talk to it, put it on a number. You can change everything later."
      />
      {agentId === undefined ? <Templates /> : <Made key={agentId} agentId={agentId} />}
    </>
  );
}

function Templates() {
  const [, navigate] = useLocation();
  const make = useMutation({
    mutationFn: ({ title, agent }: AgentTemplate) => makeAgent(title, agent),
    onSuccess: async ({ _id }, { id }) => {
      await queryClient.invalidateQueries({ queryKey: ["agents"] });
      navigate(`/start/${_id}?template=${id}`);
    },
  });
  return (
    <section className="stack">
      <h2>1. What should it do?</h2>
      {make.error === null ? null : <Fault error={make.error} />}
      <ul className="templates">
        {AGENT_TEMPLATES.map((template) => (
          <li key={template.id} className="card stack tight">
            <h3>{template.title}</h3>
            <p>{template.about}</p>
            <p className="soft">Its first words: “{template.agent.persona?.greeting}”</p>
            <button
              type="button"
              className="button main"
              disabled={make.isPending}
              onClick={() => make.mutate(template)}
            >
              Take {template.title}
            </button>
          </li>
        ))}
      </ul>
      <p className="soft">
        Or begin with <Link href="/agents">an agent of your own</Link>.
      </p>
    </section>
  );
}

function Made({ agentId }: { agentId: string }) {
  const agent = useAgent(agentId);
  const asked = new URLSearchParams(location.search).get("template");
  const tryWords = AGENT_TEMPLATES.find(({ id }) => id === asked)?.tryWords;
  return (
    <Loaded
      query={agent}
      notFoundContent={
        <Link className="button" href="/start">
          Choose a template
        </Link>
      }
    >
      {({ name }) => (
        <div className="made">
          <section className="card stack" aria-label="Talk to it">
            <h2>2. Talk to {name}</h2>
            {tryWords === undefined ? null : <p className="soft">Say, for example: “{tryWords}”</p>}
            <TalkPanel agentId={agentId} />
          </section>
          <section className="card stack">
            <h2>3. Put it on a number</h2>
            <p>
              At your telephony provider, set the address for incoming calls to this, with an{" "}
              <Link href="/settings/keys">API key</Link> of the scope “voice”.
            </p>
            <code className="secret">
              {SERVER_URL}/api/telephony/voice?api_key=vk_…&amp;agent_id={agentId}
            </code>
            <div className="row">
              <Link className="button" href={`/agents/${agentId}`}>
                Change its words and voice
              </Link>
              <Link className="button" href="/numbers">
                Numbers
              </Link>
            </div>
          </section>
          <section className="card stack">
            <h2>Or on a web page</h2>
            <WebPageSnippet agentId={agentId} />
          </section>
        </div>
      )}
    </Loaded>
  );
}
