import type { IncomingMessage, ServerResponse } from "node:http";
import { NodeResponse } from "./node-response.js";

/** So many requests may wait of a client that sends them before it has its answers. */
const WAITING_MAX = 8;

export type Serve = (message: IncomingMessage, response: NodeResponse) => void;

/** The requests of one connection: each is served when the one before is answered. */
export class NodeConnection {
  readonly #serve: Serve;
  readonly #waiting: (readonly [IncomingMessage, ServerResponse])[] = [];
  #current: NodeResponse | undefined;
  #takesMore = true;

  constructor(serve: Serve) {
    this.#serve = serve;
  }

  take(message: IncomingMessage, raw: ServerResponse): void {
    if (!this.#takesMore) return;
    if (this.#current === undefined && this.#waiting.length === 0) {
      this.#start(message, raw);
      return;
    }
    if (this.#waiting.length === WAITING_MAX) message.socket.destroy();
    else this.#waiting.push([message, raw]);
  }

  /** After a request that is refused with its connection: Node still reads what came behind it. */
  refuseFurther(): void {
    this.#takesMore = false;
  }

  closed(): void {
    this.#waiting.length = 0;
    this.#current?.connectionClosed();
  }

  #start(message: IncomingMessage, raw: ServerResponse): void {
    const response = new NodeResponse(message, raw, () => this.#over());
    this.#current = response;
    this.#serve(message, response);
  }

  #over(): void {
    this.#current = undefined;
    if (this.#waiting.length > 0) queueMicrotask(() => this.#next());
  }

  #next(): void {
    if (this.#current !== undefined) return;
    const [message, raw] = this.#waiting.shift() ?? [];
    if (message !== undefined && raw !== undefined) this.#start(message, raw);
  }
}
