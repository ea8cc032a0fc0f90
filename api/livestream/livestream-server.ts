import type { Logger } from "../../engine/log.js";
import { LiveStreamMetrics } from "../../engine/metrics/livestream-metrics.js";
import type { Clock } from "../../engine/time/clock.js";
import { within } from "../../engine/time/deadline.js";
import { type Answer, JSON_TYPE, jsonAnswer } from "../http/answer/answer.js";
import { openBackend } from "../http/backend/open-backend.js";
import type { Endpoint } from "../http/endpoints/endpoint.js";
import { ClientAddresses } from "../http/request/client-address.js";
import { CorsPolicy } from "../http/request/cors.js";
import { Router } from "../http/router.js";
import { HttpServer } from "../http/server.js";
import { EncoderStatus } from "./encoder-status.js";
import { EventFeed, type ListenerEnding } from "./event-feed.js";
import { IngestNetwork } from "./ingest-network.js";
import { LiveStreams } from "./live-streams.js";
import type { LiveStreamConfig } from "./livestream-config.js";
import { PlaylistWatch } from "./playlist-watch.js";
import { PublishKeys } from "./publish-keys.js";
import { RefusalLog } from "./refusal-log.js";
import { StreamRegistry } from "./stream-registry.js";
import { StreamView } from "./stream-view.js";
import { PrivateStreams } from "./view-tokens.js";
import { ViewerCounts } from "./viewer-counts.js";
import {
  authEndpoint,
  ladderEndpoint,
  publishEndpoint,
  unpublishEndpoint,
  viewEndpoint,
  watchEndpoint,
} from "./webhook-endpoint.js";

export const SERVICE_NAME = "parley-livestream";
/** A page of any site may list the live streams. */
export const FOR_EVERYBODY = new CorsPolicy(["*"]);

/** `degraded`, with names and speeds, if a broadcast is not shown as it should be; this service itself works. */
export function healthEndpoint(ladders: EncoderStatus): Endpoint {
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

/** Answers in progress when the server stops. */
export const LAST_ANSWERS_MAX_MS = 5_000;

export interface LiveStreamServer {
  readonly port: number;
  /**
   * Notifies the listeners, lets responses in progress end, then stops everything; further calls wait for the
   * first.
   */
  stop(): Promise<void>;
}

export interface LiveStreamParts {
  readonly config: LiveStreamConfig;
  /** The secrets of broadcasters, one `stream=secret` per line; undefined: anyone may publish. */
  readonly publishKeyLines: readonly string[] | undefined;
  readonly log: Logger;
  readonly clock: Clock;
  readonly newId: () => string;
}

/** Builds every part in order and starts it. Rejects if the address is unavailable. */
export async function startLiveStream(parts: LiveStreamParts): Promise<LiveStreamServer> {
  const { config, log, clock } = parts;
  const core = newCore(parts);
  const server = new HttpServer(await openBackend(config.httpBackend, log));
  let isStopping = false;
  addEndpoints(
    newRouter(parts, server, () => isStopping),
    parts,
    core,
  );
  const port = await server.listen(config.host, config.port);

  async function takeDown(): Promise<void> {
    isStopping = true;
    core.feed.close();
    await within(clock, LAST_ANSWERS_MAX_MS, server.drain());
    core.playlists?.close();
    core.streams.close();
    core.ladders.close();
    core.viewers.close();
    server.close();
    log.info({}, "stopped");
  }
  let stopped: Promise<void> | undefined;
  function stop(): Promise<void> {
    stopped ??= takeDown();
    return stopped;
  }
  return { port, stop };
}

interface Core {
  readonly streams: LiveStreams;
  readonly feed: EventFeed;
  readonly ladders: EncoderStatus;
  readonly viewers: ViewerCounts;
  readonly privateStreams: PrivateStreams;
  readonly playlists: PlaylistWatch | undefined;
  readonly metrics: LiveStreamMetrics;
}

/** Everything below HTTP. */
function newCore({ config, log, clock }: LiveStreamParts): Core {
  const privateStreams = new PrivateStreams({
    streamKeys: config.privateStreams,
    // Without a secret no stream is private.
    tokenSecret: config.viewTokenSecret ?? "",
    clock,
  });
  const isPrivate = (streamKey: string) => privateStreams.has(streamKey);
  const streams: LiveStreams = new LiveStreams({
    registry: new StreamRegistry(config.streamsMax),
    view: new StreamView({ ...config, isPrivate }),
    clock,
    log,
    onChange: (change) => feed.publish(change),
  });
  const feed: EventFeed = new EventFeed({
    listenersMax: config.listenersMax,
    snapshotJson: () => streams.snapshotJson,
    clock,
    onEnd: (ending: ListenerEnding) => {
      metrics.count("listenersEnded", ending);
      if (ending === "tooSlow") log.warn({}, "a listener was dropped: it did not read in time");
    },
  });
  const ladders = new EncoderStatus(clock);
  const viewers = new ViewerCounts({
    isLive: (streamKey) => streams.isLive(streamKey),
    clock,
    log,
    shown: (streamKey) => streams.viewersOf(streamKey),
    onCounts: (viewersByStream) => streams.notifyViewers(viewersByStream),
  });
  const metrics = new LiveStreamMetrics({
    streams: () => streams.count,
    viewers: () => streams.viewersByStream,
    listeners: () => feed.listenerCount,
    ladders: () => ladders.all,
  });
  const parts = { streams, feed, ladders, viewers, privateStreams, metrics };
  const { hlsRoot } = config;
  if (hlsRoot === undefined) return { ...parts, playlists: undefined };
  const playlists = new PlaylistWatch({
    hlsRoot,
    liveKeys: () => streams.keys,
    clock,
    log,
    onRead: (streamKey, files) => streams.describe(streamKey, files),
    onOutcome: (outcome) => metrics.count("playlistReads", outcome),
  });
  return { ...parts, playlists };
}

function newRouter(
  { clock, log, newId }: LiveStreamParts,
  server: HttpServer,
  isDraining: () => boolean,
): Router {
  return new Router({
    server,
    // The webhooks use the address of the connection, not a header.
    addresses: new ClientAddresses([]),
    cors: new CorsPolicy([]),
    clock,
    logger: log,
    newId,
    isDraining,
  });
}

function addEndpoints(
  edge: Router,
  { config, publishKeyLines, log, clock }: LiveStreamParts,
  core: Core,
): void {
  const network = new IngestNetwork(config.webhookNetworks);
  const webhooks = { ...core, clock, network, refusals: new RefusalLog(log, clock) };
  edge.add(healthEndpoint(core.ladders));
  edge.add(listingEndpoint(core.streams));
  edge.add(eventsEndpoint(core.feed));
  edge.add(metricsEndpoint(() => core.metrics.text()));
  edge.add(publishEndpoint(webhooks));
  edge.add(unpublishEndpoint(webhooks));
  edge.add(ladderEndpoint(webhooks));
  edge.add(viewEndpoint(webhooks));
  edge.add(watchEndpoint(webhooks));
  if (publishKeyLines === undefined) return;
  edge.add(authEndpoint(webhooks, new PublishKeys(publishKeyLines)));
}
