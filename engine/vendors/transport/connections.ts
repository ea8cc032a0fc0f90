import { isIP } from "node:net";
import { Agent, buildConnector, Client, type Dispatcher } from "undici";
import type { Clock } from "../../time/clock.js";
import { FairTurns } from "./fair-turns.js";
import {
  OrganizationPools,
  type RequestDispatcher,
  RequestShare,
  SocketShare,
} from "./organization-connections.js";
import { isPrivateAddress, PrivateAddressError } from "./private-addresses.js";
import { OrganizationLookups, type ResolveName } from "./public-lookups.js";
import { SocketPools } from "./socket-pools.js";
import { keepSessions, trust } from "./tls-trust.js";

/** A vendor that has not taken the connection by then is not going to answer in time for a caller either. */
const CONNECT_TIMEOUT_MS = 5_000;

/** 500 concurrent calls each hold one request per vendor, and the next sentence is asked for while one is spoken. */
const CONNECTIONS_PER_ORIGIN_MAX = 1_200;

/** Organizations whose connections are kept; of more than that those go that have been idle for longest. */
const ORGANIZATIONS_MAX = 1_000;

/** Between two sentences of a conversation; vendors that close earlier say so in their keep-alive header. */
const IDLE_CONNECTION_MS = 60_000;

/** The largest message that a vendor has reason to send; a larger one breaks the socket. */
const WEBSOCKET_MESSAGE_MAX_BYTES = 1024 * 1024;

/** Work that is done for no organization. */
const NO_ORGANIZATION = "";

export interface ConnectionsOptions {
  readonly clock: Clock;
  /** Lets the providers of organizations reach private addresses: an operator's decision. */
  readonly allowPrivateAddresses: boolean;
  /** PEM of authorities that are trusted beside the public ones. */
  readonly authorities?: readonly string[];
  /** How names that organizations give are looked up; for tests. */
  readonly resolve?: ResolveName;
}

/** What one organization has of the process's connections. */
interface OrganizationShare {
  /** To where the platform's providers are. */
  readonly platform: RequestShare;
  /** To where the organization's own providers and tools are. */
  readonly own: RequestShare;
  readonly pools: OrganizationPools;
  readonly sockets: SocketShare;
  readonly connect: buildConnector.connector;
}

/**
 * Every connection of this process to vendors, kept alive between requests and closed together. Those to the platform's
 * providers are shared by all calls, those to providers and tools of an organization by its own calls only; each organization
 * has a share of either.
 */
export class Connections {
  readonly socketPools: SocketPools;
  /** Whose tool may begin. */
  readonly toolTurns = new FairTurns();
  readonly #options: ConnectionsOptions;
  readonly #means: buildConnector.BuildOptions;
  readonly #connect: buildConnector.connector;
  readonly #platform: Agent;
  /** The one that was used longest ago first. */
  readonly #shares = new Map<string, OrganizationShare>();
  #isClosed = false;

  constructor(options: ConnectionsOptions) {
    const { clock, authorities = [] } = options;
    this.socketPools = new SocketPools(clock);
    this.#options = options;
    this.#means = { timeout: CONNECT_TIMEOUT_MS, secureContext: trust(authorities) };
    this.#connect = keepSessions(buildConnector(this.#means));
    this.#platform = new Agent({
      ...clientOptions(this.#connect),
      connections: CONNECTIONS_PER_ORIGIN_MAX,
    });
  }

  /** `orgId`: the organization for which it is asked, whoever owns the provider. */
  for(clientOwned: boolean, orgId = NO_ORGANIZATION): RequestDispatcher {
    const share = this.#shareOf(orgId);
    return clientOwned ? share.own : share.platform;
  }

  /**
   * Connects one WebSocket. A pool is of no use here: an upgraded connection leaves its pool, and the socket would keep
   * that pool in memory.
   */
  forSocket(url: string, clientOwned: boolean, orgId = NO_ORGANIZATION): Dispatcher {
    if (this.#isClosed) return this.#platform;
    const origin = new URL(url.replace(/^ws/, "http")).origin;
    const { connect } = clientOwned ? this.#shareOf(orgId) : { connect: this.#connect };
    return new Client(origin, clientOptions(connect));
  }

  /** Whether a request to this origin would find a connection that is open and free. */
  hasIdle(origin: string, clientOwned: boolean, orgId = NO_ORGANIZATION): boolean {
    if (clientOwned) return this.#shareOf(orgId).pools.hasIdle(origin);
    const stats = this.#platform.stats[origin];
    return stats !== undefined && "free" in stats && stats.free > 0;
  }

  /** Breaks what is still open: the calls that used it have ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.socketPools.close();
    const pools = [...this.#shares.values()].map((share) => share.pools.destroy());
    await Promise.all([this.#platform.destroy(), ...pools]);
  }

  #shareOf(orgId: string): OrganizationShare {
    const share = this.#shares.get(orgId) ?? this.#newShare();
    this.#shares.delete(orgId);
    this.#shares.set(orgId, share);
    if (this.#shares.size > ORGANIZATIONS_MAX) this.#forgetIdleShare(orgId);
    return share;
  }

  #newShare(): OrganizationShare {
    const sockets = new SocketShare();
    const connect = sockets.limited(this.#organizationConnector());
    const pools = new OrganizationPools({
      ...clientOptions(connect),
      connections: CONNECTIONS_PER_ORIGIN_MAX,
    });
    if (this.#isClosed) void pools.destroy();
    const own = new RequestShare(pools);
    return { platform: new RequestShare(this.#platform), own, pools, sockets, connect };
  }

  #organizationConnector(): buildConnector.connector {
    const { allowPrivateAddresses, resolve } = this.#options;
    const isPublicOnly = !allowPrivateAddresses;
    const lookups = new OrganizationLookups({
      isPublicOnly,
      ...(resolve === undefined ? {} : { resolve }),
    });
    const connect = keepSessions(buildConnector({ ...this.#means, lookup: lookups.lookup }));
    return isPublicOnly ? refusingPrivate(connect) : connect;
  }

  #forgetIdleShare(except: string): void {
    for (const [orgId, { platform, own, pools, sockets }] of this.#shares) {
      const isIdle = platform.isIdle && own.isIdle && sockets.openCount === 0;
      if (orgId === except || !isIdle) continue;
      this.#shares.delete(orgId);
      void pools.destroy();
      return;
    }
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

function refusingPrivate(connect: buildConnector.connector): buildConnector.connector {
  return (options, callback) => {
    // An address that is written as numbers is connected to without a look-up.
    const host = options.hostname.replace(/^\[|\]$/g, "");
    if (isIP(host) !== 0 && isPrivateAddress(host)) callback(new PrivateAddressError(), null);
    else connect(options, callback);
  };
}
