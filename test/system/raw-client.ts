import { WebSocket } from "ws";
import type { Customer, TestServer } from "./test-server.js";

export interface RawClose {
  readonly code: number;
  readonly reason: string;
}

/** A client without a microphone, which can send invalid frames: the test determines each of them. */
export class RawClient {
  readonly #socket: WebSocket;
  readonly texts: string[] = [];
  /** Received texts, and the sizes of binary frames, in the order of arrival. */
  readonly frames: (string | number)[] = [];
  readonly closed: Promise<RawClose>;
  readonly #opened: Promise<void>;
  readonly #onText = new Set<() => void>();

  /** `query` follows the key: `&audio=stream`. */
  constructor(server: TestServer, { apiKey }: Customer, query = "") {
    const url = `${server.url.replace("http", "ws")}/ws/voice?api_key=${apiKey}${query}`;
    const socket = new WebSocket(url, { perMessageDeflate: false });
    this.#socket = socket;
    socket.on("message", (data: Buffer, isBinary) => {
      this.frames.push(isBinary ? data.byteLength : data.toString());
      if (!isBinary) this.texts.push(data.toString());
      for (const notice of this.#onText) notice();
    });
    this.#opened = new Promise((resolve, reject) => {
      socket.once("open", resolve);
      socket.once("error", reject);
    });
    // Later errors appear in the close.
    socket.on("error", () => undefined);
    this.closed = new Promise((resolve) => {
      socket.once("close", (code, reason) => resolve({ code, reason: reason.toString() }));
    });
  }

  /** Resolves when the upgrade is answered, long before `connected`. */
  opened(): Promise<void> {
    return this.#opened;
  }

  /** Resolves with the first matching message, received before or after the call. */
  async text(pattern: RegExp): Promise<string> {
    for (;;) {
      const found = this.texts.find((text) => pattern.test(text));
      if (found !== undefined) return found;
      await new Promise<void>((resolve, reject) => {
        this.#onText.add(resolve);
        void this.closed.then(({ code }) => reject(new Error(`closed with ${code}`)));
      });
    }
  }

  send(data: string | Uint8Array): void {
    this.#socket.send(data);
  }

  /** Sends bytes that no WebSocket would write. */
  breakProtocol(bytes: Uint8Array): void {
    const connection: unknown = Reflect.get(this.#socket, "_socket");
    if (connection instanceof Object && "write" in connection) {
      if (typeof connection.write === "function") connection.write(bytes);
    }
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  drop(): void {
    this.#socket.terminate();
  }
}
