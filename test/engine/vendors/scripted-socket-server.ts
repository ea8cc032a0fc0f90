import { createServer, type IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import { Changes } from "../../doubles/changes.js";

export interface ScriptedPeer {
  readonly socket: WebSocket;
  readonly request: IncomingMessage;
  readonly texts: string[];
  readonly binaries: Buffer[];
  isClosed: boolean;
}

/** A WebSocket server that does only what the test says: it keeps what it gets and answers nothing by itself. */
export class ScriptedSocketServer {
  readonly peers: ScriptedPeer[] = [];
  readonly changes: Changes;
  /** Set to answer upgrades otherwise, for example by refusing them. */
  onUpgrade: ((socket: Duplex, request: IncomingMessage) => void) | undefined;
  upgradeCount = 0;
  readonly #server = createServer();
  readonly #webSockets = new WebSocketServer({ noServer: true, perMessageDeflate: false });
  readonly #connections = new Set<Duplex>();

  constructor(changes = new Changes()) {
    this.changes = changes;
  }

  async start(): Promise<void> {
    this.#server.on("connection", (connection) => this.#connections.add(connection));
    this.#server.on("upgrade", (request, socket, head) => {
      this.upgradeCount++;
      socket.on("error", () => undefined);
      if (this.onUpgrade !== undefined) this.onUpgrade(socket, request);
      else
        this.#webSockets.handleUpgrade(request, socket, head, (peer) => this.#take(peer, request));
    });
    this.#server.on("request", (_request, response) => void response.writeHead(404).end());
    await new Promise<void>((resolve) => {
      this.#server.listen(0, "127.0.0.1", resolve);
    });
  }

  get url(): string {
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("not started");
    return `ws://127.0.0.1:${address.port}`;
  }

  async peer(index: number): Promise<ScriptedPeer> {
    return this.changes.until(`connection ${index}`, () => this.peers[index]);
  }

  async close(): Promise<void> {
    for (const connection of this.#connections) connection.destroy();
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
  }

  #take(socket: WebSocket, request: IncomingMessage): void {
    const peer: ScriptedPeer = { socket, request, texts: [], binaries: [], isClosed: false };
    socket.on("message", (data: Buffer, isBinary) => {
      if (isBinary) peer.binaries.push(data);
      else peer.texts.push(data.toString());
      this.changes.tell();
    });
    socket.on("close", () => {
      peer.isClosed = true;
      this.changes.tell();
    });
    socket.on("error", () => undefined);
    this.peers.push(peer);
    this.changes.tell();
  }
}

export function bytesOf(peer: ScriptedPeer): number {
  return peer.binaries.reduce((sum, { length }) => sum + length, 0);
}
