import { once } from "node:events";
import { type WebSocket, WebSocketServer } from "ws";

/** A voice service controlled by the test, for behaviour that is rare in a real one. */
export class ScriptedService {
  readonly #server: WebSocketServer;
  readonly url: string;

  static async start(script: (socket: WebSocket) => void): Promise<ScriptedService> {
    const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
    await once(server, "listening");
    server.on("connection", script);
    return new ScriptedService(server);
  }

  private constructor(server: WebSocketServer) {
    this.#server = server;
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("listens on no port");
    this.url = `http://127.0.0.1:${address.port}`;
  }

  async close(): Promise<void> {
    for (const client of this.#server.clients) client.terminate();
    this.#server.close();
    await once(this.#server, "close");
  }
}

export function tell(socket: WebSocket, message: object): void {
  socket.send(JSON.stringify(message));
}

export function greet(socket: WebSocket): void {
  tell(socket, { type: "connected", agentName: "Scripted", historyKey: "a-key" });
}
