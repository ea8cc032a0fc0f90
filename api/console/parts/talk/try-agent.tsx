import { useEffect, useRef, useState } from "react";
import { type ChatMessage, chatReply } from "../../model/chat-stream.js";
import { Fault } from "../states.js";
import { TalkPanel } from "./talk.js";
import { WriteLine } from "./write-line.js";

/** The agent's prompt and model as in a call, in text. */
export function Chat({ agentId }: { agentId: string }) {
  const [messages, setMessages] = useState<readonly ChatMessage[]>([]);
  const [reply, setReply] = useState<string>();
  const [typed, setTyped] = useState("");
  const [fault, setFault] = useState<unknown>();
  const stop = useRef<AbortController>(undefined);
  useEffect(() => () => stop.current?.abort(), []);
  const send = async () => {
    const content = typed.trim();
    if (content === "" || reply !== undefined) return;
    const asked: readonly ChatMessage[] = [...messages, { role: "user", content }];
    setMessages(asked);
    setTyped("");
    setReply("");
    setFault(undefined);
    stop.current = new AbortController();
    const { signal } = stop.current;
    try {
      let whole = "";
      for await (const piece of chatReply(agentId, asked, signal)) {
        whole += piece;
        setReply(whole);
      }
      setMessages([...asked, { role: "assistant", content: whole }]);
    } catch (error) {
      // What was typed is not lost: it can be sent again.
      setMessages(messages);
      setTyped(content);
      if (!signal.aborted) setFault(error);
    } finally {
      setReply(undefined);
    }
  };
  return (
    <div className="stack">
      <Said messages={messages} reply={reply} />
      {fault === undefined ? null : <Fault error={fault} />}
      <WriteLine
        label="Your message"
        hint="Write to the agent"
        text={typed}
        isBusy={reply !== undefined}
        onText={setTyped}
        onSend={() => void send()}
      />
    </div>
  );
}

interface SaidProps {
  readonly messages: readonly ChatMessage[];
  readonly reply: string | undefined;
}

function Said({ messages, reply }: SaidProps) {
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (messages.length > 0) end.current?.scrollIntoView({ block: "nearest" });
  });
  if (messages.length === 0) {
    return <p className="soft">Nothing that you write here is stored, and it uses no minutes.</p>;
  }
  return (
    <div className="chat" role="log" tabIndex={0} aria-label="Conversation">
      {messages.map(({ role, content }, index) => (
        <p key={index} className={`said ${role}`} dir="auto">
          {content}
        </p>
      ))}
      {reply === undefined ? null : (
        <p className="said assistant" dir="auto">
          {reply === "" ? "…" : reply}
        </p>
      )}
      <div ref={end} />
    </div>
  );
}

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
        <p className="note warn">This uses the saved version. Save first to try your changes.</p>
      ) : null}
      <Content agentId={agentId} />
    </section>
  );
}
