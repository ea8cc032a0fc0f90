import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import type { TestContext } from "node:test";

/** What is lost of a statement on its way: its answer, or the statement itself. */
type Cut = "answer" | "statement";

/** How a commit looks on its way. */
export const COMMIT = "commit\0";

/** Stands before a database and breaks one connection, at a statement that a test names. */
export class CuttingProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #next: { readonly text: string; readonly cut: Cut | (() => void) } | undefined;

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

  /** The next message with this text in it. */
  cutNext(text: string, cut: Cut): void {
    this.#next = { text, cut };
  }

  /** Resolves when the next message with this text has come: it is kept here, and the connection stays. */
  holdNext(text: string): Promise<void> {
    return new Promise((resolve) => {
      this.#next = { text, cut: resolve };
    });
  }

  #pass(bytes: Buffer, client: Socket, server: Socket): void {
    const next = this.#next;
    const cut = next !== undefined && bytes.includes(next.text) ? next.cut : undefined;
    if (cut !== undefined) this.#next = undefined;
    if (typeof cut === "function") {
      cut();
      return;
    }
    if (cut !== undefined) client.destroy();
    if (cut !== "statement") server.write(bytes);
  }
}
