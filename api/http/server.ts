import type { Front, RequestHandler, SocketDoor, Verb } from "./front.js";

/** The message says what an operator can do. */
export class CannotListen extends Error {
  override readonly name = "CannotListen";
}

/** The listening socket and everything that is open on it. */
export class HttpServer {
  readonly #front: Front;
  #openRequestCount = 0;
  #onIdle: (() => void) | undefined;

  constructor(front: Front) {
    this.#front = front;
  }

  get openRequestCount(): number {
    return this.#openRequestCount;
  }

  /** Registers a handler for `path`, in which one segment may be `:id` and the last may be `*`. */
  handle(verb: Verb, path: string, handler: RequestHandler): void {
    this.#front.handle(verb, path, handler);
  }

  webSocket<Visitor extends object>(path: string, door: SocketDoor<Visitor>): void {
    this.#front.webSocket(path, door);
  }

  /** Resolves with the port, which the system chooses when `port` is 0. Rejects when it cannot be had. */
  async listen(host: string, port: number): Promise<number> {
    const given = await this.#front.listen(host, port);
    if (given === undefined) {
      throw new CannotListen(
        `cannot listen on ${host}:${port}: the port is in use, or HOST is no address of this machine (PORT sets another)`,
      );
    }
    return given;
  }

  /** Takes no new connections. Resolves when every request in flight is answered; WebSockets stay open. */
  async drain(): Promise<void> {
    this.#front.stopListening();
    if (this.#openRequestCount === 0) return;
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve;
    });
  }

  /** Ends everything at once, WebSockets too. */
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
