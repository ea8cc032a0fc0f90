import type { RequestListener } from "node:http";
import { createServer } from "node:https";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { WebSocketServer } from "ws";
import { CertificateAuthority, type ServerIdentity } from "../../../engine/sandbox/sandbox.js";
import { Changes } from "../../doubles/changes.js";

export const authority = await CertificateAuthority.create();
export const identity = await authority.identityFor(["127.0.0.1"]);

/** An HTTPS and WebSocket server at 127.0.0.1 whose connections can be spoilt below TLS. */
export class ScriptedTlsServer {
  readonly changes = new Changes();
  /** The TCP connections, with what is in them. */
  readonly connections: Socket[] = [];
  /** Those whose handshake is done. */
  readonly secured: TLSSocket[] = [];
  /** Which connections resumed a session, in the order of `secured`; a socket that is gone does not tell it any more. */
  readonly resumed: boolean[] = [];
  readonly heard: string[] = [];
  /** By default every request is answered with `hello`. */
  onRequest: RequestListener = (_request, response) => response.end("hello");
  /** Set to leave upgrades without an answer. */
  onUpgrade: (() => void) | undefined;
  readonly #server;
  readonly #webSockets = new WebSocketServer({ noServer: true });

  constructor(given: ServerIdentity = identity) {
    this.#server = createServer(given);
  }

  async start(): Promise<void> {
    this.#server.on("connection", (socket: Socket) => {
      this.connections.push(socket);
      socket.on("error", () => undefined);
      socket.on("close", this.changes.tell);
      this.changes.tell();
    });
    this.#server.on("secureConnection", (socket) => {
      this.secured.push(socket);
      this.resumed.push(socket.isSessionReused());
      socket.on("error", () => undefined);
    });
    this.#server.on("request", (request, response) => this.onRequest(request, response));
    this.#server.on("upgrade", (request, socket, head) => {
      if (this.onUpgrade !== undefined) return this.onUpgrade();
      this.#webSockets.handleUpgrade(request, socket, head, (peer) => {
        peer.on("error", () => undefined);
        peer.on("message", (data: Buffer) => {
          this.heard.push(data.toString());
          this.changes.tell();
        });
      });
    });
    await new Promise<void>((resolve) => {
      this.#server.listen(0, "127.0.0.1", resolve);
    });
  }

  get origin(): string {
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("not started");
    return `https://127.0.0.1:${address.port}`;
  }

  /** The end of TCP without the `close_notify` of TLS, as a process that is killed leaves it. */
  cut(): void {
    for (const connection of this.connections) connection.destroy();
  }

  /** Something in the middle of the stream that no key opens; TLS answers it with an alert. */
  corrupt(): void {
    for (const connection of this.connections) connection.write(Buffer.alloc(64, 0x17));
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
  }
}
