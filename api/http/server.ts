import { ParleyError } from "../../storage/parley-error.js";
import type { HttpBackend, RequestHandler, Verb, WebSocketRoute } from "./backend/http-backend.js";

/** The message contains what an operator can do. */
export class ListenError extends ParleyError {
  override readonly name = "ListenError";
  readonly code = "listen_failed";
}

/** `variable` is the setting that contains the port. */
export function cannotListen(host: string, port: number, variable = "PORT"): string {
  return `cannot listen on ${host}:${port}: the port is in use, or HOST is not an address of this machine (${variable} sets another)`;
}

export interface ServerPlace {
  /** See `isShared` of the backend's `listen`. */
  readonly sharesPort?: boolean | undefined;
  /** The sub-path of PUBLIC_BASE_URL, such as `/voice`. A proxy may strip it or keep it: both are served. */
  readonly basePath?: string | undefined;
}

/** The listening socket and everything that is open on it. */
export class HttpServer {
  readonly #front: HttpBackend;
  readonly #sharesPort: boolean;
  readonly #basePath: string;
  /** The current address, or the last one. */
  #place: { readonly host: string; readonly port: number } | undefined;
  #isBackchannel = false;
  #isDraining = false;
  #openRequestCount = 0;
  #onIdle: (() => void) | undefined;

  constructor(front: HttpBackend, { sharesPort = false, basePath = "" }: ServerPlace = {}) {
    this.#front = front;
    this.#sharesPort = sharesPort;
    this.#basePath = basePath;
  }

  /** See `HttpBackend`. */
  get answersInOrder(): boolean {
    return this.#front.answersInOrder;
  }

  get openRequestCount(): number {
    return this.#openRequestCount;
  }

  /** Registers a handler for `path`; one segment may be `:id`, and the last may be `*`. */
  handle(verb: Verb, path: string, handler: RequestHandler): void {
    this.#front.handle(verb, path, handler);
    if (this.#basePath !== "") this.#front.handle(verb, `${this.#basePath}${path}`, handler);
  }

  /** Like `handle`, for paths that a proxy of the whole sub-path must not expose. */
  handleLocally(verb: Verb, path: string, handler: RequestHandler): void {
    this.#front.handle(verb, path, handler);
  }

  webSocket<Visitor extends object>(path: string, route: WebSocketRoute<Visitor>): void {
    this.#front.webSocket(path, route);
    if (this.#basePath !== "") this.#front.webSocket(`${this.#basePath}${path}`, route);
  }

  /** Resolves with the port, which the system chooses if `port` is 0. Rejects if it is unavailable. */
  async listen(host: string, port: number): Promise<number> {
    const given = await this.#front.listen(host, port, this.#sharesPort);
    if (given === undefined) {
      throw new ListenError(cannotListen(host, port));
    }
    this.#place = { host, port: given };
    this.#isBackchannel = true;
    return given;
  }

  /**
   * On a shared port: leaves new connections to the other processes, or accepts its part again. Open connections
   * stay open. Stopping loses a connection that arrived since the event loop last polled, so it polls right
   * before.
   */
  async takeConnections(takes: boolean): Promise<void> {
    if (this.#place === undefined || this.#isDraining || takes === this.#isBackchannel) return;
    this.#isBackchannel = takes;
    if (takes) {
      const { host, port } = this.#place;
      this.#isBackchannel = (await this.#front.listen(host, port, this.#sharesPort)) !== undefined;
      return;
    }
    await new Promise(setImmediate);
    this.#front.stopListening();
  }

  /** Accepts no new connections. Resolves when every request in flight has its response; WebSockets stay open. */
  async drain(): Promise<void> {
    this.#isDraining = true;
    this.#front.stopListening();
    if (this.#openRequestCount === 0) return;
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve;
    });
  }

  /** Ends everything immediately, including WebSockets. */
  close(): void {
    this.#front.close();
  }

  requestOpened(): void {
    this.#openRequestCount += 1;
  }

  requestClosed(): void {
    this.#openRequestCount -= 1;
    if (this.#openRequestCount === 0) this.#onIdle?.();
  }
}
