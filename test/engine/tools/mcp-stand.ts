import {
  createServer,
  type Server as HttpServer,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import { createMcpHandler, fromJsonSchema, McpServer } from "@modelcontextprotocol/server";
import { isJsonObject, type JsonObject } from "../../../storage/records.js";
import type { McpServer as AgentMcpServer } from "../../../storage/tenancy/mcp-server.js";

export interface McpStandTool {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema?: JsonObject;
  readonly run: (given: JsonObject) => object | Promise<object>;
}

export interface SeenMcpRequest {
  readonly rpcMethod: string;
  readonly headers: IncomingMessage["headers"];
}

/** An MCP server made of the official package. */
export class McpStand {
  readonly seen: SeenMcpRequest[] = [];
  tools: readonly McpStandTool[] = [];
  /** Speaks only the revisions with a handshake, as older servers do. */
  isLegacy = false;
  /** The answer to each request; undefined: it works. */
  status: number | undefined;
  /** Requests without it are refused. */
  bearer: string | undefined;
  readonly #handler = createMcpHandler(() => this.#server());
  readonly #http: HttpServer;

  constructor() {
    this.#http = createServer((request, response) => void this.#answer(request, response));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk));
    const body = Buffer.concat(chunks).toString();
    const rpcMethod = methodOf(body);
    this.seen.push({ rpcMethod, headers: request.headers });
    if (this.status !== undefined) {
      response.writeHead(this.status).end();
      return;
    }
    if (this.bearer !== undefined && request.headers.authorization !== `Bearer ${this.bearer}`) {
      response.writeHead(401).end();
      return;
    }
    if (this.isLegacy && rpcMethod === "server/discover") {
      response.writeHead(400).end("Bad Request");
      return;
    }
    const headers = Object.entries(request.headers).flatMap(([name, value]) =>
      typeof value === "string" ? [[name, value] as [string, string]] : [],
    );
    const answer = await this.#handler.fetch(
      new Request(`${this.url}${request.url}`, { method: "POST", headers, body }),
    );
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    response.end(Buffer.from(await answer.arrayBuffer()));
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#http.listen(0, "127.0.0.1", resolve);
    });
  }

  get url(): string {
    const address = this.#http.address();
    if (address === null || typeof address === "string") throw new Error("not started");
    return `http://127.0.0.1:${address.port}`;
  }

  /** What was asked since the last call of this. */
  takeSeen(): readonly string[] {
    return this.seen.splice(0).map(({ rpcMethod }) => rpcMethod);
  }

  async close(): Promise<void> {
    this.#http.closeAllConnections();
    await new Promise((resolve) => {
      this.#http.close(resolve);
    });
  }

  #server(): McpServer {
    const server = new McpServer({ name: "stand", version: "1" });
    for (const { name, description = "", inputSchema = { type: "object" }, run } of this.tools) {
      const schema = fromJsonSchema<JsonObject>(inputSchema);
      server.registerTool(name, { description, inputSchema: schema }, async (given) => {
        const result = await run(given);
        return { content: [{ type: "text", text: JSON.stringify(result) }] };
      });
    }
    return server;
  }
}

function methodOf(body: string): string {
  const message: unknown = body === "" ? undefined : JSON.parse(body);
  return isJsonObject(message) ? String(message["method"]) : "";
}

export function mcpServer(url: string, more: Partial<AgentMcpServer> = {}): AgentMcpServer {
  return {
    name: "crm",
    url,
    auth: { type: "none" },
    headerNames: [],
    allowedTools: null,
    timeoutMs: 2_000,
    ...more,
  };
}
