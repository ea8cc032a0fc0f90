import type { CallNews } from "../../engine/calls/call-news.js";
import type { CallWatch } from "../../engine/calls/call-supervision.js";
import type { CALL_EVENTS } from "../contract/call-events.js";
import { EventBatch, type EventStream, type NamedEvent } from "../contract/event-stream.js";
import { timestamp } from "./timestamp.js";

type CallEvents = typeof CALL_EVENTS;

/** Streams of what happens in calls. What is told to many who watch the same is put into words once. */
export class CallEventStreams {
  readonly #batches = new WeakMap<readonly CallNews[], EventBatch<CallEvents>>();

  of({ run }: CallWatch): EventStream<CallEvents> {
    return {
      produce: (send, signal) => {
        const watcher = {
          news: (news: readonly CallNews[]) => send.batch(this.#batchOf(news)),
          pulse: () => send.event("pulse", {}),
        };
        send.event("watching", {});
        return run(watcher, signal);
      },
    };
  }

  #batchOf(news: readonly CallNews[]): EventBatch<CallEvents> {
    const known = this.#batches.get(news);
    if (known !== undefined) return known;
    const batch = new EventBatch<CallEvents>(news.map(eventOf));
    this.#batches.set(news, batch);
    return batch;
  }
}

function eventOf(news: CallNews): NamedEvent<CallEvents> {
  switch (news.type) {
    case "began": {
      const { callId, agentId, channel, startedAtMs } = news;
      const startedAt = timestamp(startedAtMs);
      return { name: "began", data: { callId, agentId, channel, startedAt } };
    }
    case "present":
      return { name: "present", data: { callId: news.callId, words: [...news.words] } };
    case "words": {
      const { callId, role, text, isFinal } = news;
      return { name: "words", data: { callId, role, text, isFinal } };
    }
    case "turn":
      return { name: "turn", data: { callId: news.callId, metrics: news.metrics } };
    case "ended": {
      const { callId, status, endReason } = news;
      return { name: "ended", data: { callId, status, endReason } };
    }
  }
}
