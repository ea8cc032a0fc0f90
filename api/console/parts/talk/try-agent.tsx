import { useState } from "react";
import { Chat } from "./chat.js";
import { TalkPanel } from "./talk.js";

const WAYS = [
  { id: "talk", title: "Talk", Content: TalkPanel },
  { id: "chat", title: "Chat", Content: Chat },
] as const;

interface TryAgentProps {
  readonly agentId: string;
  readonly hasChanges: boolean;
}

/** Beside the settings, so that a change can be tried at once. */
export function TryAgent({ agentId, hasChanges }: TryAgentProps) {
  const [wayId, setWayId] = useState<string>("talk");
  const { Content } = WAYS.find(({ id }) => id === wayId) ?? WAYS[0];
  return (
    <section className="card stack" aria-label="Try the agent">
      <div className="tabs">
        {WAYS.map(({ id, title }) => (
          <button key={id} type="button" aria-pressed={wayId === id} onClick={() => setWayId(id)}>
            {title}
          </button>
        ))}
      </div>
      {hasChanges ? (
        <p className="note warn">You try what is saved. Save first to try your changes.</p>
      ) : null}
      <Content agentId={agentId} />
    </section>
  );
}
