import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import type { TestContext } from "node:test";

/** What happens to the next `commit` on its way: the answer is lost, or the commit itself. */
type Cut = "answer" | "commit";

/** Stands before a database and breaks one connection while it commits. */
export class CuttingProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #cut: Cut | undefined;

  static async start(context: TestContext, url: string): Promise<CuttingProxy> {
    const { port } = new URL(url);
    const proxy = new CuttingProxy(Number(port));
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    context.after(() => {
      for (const socket of proxy.#sockets) socket.destroy();
      proxy.#server.close();
    });
    return proxy;
  }

  private constructor(port: number) {
    this.#server = createServer((client) => {
      const server = connect(port, "127.0.0.1");
      for (const socket of [client, server]) {
        this.#sockets.add(socket);
        socket.on("error", () => socket.destroy());
      }
      client.on("data", (bytes) => this.#pass(bytes, client, server));
      server.on("data", (bytes) => {
        if (!client.destroyed) client.write(bytes);
      });
      client.on("close", () => server.end());
      server.on("close", () => client.end());
    });
  }

  /** The same database, through here. */
  urlOf(url: string): string {
    const address = this.#server.address();
    const through = new URL(url);
    through.port = String(typeof address === "object" ? address?.port : 0);
    return through.href;
  }

  cutNextCommit(cut: Cut): void {
    this.#cut = cut;
  }

  #pass(bytes: Buffer, client: Socket, server: Socket): void {
    const cut = bytes.includes("commit\0") ? this.#cut : undefined;
    if (cut !== undefined) {
      this.#cut = undefined;
      client.destroy();
    }
    if (cut !== "commit") server.write(bytes);
  }
}
