import { useEffect, useState } from "react";
import { Announcer } from "../../client/announcer.js";
import type { CallEvents, Words } from "../../client/client.js";
import { defaultClock } from "../../client/client-clock.js";
import { Dialogue } from "../../client/dialogue.js";
import { type CallEvent, watchCalls } from "./call-watch.js";
import { queryClient } from "./queries.js";
import { withWords } from "./talk-session.js";

interface LiveWords {
  readonly words: readonly Words[];
  /** False while the server does not tell: then what is said is not known. */
  readonly isPartial: boolean;
  /** Undefined while it is not known whether the agent is muted. */
  readonly isMuted: boolean | undefined;
}

/** The words of a call that are in no stored turn; nothing for a call that is not watched. */
export function useLiveWords(callId: string, isWatched: boolean): LiveWords {
  const [words, setWords] = useState<readonly Words[]>([]);
  const [isPartial, setTold] = useState(true);
  const [isMuted, setMuted] = useState<boolean>();
  useEffect(() => {
    if (!isWatched) return;
    const abort = new AbortController();
    const renewed = () => queryClient.invalidateQueries({ queryKey: ["call", callId] });
    const events = new Announcer<CallEvents>();
    let dialogue = new Dialogue(events, defaultClock);
    events.on("words", (one) => setWords((before) => withWords(before, one)));
    const tell = (event: CallEvent | undefined) => {
      setTold(event !== undefined);
      if (event?.name === "present") {
        dialogue = new Dialogue(events, defaultClock);
        setWords([]);
        setMuted(event.data.isMuted);
        for (const words of event.data.words) say(dialogue, words);
      }
      if (event?.name === "muted") setMuted(event.data.isMuted);
      if (event?.name === "words") say(dialogue, event.data);
      if (event?.name === "turn") void renewed().then(() => setWords(withoutSettled));
      if (event?.name === "watching" || event?.name === "ended") void renewed();
    };
    watchCalls(`/api/dashboard/calls/${callId}/events`, tell, abort.signal);
    return () => {
      abort.abort();
      setWords([]);
    };
  }, [callId, isWatched]);
  return { words, isPartial, isMuted };
}

type Said = Extract<CallEvent, { name: "present" }>["data"]["words"][number];

function say(dialogue: Dialogue, { role, text, isFinal }: Said): void {
  if (role === "user") dialogue.callerWords(text, isFinal);
  else dialogue.agentWords(text, isFinal);
}

/** The record has what the agent was heard to say, and all before it. */
export function withoutSettled(words: readonly Words[]): readonly Words[] {
  return words.slice(words.findLastIndex(({ kind }) => kind === "heard") + 1);
}
