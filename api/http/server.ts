import {
  App,
  type HttpRequest,
  type HttpResponse,
  type ListenOptions,
  type TemplatedApp,
  type us_listen_socket,
  us_listen_socket_close,
  us_socket_local_port,
  type WebSocketBehavior,
} from "uWebSockets.js";

export type { HttpRequest, HttpResponse, WebSocket, WebSocketBehavior } from "uWebSockets.js";

/** The verbs as uWebSockets.js calls them; `any` is asked when no other fits. */
export type Verb = "get" | "post" | "patch" | "del" | "head" | "options" | "any";

/** The library takes options after a host too, which its declarations leave out. */
interface ExclusiveListener {
  listen(
    host: string,
    port: number,
    options: ListenOptions,
    listening: (socket: us_listen_socket | false) => void,
  ): void;
}
/** Without it a second server on the same port gets half of the connections, and nobody is told. */
const EXCLUSIVE_PORT = 1 satisfies ListenOptions;

/** The message says what an operator can do. */
export class CannotListen extends Error {
  override readonly name = "CannotListen";
}

/** The listening socket and everything that is open on it. The only file that knows uWebSockets.js. */
export class HttpServer {
  readonly #app: TemplatedApp = App();
  #listenSocket: us_listen_socket | undefined;
  #openRequestCount = 0;
  #onIdle: (() => void) | undefined;

  get openRequestCount(): number {
    return this.#openRequestCount;
  }

  /** Registers a handler for `path`, in which one segment may be `:id` and the last may be `*`. */
  handle(
    verb: Verb,
    path: string,
    handler: (response: HttpResponse, request: HttpRequest) => void,
  ): void {
    this.#app[verb](path, handler);
  }

  webSocket<UserData>(path: string, behavior: WebSocketBehavior<UserData>): void {
    this.#app.ws(path, behavior);
  }

  /** Resolves with the port, which the system chooses when `port` is 0. Rejects when it cannot be had. */
  async listen(host: string, port: number): Promise<number> {
    const listener = this.#app as unknown as ExclusiveListener;
    const socket = await new Promise<us_listen_socket | false>((resolve) => {
      listener.listen(host, port, EXCLUSIVE_PORT, resolve);
    });
    if (socket === false) {
      throw new CannotListen(
        `cannot listen on ${host}:${port}: the port is in use, or HOST is no address of this machine (PORT sets another)`,
      );
    }
    this.#listenSocket = socket;
    return us_socket_local_port(socket);
  }

  /** Takes no new connections. Resolves when every request in flight is answered; WebSockets stay open. */
  async drain(): Promise<void> {
    this.#stopListening();
    if (this.#openRequestCount === 0) return;
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve;
    });
  }

  /** Ends everything at once, WebSockets too. */
  close(): void {
    this.#stopListening();
    this.#app.close();
  }

  requestOpened(): void {
    this.#openRequestCount += 1;
  }

  requestClosed(): void {
    this.#openRequestCount -= 1;
    if (this.#openRequestCount === 0) this.#onIdle?.();
  }

  #stopListening(): void {
    if (this.#listenSocket !== undefined) us_listen_socket_close(this.#listenSocket);
    this.#listenSocket = undefined;
  }
}
