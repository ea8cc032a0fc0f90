import { once } from "node:events";
import { createServer, type Server } from "node:http";
import {
  connect,
  createServer as createTcpServer,
  type Socket,
  type Server as TcpServer,
} from "node:net";
import { Exchange } from "../../engine/sandbox/exchange.js";
import type { Simulator } from "../../engine/sandbox/simulator.js";

/** The public address of a server, which is known before the server's port. */
export class PublicEntrance {
  readonly #sockets = new Set<Socket>();
  #serverPort = 0;
  readonly #entrance = createTcpServer((near) => {
    const far = connect(this.#serverPort, "127.0.0.1");
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(one);
      one.on("error", () => other.destroy());
      one.on("close", () => other.destroy());
      one.pipe(other);
    }
  });

  static async open(): Promise<PublicEntrance> {
    const entrance = new PublicEntrance();
    entrance.#entrance.listen(0, "127.0.0.1");
    await once(entrance.#entrance, "listening");
    return entrance;
  }

  get url(): string {
    return addressOf(this.#entrance);
  }

  /** Cuts the connections to an earlier server, which clients would use again. */
  leadTo(serverPort: number): void {
    this.#serverPort = serverPort;
    for (const socket of this.#sockets) socket.destroy();
    this.#sockets.clear();
  }

  close(): void {
    this.#entrance.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}

/** The REST API of one simulated vendor, at an address of its own. */
export class SimulatedVendor {
  readonly #api: Server;

  static async start(simulator: Pick<Simulator, "handleRequest">): Promise<SimulatedVendor> {
    const vendor = new SimulatedVendor(simulator);
    vendor.#api.listen(0, "127.0.0.1");
    await once(vendor.#api, "listening");
    return vendor;
  }

  private constructor(simulator: Pick<Simulator, "handleRequest">) {
    this.#api = createServer((request, response) => {
      const url = new URL(request.url ?? "/", "http://vendor");
      void simulator.handleRequest?.(new Exchange(request, response, url));
    });
  }

  get url(): string {
    return addressOf(this.#api);
  }

  close(): void {
    this.#api.close();
    this.#api.closeAllConnections();
  }
}

function addressOf(server: Server | TcpServer): string {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("not listening");
  return `http://127.0.0.1:${address.port}`;
}
