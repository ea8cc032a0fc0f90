import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Changes } from "../doubles/changes.js";

/**
 * A service of one organization that accepts requests at every address of 127.0.0.0/8, each of which is an origin, and
 * responds to none.
 */
export class SilentService {
  /** Notifies of changes in the number of waiting requests. */
  readonly changes = new Changes();
  readonly #server: Server;
  readonly #hosts = new Set<string>();
  #waiting = 0;

  static async start(): Promise<SilentService> {
    const service = new SilentService();
    await new Promise<void>((resolve) => service.#server.listen(0, "0.0.0.0", resolve));
    return service;
  }

  private constructor() {
    this.#server = createServer((request, response) => {
      this.#hosts.add(request.headers.host ?? "");
      this.#waiting += 1;
      response.once("close", () => {
        this.#waiting -= 1;
        this.changes.tell();
      });
      this.changes.tell();
    });
  }

  /** The number of requests that wait for a response. */
  get waitingCount(): number {
    return this.#waiting;
  }

  get originCount(): number {
    return this.#hosts.size;
  }

  /** Returns the origin with this number. */
  origin(index: number): string {
    const { port } = this.#server.address() as AddressInfo;
    return `http://127.1.${Math.floor(index / 250)}.${1 + (index % 250)}:${port}`;
  }

  waiting(count: number): Promise<true> {
    return this.changes.until(`${count} waiting requests; there are ${this.#waiting}`, () =>
      this.#waiting >= count ? true : undefined,
    );
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
