import { once } from "node:events";
import { type WebSocket, WebSocketServer } from "ws";
import { samplesOf } from "../../../engine/sandbox/telephone/telephone-audio.js";
import { ToneDecoder } from "../../../engine/sandbox/telephone/tone-code.js";

/** A minimal server side of `/ws/voice`: it accepts, records its input, and sends what the test says. */
export class BareVoiceService {
  readonly #server: WebSocketServer;
  readonly paths: string[] = [];
  readonly words: string[] = [];
  frames = 0;
  readonly frameSizes = new Set<number>();
  socket: WebSocket | undefined;

  static async start(): Promise<BareVoiceService> {
    const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
    await once(server, "listening");
    return new BareVoiceService(server);
  }

  private constructor(server: WebSocketServer) {
    this.#server = server;
    server.on("connection", (socket, request) => {
      this.socket = socket;
      this.paths.push(request.url ?? "");
      if (request.url?.includes("api_key=bad") === true) {
        socket.close(4001, "unauthorized");
        return;
      }
      const decoder = new ToneDecoder(16_000, { onWord: ({ text }) => this.words.push(text) });
      socket.on("message", (data: Buffer) => {
        this.frames += 1;
        this.frameSizes.add(data.length);
        decoder.write(samplesOf(data));
      });
      this.tell({ type: "connected", agentName: "Bare", historyKey: "key-1" });
    });
  }

  get url(): string {
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("not listening");
    return `http://127.0.0.1:${address.port}`;
  }

  tell(message: object): void {
    this.socket?.send(JSON.stringify(message));
  }

  play(mp3: Uint8Array): void {
    this.socket?.send(mp3);
  }

  close(): void {
    for (const socket of this.#server.clients) socket.terminate();
    this.#server.close();
  }
}
