import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * Where the media server reports that a broadcaster has left: any request to loopback. The request carries no
 * trusted data; the transcoder asks the media server for the current broadcasters.
 */
export class ChangeNotifier {
  readonly #server: Server;

  /** Rejects if the port is unavailable. */
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
