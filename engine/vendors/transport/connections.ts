import { promises as dns, type LookupAddress, type LookupOptions } from "node:dns";
import { isIP } from "node:net";
import { Agent, buildConnector, type Client, errors } from "undici";
import type { Clock } from "../../time/clock.js";
import {
  OrganizationPools,
  type RequestDispatcher,
  RequestShare,
  ShareUsedUpError,
  SocketShare,
} from "./organization-connections.js";
import {
  isPrivateAddress,
  isPrivateName,
  type LookupCallback,
  PrivateAddressError,
} from "./private-addresses.js";
import { SocketPools } from "./socket-pools.js";
import { keepSessions, trust } from "./tls-trust.js";

/** Tool requests that one organization may have in progress; further ones wait. */
export const TOOLS_RUNNING_PER_ORGANIZATION_MAX = 256;
/** The maximum number that may wait, which is 16 tools in each of 250 calls; the next one fails immediately. */
export const TOOLS_WAITING_PER_ORGANIZATION_MAX = 4_000;
/** Tools of all organizations that start in one round of the event loop: each takes some 0.3 ms of it. */
const STARTS_PER_LOOP_TURN_MAX = 4;

interface Waiting {
  readonly start: () => void;
}

interface OrganizationTurns {
  running: number;
  readonly waiting: Set<Waiting>;
}

/**
 * The order in which tools start: organizations take turns, a few per round of the event loop, so that an
 * organization whose calls all use tools at the same time delays its own tools and not the audio of other calls.
 */
export class FairTurns {
  readonly #byOrganization = new Map<string, OrganizationTurns>();
  #startedInTurn = 0;
  #isPumping = false;

  /**
   * Resolves with a function to call when the work is done. Rejects with a ShareUsedUpError, or the signal's
   * reason.
   */
  async acquire(orgId: string, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    const turns = this.#of(orgId);
    const mayStart =
      turns.running < TOOLS_RUNNING_PER_ORGANIZATION_MAX &&
      turns.waiting.size === 0 &&
      this.#startedInTurn < STARTS_PER_LOOP_TURN_MAX;
    if (mayStart) this.#start(turns);
    else await this.#wait(turns, signal);
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      turns.running -= 1;
      if (turns.waiting.size > 0) this.#pump();
      else if (turns.running === 0) this.#byOrganization.delete(orgId);
    };
  }

  #of(orgId: string): OrganizationTurns {
    const known = this.#byOrganization.get(orgId);
    if (known !== undefined) return known;
    const turns = { running: 0, waiting: new Set<Waiting>() };
    this.#byOrganization.set(orgId, turns);
    return turns;
  }

  #start(turns: OrganizationTurns): void {
    turns.running += 1;
    this.#startedInTurn += 1;
    this.#pump();
  }

  #wait(turns: OrganizationTurns, signal: AbortSignal): Promise<void> {
    if (turns.waiting.size >= TOOLS_WAITING_PER_ORGANIZATION_MAX) {
      throw new ShareUsedUpError("tools", TOOLS_WAITING_PER_ORGANIZATION_MAX);
    }
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        turns.waiting.delete(waiting);
        reject(signal.reason);
      };
      const waiting: Waiting = {
        start: () => {
          signal.removeEventListener("abort", giveUp);
          resolve();
        },
      };
      turns.waiting.add(waiting);
      signal.addEventListener("abort", giveUp, { once: true });
      this.#pump();
    });
  }

  #pump(): void {
    if (this.#isPumping) return;
    this.#isPumping = true;
    setImmediate(() => {
      this.#isPumping = false;
      this.#startedInTurn = 0;
      while (this.#startedInTurn < STARTS_PER_LOOP_TURN_MAX && this.#startNext());
    });
  }

  /** The organization that has just started a tool goes to the end of the queue. */
  #startNext(): boolean {
    for (const [orgId, turns] of this.#byOrganization) {
      const [next] = turns.waiting;
      if (next === undefined || turns.running >= TOOLS_RUNNING_PER_ORGANIZATION_MAX) continue;
      turns.waiting.delete(next);
      this.#byOrganization.delete(orgId);
      this.#byOrganization.set(orgId, turns);
      this.#start(turns);
      next.start();
      return true;
    }
    return false;
  }
}

/** Concurrent DNS lookups per organization; further ones wait. */
const LOOKUPS_RUNNING_MAX = 8;
/** The maximum number that may wait; the next one fails immediately. */
const LOOKUPS_WAITING_MAX = 256;
/** `dns.lookup` blocks one of the process's four threads per name until it is resolved. */
const THREAD_LOOKUPS_RUNNING_MAX = 1;

/** A name server that has not answered by then, twice, is too slow for a call. */
const LOOKUP_TIMEOUT_MS = 2_000;
const LOOKUP_TRIES = 2;

/** Resolves one name to its addresses; rejects with an error that has a `code`. */
export type ResolveName = (hostname: string) => Promise<readonly LookupAddress[]>;

export interface OrganizationLookupsOptions {
  /** Leaves out addresses that are not public, and refuses names that are not. */
  readonly isPublicOnly: boolean;
  readonly resolve?: ResolveName;
}

/**
 * The DNS lookups of one organization, bounded. Public names are resolved by the name servers directly, so slow
 * ones delay no other organization. If an operator allows private addresses, names may be in the machine's files,
 * which only `dns.lookup` reads: these are looked up one at a time.
 */
export class OrganizationLookups {
  readonly #isPublicOnly: boolean;
  readonly #resolve: ResolveName;
  readonly #runningMax: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor({ isPublicOnly, resolve }: OrganizationLookupsOptions) {
    this.#isPublicOnly = isPublicOnly;
    this.#resolve = resolve ?? (isPublicOnly ? lookUpByNameServers : lookUpBySystem);
    this.#runningMax = isPublicOnly ? LOOKUPS_RUNNING_MAX : THREAD_LOOKUPS_RUNNING_MAX;
  }

  /**
   * A `lookup` for net.connect. It checks the very addresses that are then connected to, so a name that changes
   * between two lookups gains nothing.
   */
  readonly lookup = (hostname: string, options: LookupOptions, callback: LookupCallback): void => {
    void this.#answer(hostname, options.all === true, callback);
  };

  async #answer(hostname: string, all: boolean, callback: LookupCallback): Promise<void> {
    let addresses: readonly LookupAddress[];
    try {
      addresses = await this.#find(hostname);
    } catch (error) {
      callback(error instanceof Error ? error : new Error("the DNS lookup failed"), []);
      return;
    }
    const [first] = addresses;
    if (first === undefined) callback(new PrivateAddressError(), []);
    else if (all) callback(null, [...addresses]);
    else callback(null, first.address, first.family);
  }

  async #find(hostname: string): Promise<readonly LookupAddress[]> {
    const found = await this.#addressesOf(hostname);
    return this.#isPublicOnly ? found.filter(({ address }) => !isPrivateAddress(address)) : found;
  }

  async #addressesOf(hostname: string): Promise<readonly LookupAddress[]> {
    const family = isIP(hostname);
    if (family !== 0) return [{ address: hostname, family }];
    if (this.#isPublicOnly && isPrivateName(hostname)) return [];
    await this.#start();
    try {
      return await this.#resolve(hostname);
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }

  /** A waiting lookup takes the place of one that has ended. */
  async #start(): Promise<void> {
    if (this.#running < this.#runningMax) {
      this.#running += 1;
      return;
    }
    if (this.#waiting.length >= LOOKUPS_WAITING_MAX) {
      throw new ShareUsedUpError("lookups", LOOKUPS_WAITING_MAX);
    }
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
    });
  }
}

function lookUpBySystem(hostname: string): Promise<readonly LookupAddress[]> {
  return dns.lookup(hostname, { all: true });
}

/** A separate resolver for each name, because it reads the machine's current name servers. */
async function lookUpByNameServers(hostname: string): Promise<readonly LookupAddress[]> {
  const resolver = new dns.Resolver({ timeout: LOOKUP_TIMEOUT_MS, tries: LOOKUP_TRIES });
  const [ipv4, ipv6] = await Promise.allSettled([
    resolver.resolve4(hostname),
    resolver.resolve6(hostname),
  ]);
  const found = [...addressesOf(ipv4, 4), ...addressesOf(ipv6, 6)];
  if (found.length === 0 && ipv4.status === "rejected") throw ipv4.reason;
  return found;
}

function addressesOf(
  outcome: PromiseSettledResult<readonly string[]>,
  family: 4 | 6,
): readonly LookupAddress[] {
  if (outcome.status === "rejected") return [];
  return outcome.value.map((address) => ({ address, family }));
}

/** A vendor that has not accepted the connection by then will not answer in time for a caller either. */
const CONNECT_TIMEOUT_MS = 5_000;

/** 500 concurrent calls each hold one request per vendor, and the next sentence is requested while one plays. */
const CONNECTIONS_PER_ORIGIN_MAX = 1_200;

/** The number of organizations whose connections are kept; those that have been idle for longest are closed first. */
const ORGANIZATIONS_MAX = 1_000;

/** Covers the time between two sentences; vendors that close earlier say so in their keep-alive header. */
const IDLE_CONNECTION_MS = 60_000;

/** Work that belongs to no organization. */
const NO_ORGANIZATION = "";

export interface ConnectionsOptions {
  readonly clock: Clock;
  /** Allows organizations' providers at private addresses: an operator's decision. */
  readonly allowPrivateAddresses: boolean;
  /** PEM certificates of authorities that are trusted in addition to the public ones. */
  readonly authorities?: readonly string[];
  /** How names from organizations are looked up; for tests. */
  readonly resolve?: ResolveName;
}

/** One organization's share of the process's connections. */
interface OrganizationShare {
  /** For the platform's providers. */
  readonly platform: RequestShare;
  /** For the organization's own providers and tools. */
  readonly own: RequestShare;
  readonly pools: OrganizationPools;
  readonly sockets: SocketShare;
  readonly connect: buildConnector.connector;
}

/**
 * Every connection of this process to vendors, kept alive between requests and closed together. Those to the
 * platform's providers are shared by all calls, those to an organization's providers and tools by its own calls
 * only; each organization has a share of both.
 */
export class Connections {
  readonly socketPools: SocketPools;
  /** The order in which tools start. */
  readonly toolTurns = new FairTurns();
  readonly #options: ConnectionsOptions;
  readonly #means: buildConnector.BuildOptions;
  readonly #connect: buildConnector.connector;
  readonly #platform: Agent;
  /** The least recently used first. */
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

  /** `orgId`: the organization that sends the request, whichever organization owns the provider. */
  for(clientOwned: boolean, orgId = NO_ORGANIZATION): RequestDispatcher {
    const share = this.#shareOf(orgId);
    return clientOwned ? share.own : share.platform;
  }

  /** Opens connections for WebSockets, which do not return to a pool. */
  forSocket(clientOwned: boolean, orgId = NO_ORGANIZATION): buildConnector.connector {
    if (this.#isClosed)
      return (_options, callback) => callback(new errors.ClientDestroyedError(), null);
    return clientOwned ? this.#shareOf(orgId).connect : this.#connect;
  }

  /** Whether a request to this origin would find an open idle connection. */
  hasIdle(origin: string, clientOwned: boolean, orgId = NO_ORGANIZATION): boolean {
    if (clientOwned) return this.#shareOf(orgId).pools.hasIdle(origin);
    const stats = this.#platform.stats[origin];
    return stats !== undefined && "free" in stats && stats.free > 0;
  }

  /** Destroys open connections: the calls that used them have ended. */
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
    // Each request has its own timeouts, kept by the Clock.
    headersTimeout: 0,
    bodyTimeout: 0,
  };
}

function refusingPrivate(connect: buildConnector.connector): buildConnector.connector {
  return (options, callback) => {
    // A numeric address is connected to without a lookup.
    const host = options.hostname.replace(/^\[|\]$/g, "");
    if (isIP(host) !== 0 && isPrivateAddress(host)) callback(new PrivateAddressError(), null);
    else connect(options, callback);
  };
}
