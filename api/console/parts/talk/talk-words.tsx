import { useEffect, useRef } from "react";
import type { Words } from "../../../client/client.js";

const CLASSES = { guess: "guess", final: "", said: "guess", heard: "" } as const;

interface TalkWordsProps {
  readonly words: readonly Words[];
  /** Who speaks with the agent. */
  readonly caller: "You" | "Caller";
}

/** Words as they come: guesses in grey, and struck out what the caller never heard. */
export function TalkWords({ words, caller }: TalkWordsProps) {
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (words.length > 0) end.current?.scrollIntoView({ block: "nearest" });
  }, [words]);
  if (words.length === 0) return null;
  return (
    <div className="chat" role="log" aria-label="What is said" tabIndex={0}>
      {words.map(({ id, speaker, kind, text, unheard }) => (
        <div key={id} className={`turn-words ${speaker}`} dir="auto">
          <strong dir="auto">{speaker === "caller" ? caller : "Agent"}</strong>{" "}
          <span className={CLASSES[kind]}>{text}</span>
          {unheard === "" ? null : (
            <>
              {" "}
              <s title="Interrupted before this was heard">{unheard}</s>
            </>
          )}
        </div>
      ))}
      <div ref={end} aria-hidden />
    </div>
  );
}
