import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import { Changes } from "../doubles/changes.js";
import { McpStand } from "../engine/tools/mcp-stand.js";

const BOOKED = "Your table is booked.";

/** A service that books tables by HTTP and by MCP, and responds when it is told to. */
export class HeldService {
  readonly #changes = new Changes();
  readonly #http: Server;
  readonly #mcp = new McpStand();
  #held: (() => void)[] = [];
  readonly #httpKeys: string[] = [];

  static async for(context: TestContext): Promise<HeldService> {
    const service = new HeldService();
    await new Promise<void>((resolve) => service.#http.listen(0, "127.0.0.1", resolve));
    await service.#mcp.start();
    context.after(() => service.#close());
    return service;
  }

  private constructor() {
    this.#http = createServer((request, response) => {
      this.#httpKeys.push(String(request.headers["idempotency-key"]));
      this.#hold(() => response.setHeader("content-type", "text/plain").end(BOOKED));
    });
    const inputSchema = {
      type: "object",
      properties: { guests: { type: "integer" } },
      required: ["guests"],
    };
    const run = () =>
      new Promise<object>((resolve) => this.#hold(() => resolve({ result: BOOKED })));
    this.#mcp.tools = [{ name: "order_table", description: "Books a table.", inputSchema, run }];
  }

  get url(): string {
    const { port } = this.#http.address() as AddressInfo;
    return `http://127.0.0.1:${port}/`;
  }

  get mcpUrl(): string {
    return this.#mcp.url;
  }

  /** The keys of the first requests to book a table, as soon as this many have come. */
  keys(count: number): Promise<readonly string[]> {
    return this.#changes.until(`${count} requests`, () => {
      const calls = this.#mcp.seen.filter(({ rpcMethod }) => rpcMethod === "tools/call");
      const keys = [
        ...this.#httpKeys,
        ...calls.map(({ headers }) => String(headers["idempotency-key"])),
      ];
      return keys.length >= count && keys;
    });
  }

  /** Responds to all that wait. */
  release(): void {
    const held = this.#held;
    this.#held = [];
    for (const respond of held) respond();
  }

  #hold(respond: () => void): void {
    this.#held.push(respond);
    this.#changes.tell();
  }

  async #close(): Promise<void> {
    this.release();
    this.#http.closeAllConnections();
    this.#http.close();
    await this.#mcp.close();
  }
}
