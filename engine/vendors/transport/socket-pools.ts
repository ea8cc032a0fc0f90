import type { CancelTimer, Clock } from "../../time/clock.js";
import type { VendorSocket } from "./web-socket.js";

/** Enough for the calls that speak at the same moment; each costs the service a connection. */
const IDLE_SOCKETS_MAX = 32;

/** The service drops a silent socket after about half a minute. */
const IDLE_TIMEOUT_MS = 20_000;

/** One pool for each address and set of constants in use; clients could name many. */
const POOLS_MAX = 64;

/** Open sockets that wait for their next turn, and what is known of the service's clock. */
export class SocketPool {
  /** The service's clock minus ours, learnt from a refusal. */
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

  /** The socket that was used last: it is the likeliest to be alive. */
  take(): VendorSocket | undefined {
    const socket = [...this.#idle.keys()].pop();
    if (socket !== undefined) this.#remove(socket);
    return socket;
  }

  /** Keeps a socket whose turn has ended well; closes it when there are enough. */
  give(socket: VendorSocket): void {
    if (this.#closed || !socket.isOpen || this.#idle.size >= IDLE_SOCKETS_MAX) {
      socket.destroy();
      return;
    }
    const discard = (): void => {
      this.#remove(socket);
      socket.destroy();
    };
    // Nothing is due between turns: a socket that talks then is out of step.
    socket.listen({ onText: discard, onBinary: discard, onClosed: discard });
    this.#idle.set(socket, this.#clock.after(IDLE_TIMEOUT_MS, discard));
  }

  /** Opens one socket ahead, unless one waits already. */
  async warm(open: () => Promise<VendorSocket>): Promise<void> {
    if (this.#closed || this.#idle.size > 0 || this.#opening >= IDLE_SOCKETS_MAX) return;
    this.#opening++;
    try {
      this.give(await open());
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

/** The pools of the process, the least recently asked-for dropped first. */
export class SocketPools {
  readonly #clock: Clock;
  readonly #pools = new Map<string, SocketPool>();
  readonly #ending = new AbortController();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Aborted when the process closes its connections. */
  get ended(): AbortSignal {
    return this.#ending.signal;
  }

  /** How many sockets wait in all pools together. */
  get idleCount(): number {
    return [...this.#pools.values()].reduce((sum, { idleCount }) => sum + idleCount, 0);
  }

  pool(key: string): SocketPool {
    const pool = this.#pools.get(key) ?? new SocketPool(this.#clock);
    this.#pools.delete(key);
    this.#pools.set(key, pool);
    const oldest = this.#pools.keys().next().value;
    if (this.#pools.size > POOLS_MAX && oldest !== undefined) {
      this.#pools.get(oldest)?.close();
      this.#pools.delete(oldest);
    }
    return pool;
  }

  /** Lets go of the sockets that wait; the next sentence opens a new one. */
  closeIdle(): void {
    for (const pool of this.#pools.values()) pool.closeIdle();
  }

  close(): void {
    this.#ending.abort();
    for (const pool of this.#pools.values()) pool.close();
  }
}
