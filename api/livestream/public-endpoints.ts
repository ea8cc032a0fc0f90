import { type Answer, JSON_TYPE, jsonAnswer } from "../http/answer/answer.js";
import type { Endpoint } from "../http/endpoints/endpoint.js";
import { CorsPolicy } from "../http/request/cors.js";
import type { EventFeed } from "./event-feed.js";
import type { LadderBoard } from "./ladder-board.js";
import type { LiveStreams } from "./live-streams.js";

export const SERVICE_NAME = "parley-livestream";
/** Any page of any site may list who is live. */
export const FOR_EVERYBODY = new CorsPolicy(["*"]);

/** `degraded`, with names and speeds, where a broadcast is not shown as it should be; this service itself is well. */
export function healthEndpoint(ladders: LadderBoard): Endpoint {
  const answer = (): Answer => {
    const unwell = ladders.unwell;
    if (unwell.length === 0) return jsonAnswer(200, { status: "ok", service: SERVICE_NAME });
    const streams = unwell.map(({ streamKey, state, speed, rungs, reason }) => ({
      streamKey,
      state,
      speed,
      rungs,
      reason,
    }));
    return jsonAnswer(200, { status: "degraded", service: SERVICE_NAME, streams });
  };
  return { ...PUBLIC, path: "/health", answer };
}

export function listingEndpoint(streams: LiveStreams): Endpoint {
  const answer = (): Answer => ({ status: 200, contentType: JSON_TYPE, body: streams.listing });
  return { ...PUBLIC, path: "/streams", answer };
}

export function eventsEndpoint(feed: EventFeed): Endpoint {
  return { ...PUBLIC, path: "/streams/events", answer: async () => feed.answer() };
}

/** Not for the public: the front proxy does not pass it on. */
export function metricsEndpoint(text: () => Promise<string>): Endpoint {
  const answer = async (): Promise<Answer> => ({
    status: 200,
    contentType: "text/plain; version=0.0.4; charset=utf-8",
    body: await text(),
  });
  return {
    method: "get",
    path: "/metrics",
    headerNames: [],
    readsBody: false,
    isQuiet: true,
    answer,
  };
}

const PUBLIC = {
  method: "get",
  headerNames: [],
  readsBody: false,
  isQuiet: true,
  cors: FOR_EVERYBODY,
} as const satisfies Partial<Endpoint>;
