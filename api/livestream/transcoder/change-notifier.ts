import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * Where the media server notifies that a broadcaster has left: any request to loopback. The request carries no trusted
 * data; the transcoder asks the media server who publishes.
 */
export class ChangeNotifier {
  readonly #server: Server;

  /** Rejects when the port cannot be had. */
  static async open(port: number, onRing: () => void): Promise<ChangeNotifier> {
    const bell = new ChangeNotifier(onRing);
    bell.#server.listen({ port, host: "127.0.0.1" });
    await once(bell.#server, "listening");
    return bell;
  }

  private constructor(onRing: () => void) {
    this.#server = createServer((request, response) => {
      request.resume();
      onRing();
      response.writeHead(204, { connection: "close" }).end();
    });
    this.#server.maxConnections = 64;
    this.#server.requestTimeout = 5_000;
    this.#server.headersTimeout = 5_000;
  }

  get port(): number {
    const address: AddressInfo | string | null = this.#server.address();
    return address === null || typeof address === "string" ? 0 : address.port;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
