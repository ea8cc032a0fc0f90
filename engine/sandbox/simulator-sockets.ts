import type { IncomingMessage } from "node:http";
import { type WebSocket, WebSocketServer } from "ws";
import type { Upgrade } from "./simulator.js";

/** The WebSockets of one simulator, without compression. */
export class SimulatorSockets {
  readonly #server: WebSocketServer;
  readonly #headers = new WeakMap<IncomingMessage, string>();

  /** A longer message closes its socket. */
  constructor(messageMaxBytes: number) {
    this.#server = new WebSocketServer({
      noServer: true,
      perMessageDeflate: false,
      maxPayload: messageMaxBytes,
    });
    this.#server.on("headers", (headers, request) => {
      const header = this.#headers.get(request);
      if (header !== undefined) headers.push(header);
    });
  }

  /** `header` is an additional line of the response. */
  accept(
    { request, socket, head }: Upgrade,
    onOpen: (socket: WebSocket) => void,
    header?: string,
  ): void {
    if (header !== undefined) this.#headers.set(request, header);
    this.#server.handleUpgrade(request, socket, head, onOpen);
  }

  close(): void {
    for (const socket of this.#server.clients) socket.terminate();
    this.#server.close();
  }
}
