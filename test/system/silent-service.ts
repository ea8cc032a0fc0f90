import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Changes } from "../doubles/changes.js";

/** A service of one organization that takes requests at every address of 127.0.0.0/8, each an origin, and answers none of them. */
export class SilentService {
  /** Changes of the requests that wait. */
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

  /** Requests that wait for an answer. */
  get waitingCount(): number {
    return this.#waiting;
  }

  get originCount(): number {
    return this.#hosts.size;
  }

  /** The origin of this number. */
  origin(index: number): string {
    const { port } = this.#server.address() as AddressInfo;
    return `http://127.1.${Math.floor(index / 250)}.${1 + (index % 250)}:${port}`;
  }

  waiting(count: number): Promise<true> {
    return this.changes.until(`${count} requests that wait, of ${this.#waiting}`, () =>
      this.#waiting >= count ? true : undefined,
    );
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
