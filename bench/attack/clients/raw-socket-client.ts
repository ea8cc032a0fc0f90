import { connect, type Socket } from "node:net";
import { WebSocket } from "ws";

const CLOSED_MAX_MS = 20_000;

/** A WebSocket client that does what it should not: any frame, any bytes, and no good-bye. */
export class RawSocketClient {
  readonly #tcp: Socket;
  readonly #socket: WebSocket;
  /** Texts that came. */
  readonly texts: string[] = [];
  audioCount = 0;
  /** Bytes past all framing were written: the server may read whatever follows as the inside of a frame. */
  isGarbled = false;
  closeCode: number | undefined;
  readonly #notices = new Set<() => void>();

  /** `url` with its query, of `ws://`. */
  constructor(url: string) {
    const { port, hostname } = new URL(url);
    const tcp = connect(Number(port), hostname);
    tcp.on("error", () => undefined);
    this.#tcp = tcp;
    this.#socket = new WebSocket(url, { perMessageDeflate: false, createConnection: () => tcp });
    this.#socket.on("message", (data: Buffer, isBinary) => {
      if (isBinary) this.audioCount += 1;
      else this.texts.push(data.toString());
      this.#tell();
    });
    // The close tells it.
    this.#socket.on("error", () => undefined);
    this.#socket.on("open", () => this.#tell());
    this.#socket.on("close", (code) => {
      this.closeCode = code;
      this.#tell();
    });
  }

  get isOpen(): boolean {
    return this.#socket.readyState === WebSocket.OPEN;
  }

  /** Resolves with whether it came true before the connection closed, or 20 s passed. */
  async until(isTrue: () => boolean): Promise<boolean> {
    const endsAtMs = performance.now() + CLOSED_MAX_MS;
    for (;;) {
      if (isTrue()) return true;
      const leftMs = endsAtMs - performance.now();
      if (this.closeCode !== undefined || leftMs <= 0) return false;
      await this.#notice(leftMs);
    }
  }

  send(data: string | Uint8Array): void {
    if (this.isOpen) this.#socket.send(data);
  }

  ping(data: Uint8Array): void {
    if (this.isOpen) this.#socket.ping(data);
  }

  /** Bytes past all framing. */
  write(bytes: Uint8Array): void {
    this.isGarbled = true;
    if (this.#tcp.writable) this.#tcp.write(bytes);
  }

  stopReading(): void {
    this.#tcp.pause();
  }

  close(): void {
    this.#tcp.resume();
    this.#socket.close();
  }

  /** The connection ends with a reset, as when a client's machine has gone. */
  reset(): void {
    this.#tcp.resetAndDestroy();
  }

  #notice(timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#notices.delete(done);
        resolve();
      };
      const timer = setTimeout(done, timeoutMs);
      this.#notices.add(done);
    });
  }

  #tell(): void {
    for (const notice of this.#notices) notice();
  }
}
