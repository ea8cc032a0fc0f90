import type { Logger } from "../../engine/log.js";
import type { Clock } from "../../engine/time/clock.js";
import { within } from "../../engine/time/deadline.js";
import { ClientAddresses } from "../http/client-address.js";
import { CorsPolicy } from "../http/cors.js";
import { Edge } from "../http/edge.js";
import { HttpServer } from "../http/server.js";
import { IngestNetwork } from "./ingest-network.js";
import { LiveStreams } from "./live-streams.js";
import type { LiveStreamConfig } from "./livestream-config.js";
import { healthEndpoint, listingEndpoint } from "./public-endpoints.js";
import { StreamRegistry } from "./stream-registry.js";
import { StreamView } from "./stream-view.js";
import { publishEndpoint, unpublishEndpoint } from "./webhook-endpoint.js";

/** Answers that are under way when the server stops. */
const LAST_ANSWERS_MAX_MS = 5_000;

export interface LiveStreamServer {
  readonly port: number;
  /** Lets answers under way end, then takes everything down; further calls wait for the first. */
  stop(): Promise<void>;
}

export interface LiveStreamParts {
  readonly config: LiveStreamConfig;
  readonly log: Logger;
  readonly clock: Clock;
  readonly newId: () => string;
}

/** Builds every part in order and starts it. Rejects when the address cannot be had. */
export async function startLiveStream(parts: LiveStreamParts): Promise<LiveStreamServer> {
  const { config, log, clock, newId } = parts;
  let isStopping = false;
  const streams = new LiveStreams({
    registry: new StreamRegistry(config.streamsMax),
    view: new StreamView(config),
    clock,
    log,
    onChange: () => undefined,
  });
  const network = new IngestNetwork(config.webhookNetworks);
  const server = new HttpServer();
  const edge = new Edge({
    server,
    // The webhooks ask who is connected, not who is said to be.
    addresses: new ClientAddresses([]),
    cors: new CorsPolicy([]),
    clock,
    logger: log,
    newId,
    isDraining: () => isStopping,
  });
  edge.add(healthEndpoint());
  edge.add(listingEndpoint(streams));
  edge.add(publishEndpoint({ streams, network }));
  edge.add(unpublishEndpoint({ streams, network }));
  const port = await server.listen(config.host, config.port);

  let stopped: Promise<void> | undefined;
  async function takeDown(): Promise<void> {
    isStopping = true;
    await within(clock, LAST_ANSWERS_MAX_MS, server.drain());
    streams.close();
    server.close();
    log.info({}, "stopped");
  }
  function stop(): Promise<void> {
    stopped ??= takeDown();
    return stopped;
  }
  return { port, stop };
}
