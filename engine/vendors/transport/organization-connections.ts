import { type buildConnector, type Dispatcher, Pool } from "undici";
import { ParleyError } from "../../../storage/parley-error.js";

/**
 * Enough for every vendor and service that one organization uses; the least recently used idle one is closed for a
 * new one.
 */
const ORIGINS_PER_ORGANIZATION_MAX = 64;

/** Half of one origin's limit: two organizations together cannot use all of it. */
const REQUESTS_PER_ORGANIZATION_MAX = 600;

/** 500 calls with a socket for STT and one for TTS, plus requests. */
const SOCKETS_PER_ORGANIZATION_MAX = 1_600;

export type ShareLimit = "lookups" | "origins" | "requests" | "sockets" | "tools";

/** An organization has used up its share; other organizations are not affected. */
export class ShareUsedUpError extends ParleyError {
  override readonly name = "ShareUsedUpError";
  readonly code = "organization_share_used_up";
  readonly limit: ShareLimit;

  constructor(limit: ShareLimit, max: number) {
    super(`the organization has ${max} ${limit} in use, which is its share of this server`);
    this.limit = limit;
  }
}

/** What a request needs of undici. */
export type RequestDispatcher = Pick<Dispatcher, "dispatch">;

/** The requests of one organization over shared connections or its own. */
export class RequestShare implements RequestDispatcher {
  readonly #dispatcher: RequestDispatcher;
  #running = 0;

  constructor(dispatcher: RequestDispatcher) {
    this.#dispatcher = dispatcher;
  }

  get isIdle(): boolean {
    return this.#running === 0;
  }

  /** Throws a ShareUsedUpError when too many requests of the organization are in progress. */
  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    if (this.#running >= REQUESTS_PER_ORGANIZATION_MAX) {
      throw new ShareUsedUpError("requests", REQUESTS_PER_ORGANIZATION_MAX);
    }
    const ended = this.#start();
    try {
      return this.#dispatcher.dispatch(options, new WatchedHandler(handler, ended));
    } catch (error) {
      ended();
      throw error;
    }
  }

  #start(): () => void {
    this.#running += 1;
    return once(() => {
      this.#running -= 1;
    });
  }
}

interface OriginPool {
  readonly pool: Pool;
  running: number;
}

/** The HTTP connections of one organization to origins that it configures itself: a pool per origin, bounded. */
export class OrganizationPools implements RequestDispatcher {
  readonly #poolOptions: Pool.Options;
  /** Least recently used first. */
  readonly #byOrigin = new Map<string, OriginPool>();

  constructor(poolOptions: Pool.Options) {
    this.#poolOptions = poolOptions;
  }

  get originCount(): number {
    return this.#byOrigin.size;
  }

  /** Throws a ShareUsedUpError when requests are in progress to as many other origins as an organization may use. */
  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const origin = String(options.origin);
    const entry = this.#of(origin);
    entry.running += 1;
    const ended = once(() => {
      entry.running -= 1;
    });
    try {
      return entry.pool.dispatch(options, new WatchedHandler(handler, ended));
    } catch (error) {
      ended();
      throw error;
    }
  }

  hasIdle(origin: string): boolean {
    return (this.#byOrigin.get(origin)?.pool.stats.free ?? 0) > 0;
  }

  async destroy(): Promise<void> {
    const pools = [...this.#byOrigin.values()].map(({ pool }) => pool.destroy());
    this.#byOrigin.clear();
    await Promise.all(pools);
  }

  #of(origin: string): OriginPool {
    const known = this.#byOrigin.get(origin);
    if (known !== undefined) {
      this.#byOrigin.delete(origin);
      this.#byOrigin.set(origin, known);
      return known;
    }
    if (this.#byOrigin.size >= ORIGINS_PER_ORGANIZATION_MAX) this.#closeIdleOrigin();
    const entry = { pool: new Pool(origin, this.#poolOptions), running: 0 };
    this.#byOrigin.set(origin, entry);
    const forget = (): void => this.#forgetUnused(origin, entry);
    entry.pool.on("disconnect", forget);
    entry.pool.on("connectionError", forget);
    return entry;
  }

  #closeIdleOrigin(): void {
    for (const [origin, { pool, running }] of this.#byOrigin) {
      if (running > 0) continue;
      this.#byOrigin.delete(origin);
      void pool.destroy();
      return;
    }
    throw new ShareUsedUpError("origins", ORIGINS_PER_ORGANIZATION_MAX);
  }

  /** Its last connection has been idle for too long, or could not be opened. */
  #forgetUnused(origin: string, entry: OriginPool): void {
    if (this.#byOrigin.get(origin) !== entry) return;
    if (entry.running > 0 || entry.pool.stats.connected > 0) return;
    this.#byOrigin.delete(origin);
    void entry.pool.destroy();
  }
}

/** Counts the sockets that an organization has open to origins that it configures itself, including idle ones. */
export class SocketShare {
  #open = 0;

  get openCount(): number {
    return this.#open;
  }

  limited(connect: buildConnector.connector): buildConnector.connector {
    return (options, callback) => {
      if (this.#open >= SOCKETS_PER_ORGANIZATION_MAX) {
        callback(new ShareUsedUpError("sockets", SOCKETS_PER_ORGANIZATION_MAX), null);
        return;
      }
      this.#open += 1;
      const closed = once(() => {
        this.#open -= 1;
      });
      const connected: buildConnector.Callback = (...outcome) => {
        const [error, socket] = outcome;
        if (error !== null) closed();
        else socket.once("close", closed);
        callback(...outcome);
      };
      connect(options, connected);
    };
  }
}

/** Passes everything on, and reports the end of the request. */
class WatchedHandler implements Dispatcher.DispatchHandler {
  readonly #handler: Dispatcher.DispatchHandler;
  readonly #ended: () => void;

  constructor(handler: Dispatcher.DispatchHandler, ended: () => void) {
    this.#handler = handler;
    this.#ended = ended;
  }

  onRequestStart(controller: Dispatcher.DispatchController, context: object): void {
    this.#handler.onRequestStart?.(controller, context);
  }

  onResponseStart(
    ...answer: Parameters<NonNullable<Dispatcher.DispatchHandler["onResponseStart"]>>
  ): void {
    this.#handler.onResponseStart?.(...answer);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#handler.onResponseData?.(controller, chunk);
  }

  onResponseEnd(
    ...ending: Parameters<NonNullable<Dispatcher.DispatchHandler["onResponseEnd"]>>
  ): void {
    this.#ended();
    this.#handler.onResponseEnd?.(...ending);
  }

  onResponseError(controller: Dispatcher.DispatchController, error: Error): void {
    this.#ended();
    this.#handler.onResponseError?.(controller, error);
  }
}

function once(act: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) act();
    isDone = true;
  };
}
