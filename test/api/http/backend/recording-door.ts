import type { WebSocket } from "ws";
import type {
  BackendSocket,
  HttpRequest,
  HttpResponse,
  WebSocketRoute,
} from "../../../../api/http/backend/http-backend.js";

/** An object, because uWebSockets.js requires one. */
export interface Visitor {
  readonly told: string;
}

/** A WebSocket route that records its events for a test. */
export class RecordingDoor implements WebSocketRoute<Visitor> {
  readonly messageBytesMax: number;
  readonly silenceMaxSec = 60;
  readonly messages: string[] = [];
  /** The close code and the reason. */
  readonly closes: string[] = [];
  drainedCount = 0;
  isShut = false;
  readonly #onChange = new Set<() => void>();
  #sockets: BackendSocket<Visitor>[] = [];

  constructor(messageBytesMax: number) {
    this.messageBytesMax = messageBytesMax;
  }

  isClosed(): boolean {
    return this.isShut;
  }

  admit(request: HttpRequest, response: Pick<HttpResponse, "getRemoteAddress">): Visitor {
    const address = Buffer.from(response.getRemoteAddress()).toString("hex");
    return { told: `${request.getParameter(0) ?? ""} at ${address}` };
  }

  open(socket: BackendSocket<Visitor>): void {
    this.#sockets.push(socket);
    this.#changed();
  }

  message(_socket: BackendSocket<Visitor>, message: ArrayBuffer, isBinary: boolean): void {
    const bytes = Buffer.from(message);
    this.messages.push(isBinary ? `bytes ${bytes.toString("hex")}` : `text ${bytes.toString()}`);
    this.#changed();
  }

  drained(): void {
    this.drainedCount += 1;
    this.#changed();
  }

  close(_socket: BackendSocket<Visitor>, code: number, reason: string): void {
    this.closes.push(`${code} ${reason}`);
    this.#changed();
  }

  /** Resolves with the next socket that no test has taken yet. */
  async opened(): Promise<BackendSocket<Visitor>> {
    await this.until(() => this.#sockets.length > 0);
    const [socket, ...others] = this.#sockets;
    this.#sockets = others;
    if (socket === undefined) throw new Error("no socket");
    return socket;
  }

  async until(holds: () => boolean): Promise<void> {
    while (!holds()) {
      await new Promise<void>((resolve) => this.#onChange.add(resolve));
    }
  }

  /** Sends bytes that no WebSocket would write, on a client's connection. */
  static writeRaw(client: WebSocket, bytes: Uint8Array): void {
    const connection: unknown = Reflect.get(client, "_socket");
    if (connection instanceof Object && "write" in connection) {
      if (typeof connection.write === "function") connection.write(bytes);
    }
  }

  #changed(): void {
    for (const notice of this.#onChange) notice();
    this.#onChange.clear();
  }
}
