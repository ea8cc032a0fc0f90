import { useEffect, useRef } from "react";
import type { Words } from "../../client/client.js";

const CLASSES = { guess: "guess", final: "", said: "guess", heard: "" } as const;

/** Words as they come: guesses in grey, and struck out what the caller never heard. */
export function TalkWords({ words }: { words: readonly Words[] }) {
  const end = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (words.length > 0) end.current?.scrollIntoView({ block: "nearest" });
  }, [words]);
  if (words.length === 0) return null;
  return (
    <ol className="chat" role="log" aria-label="What is said" tabIndex={0}>
      {words.map(({ id, speaker, kind, text, unheard }) => (
        <li key={id} className={`turn-words ${speaker}`} dir="auto">
          <strong>{speaker === "caller" ? "You" : "Agent"}</strong>{" "}
          <span className={CLASSES[kind]}>{text}</span>
          {unheard === "" ? null : (
            <>
              {" "}
              <s title="You interrupted before this was heard">{unheard}</s>
            </>
          )}
        </li>
      ))}
      <li ref={end} aria-hidden />
    </ol>
  );
}
