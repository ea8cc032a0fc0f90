import { useEffect } from "react";
import { useLiveWords } from "../../model/live-words.js";
import { TalkWords } from "../talk/talk-words.js";

interface LiveWordsProps {
  readonly callId: string;
  readonly isActive: boolean;
  /** Whether the server tells what is said. */
  readonly onTold: (isTold: boolean) => void;
}

/** The words of a call in progress as they are said. */
export function LiveWords({ callId, isActive, onTold }: LiveWordsProps) {
  const { words, isTold } = useLiveWords(callId, isActive);
  useEffect(() => onTold(isTold), [isTold, onTold]);
  if (!isActive) return null;
  return (
    <section className="stack tight card">
      <h2>
        <span className="state live">Now</span>
      </h2>
      {words.length === 0 ? (
        <p className="soft">
          {isTold ? "The next words appear here." : "What is said now is not known here."}
        </p>
      ) : (
        <TalkWords words={words} caller="Caller" />
      )}
    </section>
  );
}
