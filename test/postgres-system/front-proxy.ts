import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import type { TestContext } from "node:test";

/** Stands before the servers as a load balancer does: each connection goes to whichever is the next in turn. */
export class FrontProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #ports: readonly number[] = [];
  #count = 0;

  static async start(context: TestContext): Promise<FrontProxy> {
    const proxy = new FrontProxy();
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    context.after(() => {
      for (const socket of proxy.#sockets) socket.destroy();
      proxy.#server.close();
    });
    return proxy;
  }

  private constructor() {
    this.#server = createServer((client) => {
      const port = this.#ports[this.#count % this.#ports.length] ?? 0;
      this.#count += 1;
      const server = connect(port, "127.0.0.1");
      for (const socket of [client, server]) {
        this.#sockets.add(socket);
        socket.on("error", () => socket.destroy());
        socket.on("close", () => this.#sockets.delete(socket));
      }
      client.pipe(server);
      server.pipe(client);
      client.on("close", () => server.destroy());
      server.on("close", () => client.destroy());
    });
  }

  get url(): string {
    const address = this.#server.address();
    return `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
  }

  /** From now on, connections go to these. */
  leadTo(...urls: readonly string[]): void {
    this.#ports = urls.map((url) => Number(new URL(url).port));
  }
}
