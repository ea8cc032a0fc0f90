import { isIP } from "node:net";
import { Agent, buildConnector, Client, type Dispatcher } from "undici";
import type { Clock } from "../../time/clock.js";
import { isPrivateAddress, lookupPublic, PrivateAddressError } from "./private-addresses.js";
import { SocketPools } from "./socket-pools.js";
import { keepSessions, trust } from "./tls-trust.js";

/** A vendor that has not taken the connection by then is not going to answer in time for a caller either. */
const CONNECT_TIMEOUT_MS = 5_000;

/** 500 concurrent calls each hold one request per vendor, and the next sentence is asked for while one is spoken. */
const CONNECTIONS_PER_ORIGIN_MAX = 1_200;

/** Clients name their own hosts, so the number of pools they can make is bounded too. */
const CLIENT_ORIGINS_MAX = 256;

/** Between two sentences of a conversation; vendors that close earlier say so in their keep-alive header. */
const IDLE_CONNECTION_MS = 60_000;

/** The largest message that a vendor has reason to send; a larger one breaks the socket. */
const WEBSOCKET_MESSAGE_MAX_BYTES = 1024 * 1024;

export interface ConnectionsOptions {
  readonly clock: Clock;
  /** Lets the providers of organizations reach private addresses: an operator's decision. */
  readonly allowPrivateAddresses: boolean;
  /** PEM of authorities that are trusted beside the public ones. */
  readonly authorities?: readonly string[];
}

/** Every connection of this process to vendors: shared by all calls, kept alive between requests, closed together. */
export class Connections {
  readonly socketPools: SocketPools;
  readonly #connect: buildConnector.connector;
  readonly #connectPublic: buildConnector.connector;
  readonly #platform: Agent;
  readonly #clientOwned: Agent;

  constructor({ clock, allowPrivateAddresses, authorities = [] }: ConnectionsOptions) {
    this.socketPools = new SocketPools(clock);
    const means = { timeout: CONNECT_TIMEOUT_MS, secureContext: trust(authorities) };
    this.#connect = keepSessions(buildConnector(means));
    this.#connectPublic = allowPrivateAddresses ? this.#connect : publicConnector(means);
    this.#platform = newAgent(this.#connect, undefined);
    this.#clientOwned = newAgent(this.#connectPublic, CLIENT_ORIGINS_MAX);
  }

  for(clientOwned: boolean): Dispatcher {
    return clientOwned ? this.#clientOwned : this.#platform;
  }

  /**
   * Connects one WebSocket. A pool is of no use here: an upgraded connection leaves its pool, and the socket would keep
   * that pool in memory.
   */
  forSocket(url: string, clientOwned: boolean): Dispatcher {
    if (this.#platform.destroyed) return this.#platform;
    const origin = new URL(url.replace(/^ws/, "http")).origin;
    return new Client(origin, clientOptions(clientOwned ? this.#connectPublic : this.#connect));
  }

  /** Whether a request to this origin would find a connection that is open and free. */
  hasIdle(origin: string, clientOwned: boolean): boolean {
    const stats = (clientOwned ? this.#clientOwned : this.#platform).stats[origin];
    return stats !== undefined && "free" in stats && stats.free > 0;
  }

  /** Breaks what is still open: the calls that used it have ended. */
  async close(): Promise<void> {
    this.socketPools.close();
    await Promise.all([this.#platform.destroy(), this.#clientOwned.destroy()]);
  }
}

function clientOptions(connect: buildConnector.connector): Client.Options {
  return {
    connect,
    keepAliveTimeout: IDLE_CONNECTION_MS,
    keepAliveMaxTimeout: IDLE_CONNECTION_MS,
    // Each request has its own time-outs, kept by the Clock.
    headersTimeout: 0,
    bodyTimeout: 0,
    webSocket: { maxPayloadSize: WEBSOCKET_MESSAGE_MAX_BYTES },
  };
}

function newAgent(connect: buildConnector.connector, maxOrigins: number | undefined): Agent {
  return new Agent({
    ...clientOptions(connect),
    connections: CONNECTIONS_PER_ORIGIN_MAX,
    ...(maxOrigins === undefined ? {} : { maxOrigins }),
  });
}

function publicConnector(means: buildConnector.BuildOptions): buildConnector.connector {
  const connect = keepSessions(buildConnector({ ...means, lookup: lookupPublic }));
  return (options, callback) => {
    // An address that is written as numbers is connected to without a look-up.
    const host = options.hostname.replace(/^\[|\]$/g, "");
    if (isIP(host) !== 0 && isPrivateAddress(host)) callback(new PrivateAddressError(), null);
    else connect(options, callback);
  };
}
