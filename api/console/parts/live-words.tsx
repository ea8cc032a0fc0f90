import { useLiveWords } from "../model/live-words.js";
import { TalkWords } from "./talk-words.js";

interface LiveWordsProps {
  readonly callId: string;
  readonly isActive: boolean;
  /** Turns that are over stand above already. */
  readonly hasTurns: boolean;
}

/** The words of a call in progress as they are said. */
export function LiveWords({ callId, isActive, hasTurns }: LiveWordsProps) {
  const words = useLiveWords(callId, isActive);
  if (!isActive) return null;
  return (
    <section className="stack tight card">
      <h2>
        <span className="state live">Now</span>
      </h2>
      {words.length === 0 ? (
        <p className="soft">{hasTurns ? "Nobody speaks." : "Nobody has spoken yet."}</p>
      ) : (
        <TalkWords words={words} caller="Caller" />
      )}
    </section>
  );
}
