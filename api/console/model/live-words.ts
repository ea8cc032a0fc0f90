import { useEffect, useState } from "react";
import { Announcer } from "../../client/announcer.js";
import type { CallEvents, Words } from "../../client/client.js";
import { ownClock } from "../../client/client-clock.js";
import { Dialogue } from "../../client/dialogue.js";
import { type CallEvent, watchCalls } from "./call-watch.js";
import { queryClient } from "./queries.js";
import { withWords } from "./talk-session.js";

/** What is said in a call beyond the turns that its record has; nothing of one that is not watched. */
export function useLiveWords(callId: string, isWatched: boolean): readonly Words[] {
  const [words, setWords] = useState<readonly Words[]>([]);
  useEffect(() => {
    if (!isWatched) return;
    const abort = new AbortController();
    const renewed = () => queryClient.invalidateQueries({ queryKey: ["call", callId] });
    const events = new Announcer<CallEvents>();
    const dialogue = new Dialogue(events, ownClock);
    events.on("words", (one) => setWords((before) => withWords(before, one)));
    const tell = (event: CallEvent | undefined) => {
      if (event?.name === "words") say(dialogue, event);
      if (event?.name === "turn") void renewed().then(() => setWords(withoutSettled));
      if (event?.name === "watching" || event?.name === "ended") void renewed();
    };
    watchCalls(`/api/dashboard/calls/${callId}/events`, tell, abort.signal);
    return () => {
      abort.abort();
      setWords([]);
    };
  }, [callId, isWatched]);
  return words;
}

function say(dialogue: Dialogue, { data }: Extract<CallEvent, { name: "words" }>): void {
  if (data.role === "user") dialogue.callerWords(data.text, data.isFinal);
  else dialogue.agentWords(data.text, data.isFinal);
}

/** The record has what the agent was heard to say, and all before it. */
export function withoutSettled(words: readonly Words[]): readonly Words[] {
  return words.slice(words.findLastIndex(({ kind }) => kind === "heard") + 1);
}
