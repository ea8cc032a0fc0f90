import type { CallNews } from "../../engine/calls/call-news.js";
import type { CallSupervision, CallWatch } from "../../engine/calls/call-supervision.js";
import type { CALL_EVENTS } from "../contract/call-events.js";
import type { EventStream, SendEvent } from "../contract/event-stream.js";
import type { Handlers } from "../http/api-endpoint.js";
import { timestamp } from "./timestamp.js";

type CallEvents = typeof CALL_EVENTS;

/** What people see of calls in progress, and how they end them. */
export function supervisionRoutes(
  supervision: Pick<CallSupervision, "watchAll" | "watchOne" | "end">,
): Handlers<"watchCalls" | "watchCall" | "endCall"> {
  return {
    watchCalls: ({ tenant }) => streamOf(supervision.watchAll(tenant)),
    watchCall: async ({ tenant, id }) => streamOf(await supervision.watchOne(tenant, id)),
    endCall: async ({ tenant, id }) => {
      await supervision.end(tenant, id);
      return { success: true };
    },
  };
}

function streamOf({ run }: CallWatch): EventStream<CallEvents> {
  return {
    produce: (send, signal) => {
      const watcher = {
        news: (news: CallNews) => tell(send, news),
        pulse: () => send("pulse", {}),
      };
      const watching = run(watcher, signal);
      send("watching", {});
      return watching;
    },
  };
}

function tell(send: SendEvent<CallEvents>, news: CallNews): void {
  switch (news.type) {
    case "began": {
      const { callId, agentId, channel, startedAtMs } = news;
      return send("began", { callId, agentId, channel, startedAt: timestamp(startedAtMs) });
    }
    case "words": {
      const { callId, role, text, isFinal } = news;
      return send("words", { callId, role, text, isFinal });
    }
    case "turn":
      return send("turn", { callId: news.callId, metrics: news.metrics });
    case "ended":
      return send("ended", { callId: news.callId, status: news.status, endReason: news.endReason });
  }
}
