import type { CancelTimer, Clock } from "../../time/clock.js";
import type { VendorSocket } from "./web-socket.js";

/** Enough for the calls that speak at the same moment; each uses a connection of the service. */
const IDLE_SOCKETS_MAX = 32;

/** The service drops a silent socket after about half a minute. */
const IDLE_TIMEOUT_MS = 20_000;

/** One pool for each address and set of constants that an organization uses; clients could configure many. */
const POOLS_PER_ORGANIZATION_MAX = 32;
/** The least recently used organization is dropped first. */
const ORGANIZATIONS_MAX = 500;

/** Open idle sockets, and the offset of the service's clock. */
export class SocketPool {
  /** The service's clock minus the server's, from a refusal. */
  clockSkewMs = 0;
  readonly #clock: Clock;
  readonly #idle = new Map<VendorSocket, CancelTimer>();
  #opening = 0;
  #closed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get idleCount(): number {
    return this.#idle.size;
  }

  /** The most recently used socket: it is the likeliest to be alive. */
  take(): VendorSocket | undefined {
    const socket = [...this.#idle.keys()].pop();
    if (socket !== undefined) this.#remove(socket);
    return socket;
  }

  /** Keeps a socket whose turn has ended normally; closes it when there are enough. */
  release(socket: VendorSocket): void {
    if (this.#closed || !socket.isOpen || this.#idle.size >= IDLE_SOCKETS_MAX) {
      socket.destroy();
      return;
    }
    const discard = (): void => {
      this.#remove(socket);
      socket.destroy();
    };
    // No message is expected between turns: a socket that sends one is out of step.
    socket.listen({ onText: discard, onBinary: discard, onClosed: discard });
    this.#idle.set(socket, this.#clock.after(IDLE_TIMEOUT_MS, discard));
  }

  /** Opens one socket ahead, unless one is idle. */
  async warm(open: () => Promise<VendorSocket>): Promise<void> {
    if (this.#closed || this.#idle.size > 0 || this.#opening >= IDLE_SOCKETS_MAX) return;
    this.#opening++;
    try {
      this.release(await open());
    } finally {
      this.#opening--;
    }
  }

  close(): void {
    this.#closed = true;
    this.closeIdle();
  }

  closeIdle(): void {
    for (const [socket, cancelTimer] of this.#idle) {
      cancelTimer();
      socket.destroy();
    }
    this.#idle.clear();
  }

  #remove(socket: VendorSocket): void {
    this.#idle.get(socket)?.();
    this.#idle.delete(socket);
  }
}

/**
 * The pools of the process, separate for each organization; the least recently used one of an organization is
 * dropped first.
 */
export class SocketPools {
  readonly #clock: Clock;
  readonly #byOrganization = new Map<string, Map<string, SocketPool>>();
  readonly #ending = new AbortController();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Aborted when the process closes its connections. */
  get ended(): AbortSignal {
    return this.#ending.signal;
  }

  /** The number of idle sockets in all pools. */
  get idleCount(): number {
    return this.#all().reduce((sum, { idleCount }) => sum + idleCount, 0);
  }

  /** A socket opened for one organization is used for no other, so that none can take all of them. */
  pool(key: string, orgId = ""): SocketPool {
    const pools = touch(this.#byOrganization, orgId, () => new Map<string, SocketPool>());
    const pool = touch(pools, key, () => new SocketPool(this.#clock));
    if (pools.size > POOLS_PER_ORGANIZATION_MAX) removeOldest(pools)?.close();
    if (this.#byOrganization.size > ORGANIZATIONS_MAX) {
      for (const oldest of removeOldest(this.#byOrganization)?.values() ?? []) oldest.close();
    }
    return pool;
  }

  /** Closes idle sockets; the next sentence opens a new one. */
  closeIdle(): void {
    for (const pool of this.#all()) pool.closeIdle();
  }

  close(): void {
    this.#ending.abort();
    for (const pool of this.#all()) pool.close();
  }

  #all(): readonly SocketPool[] {
    return [...this.#byOrganization.values()].flatMap((pools) => [...pools.values()]);
  }
}

/** Returns the entry, created if it is missing, as the most recently used one. */
function touch<Value>(entries: Map<string, Value>, key: string, make: () => Value): Value {
  const value = entries.get(key) ?? make();
  entries.delete(key);
  entries.set(key, value);
  return value;
}

function removeOldest<Value>(entries: Map<string, Value>): Value | undefined {
  const [oldest] = entries;
  if (oldest === undefined) return undefined;
  entries.delete(oldest[0]);
  return oldest[1];
}
